// An ordered map that knows the sums of its ranges: a B+-tree whose inner nodes keep the total of
// every child.
//
// Ranges are described by predicates on keys that hold on a prefix of the order, so one tree serves
// <, <=, and comparisons with expressions of the key. Besides its total, an inner node keeps the
// first entry of every child: a search sees real entries only, and need not look ahead.
//
//   struct Key {  // generated
//     bool less(Arena&, const Key&) const;  // the arena has the texts that symbols stand for
//     bool is(const Key&) const;
//     static constexpr bool plain;  // whether `less` compares numbers, without branches
//   };
//   struct Val {  // generated; zeroed memory is zero
//     void add(const Val&);
//     bool empty() const;           // zero
//     static constexpr bool exact;  // false when it holds doubles; then also:
//     Val operator-() const;
//     bool is_near() const;  // nothing that it was added to is lost when it is taken away again
//   };
#pragma once

#include "arena.hpp"

namespace fr {

template <class Key, class Val> struct Ordered {
  // Zeroed memory needs no `init`.
  void init(Arena&) { *this = Ordered{}; }

  u64 size() const { return count; }
  u64 bytes() const { return held; }

  // Adds to the value of a key; an entry whose value becomes zero is gone. Inexact values are not
  // added to but replaced: `delta` is then the new value, so that a sum of doubles is the same
  // here as in the record that it follows. The totals above it gain the difference.
  void add(Arena& arena, const Key& key, const Val& delta) {
    if (delta.empty() && (Val::exact || !root)) return;
    Step path[max_height];
    u64 place = root;
    for (u32 level = height; level > 0; --level) {
      Inner& inner = *arena.at<Inner>(place);
      path[level] = Step{place, inner.child_of(arena, key)};
      place = inner.child[path[level].i];
    }
    Val by = delta;
    Change change = root ? add_to_leaf(arena, place, key, delta, by) : plant(arena, key, delta);
    for (u32 level = 1; level <= height; ++level)
      change = pass_up(arena, path[level], level, change, by);
    if (change.sibling) raise(arena, change.sibling);
    if (change.shrunk) lower(arena);
  }

  // Adds to `sum` the values of the keys where `before` does not hold any more and `upto` still does.
  // Parts are added, never subtracted, so sums of doubles keep their precision.
  //
  //   struct Total {  // generated: the parts of values that are wanted
  //     void add(const Val&);
  //     bool is_near() const;      // whether that was enough; else all are added again, with
  //     void add_far(const Val&);  // numbers of any size
  //   };
  template <class P1, class P2, class Total>
  void sum_between(Arena& arena, P1 before, P2 upto, Total& sum) const {
    if (root) sum_into(arena, root, height, before, upto, false, false, sum);
  }

  // The first entry of those where a condition does not hold that holds on a prefix of the order, by
  // the sums of the entries behind each, or before it, with its `own` or without; false where there
  // is none. Every level is gone through once, from that end of it.
  template <bool behind, bool own, class Total, class P>
  bool turn(Arena& arena, P holds, Key& key) const {
    if (root == 0) return false;
    Total sum{};
    bool exists = false;
    u64 place = root;
    for (u32 level = height; level > 0; --level) {
      const Inner& inner = *arena.at<Inner>(place);
      u32 i = behind ? inner.count - 1 : 0;
      for (; behind ? i > 0 : i + 1 < inner.count; behind ? --i : ++i) {
        const Total next = with(sum, inner.sum[i]);
        if (holds(next) == behind) break;
        sum = next;
      }
      if (i + 1 < inner.count) exists = true, key = inner.key[i + 1];
      place = inner.child[i];
    }
    const Leaf& leaf = *arena.at<Leaf>(place);
    for (u32 n = 0; n < leaf.count; ++n) {
      const u32 i = behind ? leaf.count - 1 - n : n;
      const Total next = with(sum, leaf.val[i]);
      const bool held = holds(own ? next : sum);
      if (behind && held) return exists;
      if (behind || !held) exists = true, key = leaf.key[i];
      if (!behind && !held) return true;
      sum = next;
    }
    return exists;
  }

  // The first entry where `before` does not hold.
  template <class P> bool first(Arena& arena, P before, Key& key, Val& val) const {
    bool exists = false;
    u64 place = root;
    for (u32 level = height; level > 0; --level) {
      const Inner& inner = *arena.at<Inner>(place);
      u32 i = prefix(inner.key, 0, inner.count, before);
      if (i < inner.count) exists = true, key = inner.key[i], val = inner.lead[i];
      if (i == 0) return exists;
      place = inner.child[i - 1];
    }
    if (root == 0) return false;
    const Leaf& leaf = *arena.at<Leaf>(place);
    u32 i = prefix(leaf.key, 0, leaf.count, before);
    if (i < leaf.count) exists = true, key = leaf.key[i], val = leaf.val[i];
    return exists;
  }

  // f(const Key&, const Val&) in order (`each_back`: in reverse) for the entries where `before`
  // does not hold and `upto` does, until f returns false; f does not change the map.
  template <class P1, class P2, class F>
  void each(Arena& arena, P1 before, P2 upto, F&& f) const {
    if (root) walk(arena, root, height, before, upto, false, f);
  }

  template <class P1, class P2, class F>
  void each_back(Arena& arena, P1 before, P2 upto, F&& f) const {
    if (root) walk_back(arena, root, height, before, upto, false, f);
  }

  void clear(Arena& arena) {
    if (root) give_all(arena, root, height);
    *this = Ordered{};
  }

  // The map of sorted entries, whatever it was before: each has a key and a value that is not zero.
  // Nodes are filled but for an eighth, so that the next keys find room.
  template <class Entry>
  void build(Arena& arena, Arena& scratch, const Entry* sorted, u64 size) {
    clear(arena);
    if (size == 0) return;
    u64 nodes = 0, list = scratch.take((size / leaf_full + 1) * sizeof(u64));
    u64* places = scratch.at<u64>(list);
    for (u64 i = 0; i < size; i += leaf_full) {
      places[nodes] = take<Leaf>(arena);
      Leaf& leaf = *arena.at<Leaf>(places[nodes++]);
      for (; leaf.count < leaf_full && i + leaf.count < size; ++leaf.count) {
        leaf.key[leaf.count] = sorted[i + leaf.count].key;
        leaf.val[leaf.count] = sorted[i + leaf.count].val;
      }
    }
    for (; nodes > 1; ++height) {
      u64 parents = 0;
      for (u64 i = 0; i < nodes; i += inner_full) {
        u64 place = take<Inner>(arena);
        Inner& inner = *arena.at<Inner>(place);
        for (; inner.count < inner_full && i + inner.count < nodes; ++inner.count) {
          inner.child[inner.count] = places[i + inner.count];
          note(arena, inner, inner.count, height);
        }
        places[parents++] = place;
      }
      nodes = parents;
    }
    root = places[0];
    count = size;
  }

 private:
  static constexpr u32 leaf_room = 32, inner_room = 16, leaf_full = 28, inner_full = 14;
  static constexpr u32 max_height = 40;  // far above what 2^64 entries need

  // How many of n keys come before the place of a key: where that is cannot be foreseen. Of the last
  // few numbers all are compared: the memory of none of them waits for another one.
  template <class F> static u32 preceding(const Key* key, u32 n, F comes_before) {
    constexpr u32 few = Key::plain ? 4 : 1;
    if (Key::plain)
      for (u32 j = 0; j < n; j += 64 / sizeof(Key)) fetch(key + j);
    u32 i = 0;
    for (; n > few; n -= n / 2) i = comes_before(key[i + n / 2 - 1]) ? i + n / 2 : i;
    u32 before = i;
    for (u32 j = 0; j < n; ++j) before += comes_before(key[i + j]);
    return before;
  }

  template <class T> static void move(T* items, u32 to, u32 from, u32 n) {
    memmove(static_cast<void*>(items + to), items + from, n * sizeof(T));
  }

  struct Leaf {
    static constexpr u32 room = leaf_room;
    u32 count;
    Key key[room];
    Val val[room];

    void open_gap(u32 i) { shift(i + 1, i, count++ - i); }
    void close_gap(u32 i) { shift(i, i + 1, --count - i); }
    void shift(u32 to, u32 from, u32 n) {
      move(key, to, from, n);
      move(val, to, from, n);
    }
    void copy(u32 to, const Leaf& other, u32 from) {
      key[to] = other.key[from];
      val[to] = other.val[from];
    }
    const Val& lead_of(u32 i) const { return val[i]; }
    Val total() const { return sum_of(val, count); }
  };

  struct Inner {
    static constexpr u32 room = inner_room;
    u32 count;
    Key key[room];   // the first entry of each child: its key
    Val lead[room];  // and its value
    Val sum[room];
    u64 child[room];

    u32 child_of(Arena& arena, const Key& wanted) const {
      return preceding(key + 1, count - 1, [&](const Key& k) { return !wanted.less(arena, k); });
    }
    void open_gap(u32 i) { shift(i + 1, i, count++ - i); }
    void close_gap(u32 i) { shift(i, i + 1, --count - i); }
    void shift(u32 to, u32 from, u32 n) {
      move(key, to, from, n);
      move(lead, to, from, n);
      move(sum, to, from, n);
      move(child, to, from, n);
    }
    void copy(u32 to, const Inner& other, u32 from) {
      key[to] = other.key[from];
      lead[to] = other.lead[from];
      sum[to] = other.sum[from];
      child[to] = other.child[from];
    }
    const Val& lead_of(u32 i) const { return lead[i]; }
    Val total() const { return sum_of(sum, count); }
  };

  struct Step {
    u64 place;
    u32 i;
  };

  // What happened to a node, for its parent to act on.
  struct Change {
    u64 sibling;  // a new node to the right of it, or 0
    bool shrunk;
  };

  u64 root, count, held;
  u32 height;  // levels of inner nodes

  static bool is_near(const Val& x) {
    if constexpr (Val::exact) return true;
    else return x.is_near();
  }

  static Val sum_of(const Val* vals, u32 n) {
    Val sum{};
    for (u32 i = 0; i < n; ++i) sum.add(vals[i]);
    return sum;
  }

  template <class Node> u64 take(Arena& arena) {
    held += sizeof(Node);
    return arena.take(sizeof(Node));
  }

  template <class Node> void give(Arena& arena, u64 place) {
    held -= sizeof(Node);
    arena.give(place, sizeof(Node));
  }

  Change plant(Arena& arena, const Key& key, const Val& val) {
    root = take<Leaf>(arena);
    Leaf& leaf = *arena.at<Leaf>(root);
    leaf.key[0] = key;
    leaf.val[0] = val;
    count = leaf.count = 1;
    return Change{};
  }

  // `by` becomes what the totals gain.
  Change add_to_leaf(Arena& arena, u64 place, const Key& key, const Val& delta, Val& by) {
    Leaf* leaf = arena.at<Leaf>(place);
    u32 i = preceding(leaf->key, leaf->count, [&](const Key& k) { return k.less(arena, key); });
    if (i < leaf->count && leaf->key[i].is(key)) {
      if constexpr (Val::exact) {
        leaf->val[i].add(delta);
      } else {
        by.add(-leaf->val[i]);
        leaf->val[i] = delta;
      }
      if (!leaf->val[i].empty()) return Change{};
      leaf->close_gap(i);
      --count;
      return Change{0, true};
    }
    if (delta.empty()) return Change{};
    u64 sibling = make_gap(arena, leaf, i);
    leaf->key[i] = key;
    leaf->val[i] = delta;
    ++count;
    return Change{sibling, false};
  }

  // Opens a gap at i, after a split when the node is full: then `node` and `i` may change to the
  // new sibling. Appending splits off nothing but the new entry, so that ascending keys, as time
  // brings them, fill their nodes.
  template <class Node> u64 make_gap(Arena& arena, Node*& node, u32& i) {
    u64 sibling = 0;
    if (node->count == Node::room) {
      sibling = take<Node>(arena);
      Node* right = arena.at<Node>(sibling);
      u32 half = i == Node::room ? Node::room : Node::room / 2;
      for (u32 j = half; j < Node::room; ++j) right->copy(right->count++, *node, j);
      node->count = half;
      if (i > half || half == Node::room) {
        node = right;
        i -= half;
      }
    }
    node->open_gap(i);
    return sibling;
  }

  // The child of this step changed: its total and first entry are noted, its new sibling taken
  // in, or, if it shrank, it is joined with a neighbour.
  Change pass_up(Arena& arena, Step step, u32 level, Change change, const Val& by) {
    Inner* inner = arena.at<Inner>(step.place);
    if (change.shrunk && join(arena, *inner, step.i, level - 1)) return Change{0, true};
    if (!change.sibling) {
      note_first(arena, *inner, step.i, level - 1);
      Val& sum = inner->sum[step.i];
      const bool was_near = is_near(sum);
      sum.add(by);
      // What a number far beyond the others covers is lost: then the child is added up anew.
      if (__builtin_expect(!(was_near & is_near(sum)), 0)) note(arena, *inner, step.i, level - 1);
      return Change{};
    }
    note(arena, *inner, step.i, level - 1);
    u32 i = step.i + 1;
    u64 sibling = make_gap(arena, inner, i);
    inner->child[i] = change.sibling;
    note(arena, *inner, i, level - 1);
    return Change{sibling, false};
  }

  // Whether child i was empty, or had a neighbour with which it fits in half a node.
  bool join(Arena& arena, Inner& inner, u32 i, u32 level) {
    return level == 0 ? join<Leaf>(arena, inner, i, level) : join<Inner>(arena, inner, i, level);
  }

  template <class Node> bool join(Arena& arena, Inner& inner, u32 i, u32 level) {
    u32 own = arena.at<Node>(inner.child[i])->count;
    if (own > Node::room / 2) return false;
    auto fits = [&](u32 j) {
      return own + arena.at<Node>(inner.child[j])->count <= Node::room / 2;
    };
    u32 left = own > 0 && i > 0 && fits(i - 1) ? i - 1 : i;
    if (own > 0 && left == i && !(i + 1 < inner.count && fits(i + 1))) return false;
    u32 gone = own > 0 ? left + 1 : i;
    if (own > 0) {
      Node& to = *arena.at<Node>(inner.child[left]);
      const Node& from = *arena.at<Node>(inner.child[gone]);
      for (u32 j = 0; j < from.count; ++j) to.copy(to.count++, from, j);
    }
    give<Node>(arena, inner.child[gone]);
    inner.close_gap(gone);
    if (own > 0) note(arena, inner, left, level);
    return true;
  }

  // A new root above the old one and its sibling.
  void raise(Arena& arena, u64 sibling) {
    if (height + 1 == max_height) fail("freshview: an ordered map is too high.\n");
    u64 place = take<Inner>(arena);
    Inner& top = *arena.at<Inner>(place);
    top.count = 2;
    top.child[0] = root;
    top.child[1] = sibling;
    note(arena, top, 0, height);
    note(arena, top, 1, height);
    root = place;
    ++height;
  }

  // A root with one child is not needed, nor one with none.
  void lower(Arena& arena) {
    if (count == 0) return clear(arena);
    while (height > 0 && arena.at<Inner>(root)->count == 1) {
      u64 child = arena.at<Inner>(root)->child[0];
      give<Inner>(arena, root);
      root = child;
      --height;
    }
  }

  void note(Arena& arena, Inner& inner, u32 i, u32 level) {
    note_first(arena, inner, i, level);
    inner.sum[i] = total_of(arena, inner.child[i], level);
  }

  void note_first(Arena& arena, Inner& inner, u32 i, u32 level) {
    auto copy = [&](const auto& child) {
      inner.key[i] = child.key[0];
      inner.lead[i] = child.lead_of(0);
    };
    level == 0 ? copy(*arena.at<Leaf>(inner.child[i])) : copy(*arena.at<Inner>(inner.child[i]));
  }

  Val total_of(Arena& arena, u64 place, u32 level) const {
    return level == 0 ? arena.at<Leaf>(place)->total() : arena.at<Inner>(place)->total();
  }

  void give_all(Arena& arena, u64 place, u32 level) {
    if (level == 0) return give<Leaf>(arena, place);
    const Inner& inner = *arena.at<Inner>(place);
    for (u32 i = 0; i < inner.count; ++i) give_all(arena, inner.child[i], level - 1);
    give<Inner>(arena, place);
  }

  // How many of the keys from `i` on, up to `n`, lead with `holds`: it holds on a prefix of them.
  // By halving: a predicate may be a search of its own.
  template <class P> static u32 prefix(const Key* key, u32 i, u32 n, P& holds) {
    while (i < n) {
      u32 middle = i + (n - i) / 2;
      if (holds(key[middle])) i = middle + 1;
      else n = middle;
    }
    return i;
  }

  // `begun`: no key of this node is `before`; `open`: all of them are `upto`.
  template <class P1, class P2, class Total>
  void sum_into(Arena& arena, u64 place, u32 level, P1& before, P2& upto, bool begun, bool open,
                Total& sum) const {
    if (level == 0) {
      const Leaf& leaf = *arena.at<Leaf>(place);
      u32 from = begun ? 0 : prefix(leaf.key, 0, leaf.count, before);
      u32 to = open ? leaf.count : prefix(leaf.key, from, leaf.count, upto);
      return add_all(leaf.val, from, to, sum);
    }
    const Inner& inner = *arena.at<Inner>(place);
    u32 first = begun ? 0 : prefix(inner.key, 0, inner.count, before);
    u32 from = first ? first - 1 : 0;  // the child whose keys stop to be `before`
    u32 to = open ? inner.count : prefix(inner.key, from, inner.count, upto);
    if (from == to) return;
    u32 whole = open ? to : to - 1;  // from there on, not all keys of a child are `upto`
    if (from < first) {
      sum_into(arena, inner.child[from], level - 1, before, upto, false, from < whole, sum);
      if (++from > whole) return;
    }
    add_all(inner.sum, from, whole, sum);
    if (whole < to)
      sum_into(arena, inner.child[whole], level - 1, before, upto, true, false, sum);
  }

  template <class Total> static Total with(const Total& sum, const Val& val) {
    Total all = sum;
    all.add(val);
    if (__builtin_expect(!all.is_near(), 0)) {
      all = sum;
      all.add_far(val);
    }
    return all;
  }

  // In a local: what is added cannot be a part of it then, and it stays in registers.
  template <class Total> static void add_all(const Val* vals, u32 from, u32 to, Total& sum) {
    Total all = sum;
    for (u32 i = from; i < to; ++i) all.add(vals[i]);
    if (__builtin_expect(!all.is_near(), 0)) {
      all = sum;
      for (u32 i = from; i < to; ++i) all.add_far(vals[i]);
    }
    sum = all;
  }

  // False when f asked to stop, or nothing further lies in the range. `begun`: no key of this
  // node is `before`; going back, all of them are `upto`.
  template <class P1, class P2, class F>
  bool walk(Arena& arena, u64 place, u32 level, P1& before, P2& upto, bool begun, F& f) const {
    if (level == 0) {
      const Leaf& leaf = *arena.at<Leaf>(place);
      for (u32 i = begun ? 0 : prefix(leaf.key, 0, leaf.count, before); i < leaf.count; ++i)
        if (!upto(leaf.key[i]) || !f(leaf.key[i], leaf.val[i])) return false;
      return true;
    }
    const Inner& inner = *arena.at<Inner>(place);
    u32 first = begun ? 0 : prefix(inner.key, 0, inner.count, before);
    for (u32 i = first ? first - 1 : 0; i < inner.count; ++i)
      if (!walk(arena, inner.child[i], level - 1, before, upto, i >= first, f)) return false;
    return true;
  }

  template <class P1, class P2, class F>
  bool walk_back(Arena& arena, u64 place, u32 level, P1& before, P2& upto, bool begun,
                 F& f) const {
    if (level == 0) {
      const Leaf& leaf = *arena.at<Leaf>(place);
      for (u32 i = begun ? leaf.count : prefix(leaf.key, 0, leaf.count, upto); i-- > 0;)
        if (before(leaf.key[i]) || !f(leaf.key[i], leaf.val[i])) return false;
      return true;
    }
    const Inner& inner = *arena.at<Inner>(place);
    u32 end = begun ? inner.count : prefix(inner.key, 0, inner.count, upto);
    for (u32 i = end; i-- > 0;)
      if (!walk_back(arena, inner.child[i], level - 1, before, upto, begun || i + 1 < end, f))
        return false;
    return true;
  }
};

}  // namespace fr
