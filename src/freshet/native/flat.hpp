// A map without further indexes: a hash table with the records inside.
//
// Linear probing; deletion shifts back what follows, so there are no tombstones; a slot is empty
// when its payloads are zero, so there are no flags, and zeroed memory is an empty map.
//
// Growth never stops the stream (rehashing ten million records at once takes half a second): a
// table above `most` slots is a directory of segments, chosen by the first bits of the hash, and
// a full segment splits in two by one more bit. Only the upper 32 bits of a hash are used: the
// first of them choose the segment, the last the slot.
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

#include "arena.hpp"

namespace fr {

template <class Rec> struct Flat {
  using Key = typename Rec::Key;

  // Zeroed memory needs no `init`.
  void init(Arena&) { *this = Flat{}; }

  u64 size() const { return count; }
  u64 bytes() const { return held; }

  // The record, or null.
  Rec* find(Arena& arena, const Key& key) const { return find(arena, key, Rec::hash(key)); }

  template <class K = Key> Rec* find(Arena& arena, const K& key, u64 hash) const {
    if (count == 0) return nullptr;
    Rec* rec = probe(arena, key, hash);
    return rec->empty() ? nullptr : rec;
  }

  // The record, or a new one with zero payloads: then the caller at once makes it non-empty or
  // drops it. Other records may move.
  Rec* at(Arena& arena, const Key& key) { return at(arena, key, Rec::hash(key)); }

  Rec* at(Arena& arena, const Key& key, u64 hash) {
    if (held == 0) begin(arena);
    Rec* rec = probe(arena, key, hash);
    return rec->empty() ? insert(arena, key, hash, rec) : rec;
  }

  // Takes out a record whose payloads are zero. Other records may move.
  void drop(Arena& arena, Rec* rec) {
    u64 hash = rec->hash();
    Segment& segment = leader(arena, hash);
    Rec* slots = arena.at<Rec>(segment.slots);
    u32 mask = segment.mask(), hole = u32(rec - slots);
    for (u32 i = (hole + 1) & mask; !slots[i].empty(); i = (i + 1) & mask) {
      u32 home = place(slots[i].hash()) & mask;
      if (((i - home) & mask) < ((i - hole) & mask)) continue;  // the hole lies before its home
      slots[hole] = slots[i];
      hole = i;
    }
    wipe(slots[hole]);
    --segment.count;
    if (--count == 0 && held >= 64 * sizeof(Rec)) clear(arena);
  }

  // f(Rec&) for all records, in no order; f neither inserts nor drops.
  template <class F> void each(Arena& arena, F&& f) const {
    if (count == 0) return;
    each_segment(arena, [&](const Segment& segment) {
      Rec* rec = arena.at<Rec>(segment.slots);
      for (Rec* end = rec + segment.room(); rec != end; ++rec)
        if (!rec->empty()) f(*rec);
    });
  }

  // Starts to fetch the place of a record that is looked up soon.
  void prefetch(Arena& arena, u64 hash) const {
    if (count == 0) return;
    const Segment& segment = choose(arena, hash);
    fetch(arena.at<Rec>(segment.slots) + (place(hash) & segment.mask()));
  }

  void clear(Arena& arena) {
    if (held == 0) return;
    each_segment(arena, [&](const Segment& segment) {
      arena.give(segment.slots, segment.room() * sizeof(Rec));
    });
    if (depth > 0) arena.give(directory, sizeof(Segment) << depth);
    *this = Flat{};
  }

 private:
  static constexpr u32 least = 3;                                // log2 of the first slots
  static constexpr u32 most = sizeof(Rec) <= 32 ? 11 : sizeof(Rec) <= 64 ? 10 : 9;
  static_assert(sizeof(Rec) >= 8, "a record has a payload");

  // A segment of local depth d fills 2^(depth - d) places of the directory, all of them alike
  // except for `count`, which only the first of them, the leader, keeps.
  struct Segment {
    u64 slots;
    u32 count;
    u8 log, depth;
    u32 mask() const { return (u32(1) << log) - 1; }
    u64 room() const { return u64(1) << log; }
    bool is_full() const { return count >= (u32(1) << log) / 4 * 3; }
  };

  u64 directory;  // with depth > 0: an array of 2^depth segments
  u64 count;
  u64 held;
  Segment only;  // with depth 0
  u32 depth;

  static u32 place(u64 hash) { return u32(hash >> 32); }
  static void wipe(Rec& rec) { memset(static_cast<void*>(&rec), 0, sizeof(Rec)); }

  const Segment& choose(Arena& arena, u64 hash) const {
    return depth == 0 ? only : arena.at<Segment>(directory)[hash >> (64 - depth)];
  }

  Segment& leader(Arena& arena, u64 hash) {
    if (depth == 0) return only;
    Segment* segments = arena.at<Segment>(directory);
    u64 i = hash >> (64 - depth);
    u32 shared = depth - segments[i].depth;
    return segments[i >> shared << shared];
  }

  // The record with this key, or the empty slot where it belongs.
  template <class K> Rec* probe(Arena& arena, const K& key, u64 hash) const {
    const Segment& segment = choose(arena, hash);
    Rec* slots = arena.at<Rec>(segment.slots);
    u32 mask = segment.mask();
    for (u32 i = place(hash) & mask;; i = (i + 1) & mask)
      if (slots[i].is(key) || slots[i].empty()) return &slots[i];
  }

  // Apart from `at`, so that finding a record, which is what happens most, stays small.
  __attribute__((noinline)) Rec* insert(Arena& arena, const Key& key, u64 hash, Rec* rec) {
    if (leader(arena, hash).is_full()) {
      grow(arena, hash);
      rec = probe(arena, key, hash);
    }
    ++leader(arena, hash).count;
    ++count;
    rec->set(key);
    return rec;
  }

  static void put(Rec* slots, u32 mask, const Rec& rec) {
    u32 i = place(rec.hash()) & mask;
    while (!slots[i].empty()) i = (i + 1) & mask;
    slots[i] = rec;
  }

  template <class F> void each_segment(Arena& arena, F&& f) const {
    const Segment* segments = depth == 0 ? &only : arena.at<Segment>(directory);
    for (u64 i = 0; i < u64(1) << depth; i += u64(1) << (depth - segments[i].depth))
      f(segments[i]);
  }

  u64 take(Arena& arena, u64 bytes) {
    held += bytes;
    return arena.take(bytes);
  }

  void give(Arena& arena, u64 block, u64 bytes) {
    held -= bytes;
    arena.give(block, bytes);
  }

  __attribute__((noinline, cold)) void begin(Arena& arena) {
    only.log = least;
    only.slots = take(arena, only.room() * sizeof(Rec));
  }

  // Makes room in the segment of this hash. Hashes that agree in too many bits would split
  // segments for ever: when the directory gets out of proportion, the segment grows instead.
  __attribute__((noinline, cold)) void grow(Arena& arena, u64 hash) {
    do {
      Segment& segment = leader(arena, hash);
      bool in_proportion = segment.depth < depth || (u64(64) << depth) <= count;
      if (segment.log >= most && in_proportion && segment.depth < 20)
        split(arena, hash);
      else
        widen(arena, hash);
    } while (leader(arena, hash).is_full());
  }

  void widen(Arena& arena, u64 hash) {
    Segment& first = leader(arena, hash);
    Segment old = first, wide = first;
    ++wide.log;
    wide.slots = take(arena, wide.room() * sizeof(Rec));
    Rec* from = arena.at<Rec>(old.slots);
    Rec* to = arena.at<Rec>(wide.slots);
    for (u64 i = 0; i < old.room(); ++i)
      if (!from[i].empty()) put(to, wide.mask(), from[i]);
    give(arena, old.slots, old.room() * sizeof(Rec));
    for (u64 i = 0; i < u64(1) << (depth - old.depth); ++i) (&first)[i] = wide;
  }

  // Records whose next bit is set move to a new segment; the others close up where they are.
  void split(Arena& arena, u64 hash) {
    if (leader(arena, hash).depth == depth) deepen(arena);
    Segment& first = leader(arena, hash);
    Segment low = first, high = first;
    u32 bit = 63 - low.depth++, mask = low.mask();
    ++high.depth;
    high.slots = take(arena, high.room() * sizeof(Rec));
    high.count = 0;
    Rec* here = arena.at<Rec>(low.slots);
    Rec* there = arena.at<Rec>(high.slots);
    u32 gap = 0;
    while (!here[gap].empty()) ++gap;
    // From behind a gap on, whatever lies between a record and its home has been moved already.
    for (u32 n = 1; n <= mask; ++n) {
      Rec& rec = here[(gap + n) & mask];
      if (rec.empty()) continue;
      Rec copy = rec;
      wipe(rec);
      if (copy.hash() >> bit & 1) {
        put(there, mask, copy);
        ++high.count;
      } else {
        put(here, mask, copy);
      }
    }
    low.count -= high.count;
    u64 half = u64(1) << (depth - low.depth);
    for (u64 i = 0; i < half; ++i) {
      (&first)[i] = low;
      (&first)[half + i] = high;
    }
  }

  void deepen(Arena& arena) {
    u64 places = u64(1) << depth;
    u64 wide = take(arena, 2 * places * sizeof(Segment));
    const Segment* from = depth == 0 ? &only : arena.at<Segment>(directory);
    Segment* to = arena.at<Segment>(wide);
    for (u64 i = 0; i < places; ++i) to[2 * i] = to[2 * i + 1] = from[i];
    if (depth > 0) give(arena, directory, places * sizeof(Segment));
    directory = wide;
    ++depth;
  }
};

}  // namespace fr
