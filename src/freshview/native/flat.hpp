// A map without further indexes: a hash table with the records inside.
//
// Linear probing; deletion shifts back what follows, so there are no tombstones; a slot is empty
// when its payloads are zero, so there are no flags, and zeroed memory is an empty map. How it
// grows is in `segments.hpp`.
//
//   struct Rec {  // generated: keys, then payloads
//     struct Key;
//     static u64 hash(const Key&);
//     u64 hash() const;
//     bool is(const Key&) const;   // may be asked of an empty record
//     void set(const Key&);        // writes the keys
//     bool empty() const;          // all payloads are zero
//   };
#pragma once

#include "segments.hpp"

namespace fr {

template <class Rec> struct Flat {
  using Key = typename Rec::Key;

  // Zeroed memory needs no `init`.
  void init(Arena&) { *this = Flat{}; }

  u64 size() const { return all.count; }
  u64 bytes() const { return all.held; }

  // The record, or null.
  template <class K = Key> Rec* find(Arena& arena, const K& key) const {
    return find(arena, key, Rec::hash(key));
  }

  template <class K = Key> Rec* find(Arena& arena, const K& key, u64 hash) const {
    if (all.count == 0) return nullptr;
    Rec* rec = probe(arena, key, hash);
    return rec->empty() ? nullptr : rec;
  }

  // The record, or a new one with zero payloads: then the caller at once makes it non-empty or
  // drops it. Other records may move.
  Rec* at(Arena& arena, const Key& key) { return at(arena, key, Rec::hash(key)); }

  template <class K = Key> Rec* at(Arena& arena, const K& key, u64 hash) {
    if (all.held == 0) all.begin(arena, shape);
    Rec* rec = probe(arena, key, hash);
    return rec->empty() ? insert(arena, key, hash, rec) : rec;
  }

  // Takes out a record whose payloads are zero. Other records may move.
  void drop(Arena& arena, Rec* rec) { all.drop(arena, rec, rec->hash(), shape); }

  // f(Rec&) for all records, in no order; f neither inserts nor drops.
  template <class F> void each(Arena& arena, F&& f) const {
    if (all.count == 0) return;
    all.each_segment(arena, [&](const Segment& segment) {
      Rec* rec = arena.at<Rec>(segment.slots);
      for (Rec* end = rec + segment.room(); rec != end; ++rec)
        if (!rec->empty()) f(*rec);
    });
  }

  // The same; `soon` is called with most of the records some slots before f is.
  template <class G, class F> void each(Arena& arena, u32 ahead, G&& soon, F&& f) const {
    if (all.count == 0) return;
    all.each_segment(arena, [&](const Segment& segment) {
      Rec* rec = arena.at<Rec>(segment.slots);
      for (Rec* end = rec + segment.room(); rec != end; ++rec) {
        if (end - rec > ahead && !rec[ahead].empty()) soon(rec[ahead]);
        if (!rec->empty()) f(*rec);
      }
    });
  }

  // Starts to fetch the place of a record that is looked up soon. A small table is in the caches:
  // to ask for it would cost more than it gains.
  void prefetch(Arena& arena, u64 hash) const {
    if (all.held <= NEAR) return;
    const Segment& segment = all.choose(arena, hash);
    fetch(arena.at<Rec>(segment.slots) + (Segments::place(hash) & segment.mask()));
  }

  void prefetch_write(Arena& arena, const Key& key) const { prefetch(arena, Rec::hash(key)); }

  void clear(Arena& arena) { all.clear(arena, shape); }

 private:
  static_assert(sizeof(Rec) >= 8, "a record has a payload");
  static constexpr u64 NEAR = 16 * 1024;  // bytes of a table that stays in the nearest cache
  static u64 hash_of(const void* rec) { return static_cast<const Rec*>(rec)->hash(); }
  static bool is_empty(const void* rec) { return static_cast<const Rec*>(rec)->empty(); }

  // Records whose bit of the hash is set move there; the others close up where they are. Returns
  // how many moved.
  __attribute__((noinline)) static u32 part(void* from, void* to, u32 mask, u32 bit) {
    Rec *here = static_cast<Rec*>(from), *there = static_cast<Rec*>(to);
    u32 gap = 0, moved = 0;
    while (!here[gap].empty()) ++gap;
    // From behind a gap on, whatever lies between a record and its home has been looked at; if
    // none of that has left its slot, the record need not either.
    for (u32 n = 1, left = 0; n <= mask; ++n) {
      Rec& rec = here[(gap + n) & mask];
      if (rec.empty()) {
        left = 0;
        continue;
      }
      u64 hash = rec.hash();
      u32 moves = hash >> bit & 1;
      if ((left |= moves) == 0) continue;
      moved += moves;
      alignas(Rec) u8 copy[sizeof(Rec)];
      memcpy(copy, &rec, sizeof(Rec));
      memset(static_cast<void*>(&rec), 0, sizeof(Rec));
      Rec* slots = moves ? there : here;
      u32 i = Segments::place(hash) & mask;
      while (!slots[i].empty()) i = (i + 1) & mask;
      memcpy(static_cast<void*>(slots + i), copy, sizeof(Rec));
    }
    return moved;
  }

  static constexpr u32 most = sizeof(Rec) <= 32 ? 11 : sizeof(Rec) <= 64 ? 10 : 9;
  static constexpr Shape shape = {sizeof(Rec), most, hash_of, is_empty, part};

  Segments all;

  // The record with this key, or the empty slot where it belongs.
  template <class K> Rec* probe(Arena& arena, const K& key, u64 hash) const {
    const Segment& segment = all.choose(arena, hash);
    Rec* slots = arena.at<Rec>(segment.slots);
    u32 mask = segment.mask();
    for (u32 i = Segments::place(hash) & mask;; i = (i + 1) & mask)
      if (slots[i].is(key) || slots[i].empty()) return &slots[i];
  }

  // Apart from `at`, so that finding a record, which is what happens most, stays small.
  template <class K>
  __attribute__((noinline)) Rec* insert(Arena& arena, const K& key, u64 hash, Rec* rec) {
    if (all.leader(arena, hash).is_full()) {
      all.grow(arena, hash, shape);
      rec = probe(arena, key, hash);
    }
    ++all.leader(arena, hash).count;
    ++all.count;
    rec->set(key);
    return rec;
  }
};

}  // namespace fr
