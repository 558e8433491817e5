// One side of what a joiner has: rows in slots, and an index over them.
//
// A slot that is dropped keeps its values, and its entry in the index, until another row needs it:
// to forget costs nothing at the time, and nothing is compacted. While a store is pinned its slots
// are not used again, so that whoever looks through them finds each row where it was.
//
// `Theta` is generated (`emit.py`): which columns the index reads, and what else must hold.
#pragma once

#include "../flat.hpp"
#include "rows.hpp"
#include "sorted_slots.hpp"

namespace fr {
namespace theta {

enum Way { Hashed, Sorted, Scanned };  // how partners are searched

// The slots of one value of a hash, or of a key: a list through the slots.
struct Head {
  u64 value;
  u32 first, unused;  // a slot + 1

  using Key = u64;
  static u64 hash(u64 key) { return key * GOLDEN; }
  u64 hash() const { return hash(value); }
  bool is(u64 key) const { return value == key && first; }
  void set(u64 key) { value = key; }
  bool empty() const { return !first; }
};

struct Link {
  u32 next, before;  // slots + 1
};

struct HashedSlots {
  Flat<Head> heads;
  Link* link;
  u64 room;

  void make_room(u64 slots) {
    if (slots <= room) return;
    const u64 wide = slots + slots / 2 + 64;
    link = static_cast<Link*>(realloc(static_cast<void*>(link), wide * sizeof(Link)));
    if (!link) fail("freshview: not enough memory for the index of a join.\n");
    room = wide;
  }

  void add(Arena& arena, u64 hash, u32 slot) {
    make_room(u64(slot) + 1);
    Head* head = heads.at(arena, hash);
    link[slot] = Link{head->first, 0};
    if (head->first) link[head->first - 1].before = slot + 1;
    head->first = slot + 1;
  }

  void remove(Arena& arena, u64 hash, u32 slot) {
    const Link mine = link[slot];
    if (mine.next) link[mine.next - 1].before = mine.before;
    if (mine.before) {
      link[mine.before - 1].next = mine.next;
      return;
    }
    Head* head = heads.find(arena, hash);
    if (!head || head->first != slot + 1) return;
    head->first = mine.next;
    if (!head->first) heads.drop(arena, head);
  }

  template <class F> void each(Arena& arena, u64 hash, F&& f) const {
    const Head* head = heads.find(arena, hash);
    for (u32 slot = head ? head->first : 0; slot;) {
      const u32 next = link[slot - 1].next;
      if (next) fetch(&link[next - 1]);
      f(slot - 1);
      slot = next;
    }
  }

  u64 bytes() const { return heads.bytes() + room * sizeof(Link); }
  void clear(Arena& arena) {
    heads.clear(arena);
    free(link);
    link = nullptr, room = 0;
  }
};

// Numbers of a store that Python reads where they are.
struct Totals {
  i64 length, empty, bytes, pinned, room, heaviest;
  i64 passed, end;  // while state moves: slots that are settled, and those of the epoch before
};

template <class Theta> struct Store {
  Totals totals;
  Rows rows;
  bool is_open;
  SortedSlots<typename Theta::IndexKey> sorted;
  HashedSlots hashed;  // by the hash of the equality
  HashedSlots keyed;   // by the key of the row, on sides where equal rows are one
  Numbers gone;        // slots that can be used again
  Numbers shadows;     // pairs of a pinned slot, and that of an equal row that came since

  u64 bytes() const {
    return sorted.held + hashed.bytes() + keyed.bytes() + u64(gone.room) * 8;
  }

  void close(Arena& arena) {
    sorted.clear(arena);
    hashed.clear(arena);
    keyed.clear(arena);
    gone.close();
    shadows.close();
    *this = Store{};
  }
};

// What works on a store: the join's arena, predicate and forms beside it.
template <class Theta> struct StoreOf {
  using Env = typename Theta::Env;
  Arena& arena;
  const Env& env;
  const Form& form;
  const int side;
  const bool merges;  // equal rows are one, with the sum of their weights
  Store<Theta>& s;

  i64& weight(i64 slot) const { return s.rows.template as<i64>(form.known(Weight))[slot]; }
  i64 size_at(i64 slot) const { return s.rows.template as<i64>(form.known(Size))[slot]; }
  u64 key_at(i64 slot) const { return s.rows.template as<u64>(form.known(Key))[slot]; }
  u64 hash_at(i64 slot) const { return s.rows.template as<u64>(form.known(Hash))[slot]; }

  void enter(u32 slot, u32 leaf = 0) const {
    if (merges) s.keyed.add(arena, key_at(slot), slot);
    if (!Theta::is_joinable(side, s.rows, slot)) return;
    if (Theta::INDEX == Hashed) s.hashed.add(arena, hash_at(slot), slot);
    if (Theta::INDEX == Sorted) s.sorted.add(arena, Theta::index_key(env, side, s.rows, slot), slot, leaf);
  }

  void leave(u32 slot) const {
    if (merges) s.keyed.remove(arena, key_at(slot), slot);
    if (!Theta::is_joinable(side, s.rows, slot)) return;
    if (Theta::INDEX == Hashed) s.hashed.remove(arena, hash_at(slot), slot);
    if (Theta::INDEX == Sorted) s.sorted.remove(arena, Theta::index_key(env, side, s.rows, slot), slot);
  }

  bool reuses_slots() const { return s.gone.count && !s.totals.pinned; }

  // The slot for another row: one that is free, or the next; Python has reserved room for it.
  u32 take_slot() const {
    if (reuses_slots()) {
      const u32 slot = u32(s.gone.at[--s.gone.count]);
      leave(slot);
      s.totals.empty--;
      return slot;
    }
    return u32(s.totals.length++);
  }

  // Stores a row; `leaf` is what `fetch_place` gave, unless a row may have left the index since.
  u32 append(const Rows& from, i64 i, u32 leaf = 0) const {
    if (reuses_slots()) leaf = 0;
    const u32 slot = take_slot();
    for (int a = 0; a < form.arrays; a++) copy_cell(form, a, from, i, s.rows, slot);
    s.totals.bytes += size_at(slot);
    note(weight(slot));
    enter(slot, leaf);
    return slot;
  }

  // The same for many, array by array: `rows` are their numbers in the batch.
  void append_all(const Rows& from, const i64* rows, i64 n, i64* slots) const {
    for (i64 k = 0; k < n; k++) slots[k] = take_slot();
    for (int a = 0; a < form.arrays; a++) {
      if (form.cell[a] != Form::Word) {
        for (i64 k = 0; k < n; k++) copy_cell(form, a, from, rows[k], s.rows, slots[k]);
        continue;
      }
      const u64* in = from.as<u64>(a);
      u64* out = s.rows.template as<u64>(a);
      for (i64 k = 0; k < n; k++) out[slots[k]] = in[rows[k]];
    }
    u32 leaf[BLOCK];
    for (i64 first = 0; first < n; first += BLOCK) {
      const i64 end = first + BLOCK < n ? first + BLOCK : n;
      for (i64 k = first; k < end; k++) leaf[k - first] = fetch_place(s.rows, slots[k]);
      for (i64 k = first; k < end; k++) {
        s.totals.bytes += size_at(slots[k]);
        note(weight(slots[k]));
        enter(u32(slots[k]), leaf[k - first]);
      }
    }
  }

  static constexpr i64 BLOCK = 16;  // rows whose places are fetched together

  // Starts to fetch where a row goes in the index; the leaf of an ordered one, unless it is empty.
  u32 fetch_place(const Rows& rows, i64 i) const {
    if (Theta::INDEX == Hashed) s.hashed.heads.prefetch(arena, Head::hash(rows.as<u64>(form.known(Hash))[i]));
    if (Theta::INDEX != Sorted || !s.sorted.root) return 0;
    const auto key = Theta::index_key(env, side, rows, i);
    const u32 leaf = s.sorted.leaf_of(arena, [&](auto other) { return other < key; });
    s.sorted.fetch_leaf(arena, leaf, true);
    return leaf;
  }

  // A slot without a row; it can be used again once nothing is pinned.
  void forget(u32 slot) const {
    weight(slot) = 0;
    s.totals.empty++;
    s.totals.bytes -= size_at(slot);
    s.gone.add(slot);
  }

  void drop(const i64* slots, i64 n) const {
    for (i64 k = 0; k < n; k++)
      if (weight(slots[k])) forget(u32(slots[k]));
  }

  // The same, where equal rows of some sides are one; `slots` is room for as many numbers.
  void add_all(const Rows& from, const i64* rows, i64 n, i64* slots) const {
    if (!merges) return append_all(from, rows, n, slots);
    for (i64 k = 0; k < n; k++) merge(from, rows[k]);
  }

  // Adds a row to an equal one, or stores it.
  void merge(const Rows& from, i64 i) const {
    const i64 by = from.as<i64>(form.known(Weight))[i];
    i64 old = -1, equal = -1;
    s.keyed.each(arena, from.as<u64>(form.known(Key))[i], [&](u32 slot) {
      // A slot that is empty has no row, unless it may still get one back from a pinned one.
      if (!weight(slot) && !(s.totals.pinned && slot >= s.totals.pinned)) return;
      if (!same_row(form, s.rows, slot, from, i)) return;
      (slot < s.totals.pinned ? old : equal) = slot;
    });
    if (equal < 0) {
      const u32 slot = append(from, i);
      if (old >= 0) s.shadows.add(old), s.shadows.add(slot);
      return;
    }
    weigh(u32(equal), by);
  }

  void weigh(u32 slot, i64 by) const {
    const i64 before = weight(slot), after = before + by;
    note(after);
    if (before && !after && !s.totals.pinned) return forget(slot);
    weight(slot) = after;
    if (!before == !after) return;
    s.totals.empty += after ? -1 : 1;
    s.totals.bytes += after ? size_at(slot) : -size_at(slot);
  }

  void note(i64 weight) const {
    const i64 size = weight < 0 ? -weight : weight;
    if (size > s.totals.heaviest) s.totals.heaviest = size;
  }

  // Ends a pin: what was shadowed is one row again, and empty slots can be used.
  void unpin() const {
    const i64 pinned = s.totals.pinned;
    for (i64 k = 0; k < s.shadows.count; k += 2) {
      const u32 old = u32(s.shadows.at[k]), now = u32(s.shadows.at[k + 1]);
      weigh(now, weight(old));
      if (weight(old)) forget(old);
    }
    s.totals.pinned = s.totals.passed = s.totals.end = s.shadows.count = 0;
    for (i64 slot = pinned; merges && slot < s.totals.length; slot++)
      if (!weight(slot)) s.gone.add(slot);
  }

  // f(slot) for the slots that join row i of a batch of the other side.
  template <class F> void each_partner(const Rows& probes, i64 i, u32 leaf, F&& f) const {
    const Rows &r = side == R ? s.rows : probes, &t = side == R ? probes : s.rows;
    const bool has_empty = s.totals.empty != 0;
    auto check = [&](u32 slot) {
      if (has_empty && !weight(slot)) return;
      if (side == R ? Theta::holds(env, r, slot, t, i) : Theta::holds(env, r, i, t, slot)) f(slot);
    };
    if (Theta::INDEX == Hashed) {
      s.hashed.each(arena, probes.as<u64>(other_form().known(Hash))[i], check);
    } else if (Theta::INDEX == Sorted) {
      const typename Theta::Reach reach(env, across(side), probes, i);
      s.sorted.each(arena, leaf, [&](auto key) { return reach.before(key); },
                    [&](auto key) { return reach.upto(key); }, check);
    } else {
      for (i64 slot = 0; slot < s.totals.length; slot++) check(u32(slot));
    }
  }

  u32 leaf_of(const Rows& probes, i64 i) const {
    if (Theta::INDEX != Sorted || !s.sorted.root) return 0;
    const typename Theta::Reach reach(env, across(side), probes, i);
    return s.sorted.leaf_of(arena, [&](auto key) { return reach.before(key); });
  }

  // Starts to fetch what a row of the other side looks at first.
  u32 fetch_for(const Rows& probes, i64 i) const {
    if (Theta::INDEX == Hashed) {
      s.hashed.heads.prefetch(arena, Head::hash(probes.as<u64>(other_form().known(Hash))[i]));
      return 0;
    }
    const u32 leaf = leaf_of(probes, i);
    if (leaf) s.sorted.fetch_leaf(arena, leaf, false);
    return leaf;
  }

  const Form& other_form() const { return env.form[across(side)]; }
};

}  // namespace theta
}  // namespace fr
