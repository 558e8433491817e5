// An ordered index of a join: slots in the order of a column's values, as a B+-tree.
//
// Entries are pairs of a value and a slot, so that equal values are told apart and any entry is found
// in O(log n). Nothing is ever rebuilt or merged: an entry costs the same whatever is stored, and a
// leaf that is empty goes back to the arena at once.
#pragma once

#include "../arena.hpp"

namespace fr {
namespace theta {

template <class K> struct SortedSlots {
  static constexpr u32 MOST = 60;  // entries of a node: a leaf takes 768 bytes
  static constexpr u32 ROOM = 64;  // a search may look at values behind the last one

  struct Leaf {
    u32 count, next, before, unused;  // leaves are linked, by their places in units of 64 bytes
    K key[ROOM];
    u32 slot[MOST];
  };

  // Child i has the entries from (key[i], slot[i]) on; what stands at 0 is not looked at.
  struct Inner {
    u32 count, unused;
    K key[ROOM];
    u32 slot[MOST];
    u32 child[MOST];
  };

  u32 root, height;  // height 0: the root is a leaf; root 0: there is nothing
  u64 count, held;

  // The leaf where the entries begin that `before` does not hold for; 0 if there is none at all.
  template <class P> u32 leaf_of(const Arena& arena, P before) const {
    u32 at = root;
    for (u32 level = height; level > 0; level--) {
      const Inner& inner = node<Inner>(arena, at);
      at = inner.child[first_after(inner.key, 1, inner.count, before) - 1];
    }
    return at;
  }

  // Starts to fetch the values of a leaf, which a search looks at, or all of it, for a new entry.
  void fetch_leaf(const Arena& arena, u32 leaf, bool is_whole) const {
    const u8* at = arena.at<u8>(u64(leaf) * 64);
    const u32 end = is_whole ? sizeof(Leaf) : offsetof(Leaf, slot);
    for (u32 line = 0; line < end; line += 64) fetch(at + line);
  }

  // f(slot) for the entries from a leaf on that `before` does not hold for, and `upto` still does.
  template <class P1, class P2, class F>
  void each(const Arena& arena, u32 leaf, P1 before, P2 upto, F&& f) const {
    bool is_first = true;
    for (; leaf; leaf = node<Leaf>(arena, leaf).next, is_first = false) {
      const Leaf& here = node<Leaf>(arena, leaf);
      u32 i = 0;
      if (is_first || (here.count && before(here.key[0]))) i = first_after(here.key, 0, here.count, before);
      for (; i < here.count; i++) {
        if (!upto(here.key[i])) return;
        f(here.slot[i]);
      }
    }
  }

  // Enters a slot; `guess` is where `leaf_of` found the values that are not less, or 0.
  void add(Arena& arena, K key, u32 slot, u32 guess = 0) {
    count++;
    if (guess) {
      Leaf& leaf = node<Leaf>(arena, guess);
      const u32 i = place(leaf.key, leaf.slot, 0, leaf.count, key, slot);
      // Behind the last entry may be the leaf's end or the next one's beginning.
      if (i < leaf.count && leaf.count < MOST) return put(leaf, i, key, slot);
    }
    if (!root) {
      root = take<Leaf>(arena);
      Leaf& leaf = node<Leaf>(arena, root);
      leaf.count = 1, leaf.key[0] = key, leaf.slot[0] = slot;
      return;
    }
    Step path[MOST_LEVELS];
    u32 at = descend(arena, key, slot, path);
    Leaf& leaf = node<Leaf>(arena, at);
    const u32 i = place(leaf.key, leaf.slot, 0, leaf.count, key, slot);
    if (leaf.count < MOST) return put(leaf, i, key, slot);
    split(arena, at, i, key, slot, path);
  }

  // Takes an entry out, if it is there.
  bool remove(Arena& arena, K key, u32 slot) {
    if (!root) return false;
    Step path[MOST_LEVELS];
    const u32 at = descend(arena, key, slot, path);
    Leaf& leaf = node<Leaf>(arena, at);
    const u32 i = place(leaf.key, leaf.slot, 0, leaf.count, key, slot);
    if (i == leaf.count || leaf.key[i] != key || leaf.slot[i] != slot) return false;
    count--;
    cut(leaf.key, leaf.count, i);
    cut(leaf.slot, leaf.count, i);
    if (--leaf.count == 0) unlink(arena, at, path);
    return true;
  }

  void clear(Arena& arena) {
    if (root) give_all(arena, root, height);
    *this = SortedSlots{};
  }

 private:
  static constexpr u32 MOST_LEVELS = 12;
  struct Step {
    u32 node, i;
  };

  template <class N> static N& node(const Arena& arena, u32 at) { return *arena.at<N>(u64(at) * 64); }

  template <class N> u32 take(Arena& arena) {
    held += sizeof(N);
    return u32(arena.take(sizeof(N)) / 64);
  }

  template <class N> void give(Arena& arena, u32 at) {
    held -= sizeof(N);
    arena.give(u64(at) * 64, sizeof(N));
  }

  void give_all(Arena& arena, u32 at, u32 level) {
    if (!level) return give<Leaf>(arena, at);
    const Inner& inner = node<Inner>(arena, at);
    for (u32 i = 0; i < inner.count; i++) give_all(arena, inner.child[i], level - 1);
    give<Inner>(arena, at);
  }

  // The first value from `low` on, 0 or 1, that `before` does not hold for. As values ascend, this
  // counts those it holds for, by eights and then one by one, without a branch: the processor would
  // guess the way of a binary search wrong at every other step.
  template <class P> static u32 first_after(const K* keys, u32 low, u32 high, P before) {
    u32 at = low;
#pragma GCC unroll 7
    for (u32 i = low + 7; i < low + MOST - 4; i += 8) at += 8 * (u32(i < high) & u32(before(keys[i])));
    const u32 from = at;
#pragma GCC unroll 7
    for (u32 i = from; i < from + 7; i++) at += u32(i < high) & u32(before(keys[i]));
    return at;
  }

  // The first entry from `low` on that is not before (key, slot).
  static u32 place(const K* keys, const u32* slots, u32 low, u32 high, K key, u32 slot) {
    low = first_after(keys, low, high, [&](K other) { return other < key; });
    while (low < high && keys[low] == key) {
      const u32 middle = (low + high) / 2;
      if (keys[middle] < key || (keys[middle] == key && slots[middle] < slot)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  u32 descend(const Arena& arena, K key, u32 slot, Step* path) const {
    u32 at = root;
    for (u32 level = height; level > 0; level--) {
      const Inner& inner = node<Inner>(arena, at);
      u32 i = place(inner.key, inner.slot, 1, inner.count, key, slot);
      if (i == inner.count || inner.key[i] != key || inner.slot[i] != slot) i--;
      path[level] = Step{at, i};
      at = inner.child[i];
    }
    return at;
  }

  template <class T> static void open(T* array, u32 count, u32 at, T value) {
    memmove(array + at + 1, array + at, (count - at) * sizeof(T));
    array[at] = value;
  }

  template <class T> static void cut(T* array, u32 count, u32 at) {
    memmove(array + at, array + at + 1, (count - at - 1) * sizeof(T));
  }

  static void put(Leaf& leaf, u32 i, K key, u32 slot) {
    open(leaf.key, leaf.count, i, key);
    open(leaf.slot, leaf.count, i, slot);
    leaf.count++;
  }

  // Where entries come in ascending order, the full leaf is left full.
  __attribute__((noinline)) void split(Arena& arena, u32 at, u32 i, K key, u32 slot, Step* path) {
    const u32 other = take<Leaf>(arena);
    Leaf &low = node<Leaf>(arena, at), &high = node<Leaf>(arena, other);
    const u32 stay = !low.next && i == low.count ? low.count : low.count / 2;
    high.count = low.count - stay;
    memcpy(high.key, low.key + stay, high.count * sizeof(K));
    memcpy(high.slot, low.slot + stay, high.count * sizeof(u32));
    low.count = stay;
    high.next = low.next, high.before = at;
    if (low.next) node<Leaf>(arena, low.next).before = other;
    low.next = other;
    if (i > stay || stay == MOST) put(high, i - stay, key, slot);
    else put(low, i, key, slot);
    pass_up(arena, other, high.key[0], high.slot[0], path);
  }

  // A new node goes into the parent, right of the one that it came from.
  void pass_up(Arena& arena, u32 other, K key, u32 slot, Step* path) {
    for (u32 level = 1; level <= height; level++) {
      const u32 at = path[level].node, i = path[level].i + 1;
      Inner& inner = node<Inner>(arena, at);
      if (inner.count < MOST) return put(inner, i, key, slot, other);
      const u32 wide = take<Inner>(arena);
      Inner& high = node<Inner>(arena, wide);
      const u32 stay = inner.count / 2;
      high.count = inner.count - stay;
      memcpy(high.key, inner.key + stay, high.count * sizeof(K));
      memcpy(high.slot, inner.slot + stay, high.count * sizeof(u32));
      memcpy(high.child, inner.child + stay, high.count * sizeof(u32));
      inner.count = stay;
      if (i > stay) put(high, i - stay, key, slot, other);
      else put(inner, i, key, slot, other);
      key = high.key[0], slot = high.slot[0], other = wide;
    }
    const u32 top = take<Inner>(arena);
    Inner& inner = node<Inner>(arena, top);
    inner.count = 2;
    inner.child[0] = root, inner.child[1] = other;
    inner.key[1] = key, inner.slot[1] = slot;
    root = top;
    height++;
  }

  static void put(Inner& inner, u32 i, K key, u32 slot, u32 child) {
    open(inner.key, inner.count, i, key);
    open(inner.slot, inner.count, i, slot);
    open(inner.child, inner.count, i, child);
    inner.count++;
  }

  // An empty leaf leaves the chain and its parent, which may be empty then, too.
  __attribute__((noinline)) void unlink(Arena& arena, u32 at, Step* path) {
    const Leaf& leaf = node<Leaf>(arena, at);
    if (leaf.before) node<Leaf>(arena, leaf.before).next = leaf.next;
    if (leaf.next) node<Leaf>(arena, leaf.next).before = leaf.before;
    give<Leaf>(arena, at);
    for (u32 level = 1; level <= height; level++) {
      Inner& inner = node<Inner>(arena, path[level].node);
      const u32 i = path[level].i;
      cut(inner.key, inner.count, i);
      cut(inner.slot, inner.count, i);
      cut(inner.child, inner.count, i);
      if (--inner.count) return lower(arena);
      give<Inner>(arena, path[level].node);
    }
    root = height = 0;
  }

  void lower(Arena& arena) {
    while (height && node<Inner>(arena, root).count == 1) {
      const u32 only = node<Inner>(arena, root).child[0];
      give<Inner>(arena, root);
      root = only;
      height--;
    }
  }
};

}  // namespace theta
}  // namespace fr
