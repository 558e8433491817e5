// The slots of hash tables, whatever lies in them: segments, how they grow, and how they shrink.
//
// Growth never stops the stream (rehashing ten million records at once takes half a second): a
// table above its largest segment is a directory of segments, chosen by the first bits of the
// hash, and a full segment splits in two by one more bit. Only the upper 32 bits of a hash are
// used: the first of them choose the segment, the last the slot.
//
// This is written for records of any type, which a `Shape` describes, so that it is compiled once
// and not for every map of a kernel; what happens most, looking records up and moving those of a segment
// that splits, is in `flat.hpp`.
#pragma once

#include "arena.hpp"

namespace fr {

// What moving records needs to know of them.
struct Shape {
  u32 size;  // bytes
  u32 most;  // log2 of the slots of the largest segment
  u64 (*hash)(const void*);
  bool (*empty)(const void*);
  u32 (*part)(void* here, void* there, u32 mask, u32 bit);
};

// A segment of local depth d fills 2^(depth - d) places of the directory, all of them alike
// except for `count`, which only the first of them, the leader, keeps.
struct Segment {
  u64 slots;
  u32 count;
  u8 log, depth;
  u32 mask() const { return (u32(1) << log) - 1; }
  u64 room() const { return u64(1) << log; }
  // A small table stays in the caches whatever its size: it has much room, so that most records are
  // found where they are first sought.
  bool is_full() const { return count >= (u32(1) << log) / 4 * (log < SPARSE ? 1 : 3); }
  static constexpr u8 SPARSE = 9;
};

struct Segments {
  u64 directory;  // with depth > 0: an array of 2^depth segments
  u64 count;
  u64 held;
  Segment only;  // with depth 0
  u32 depth;

  static constexpr u32 least = 3;  // log2 of the first slots
  static u32 place(u64 hash) { return u32(hash >> 32); }

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

  template <class F> void each_segment(Arena& arena, F&& f) const {
    const Segment* segments = depth == 0 ? &only : arena.at<Segment>(directory);
    for (u64 i = 0; i < u64(1) << depth; i += u64(1) << (depth - segments[i].depth))
      f(segments[i]);
  }

  __attribute__((noinline, cold)) void begin(Arena& arena, const Shape& shape) {
    only.log = least;
    only.slots = take(arena, only.room() * shape.size);
  }

  // Takes out a record that is empty now: what follows it shifts back.
  __attribute__((noinline)) void drop(Arena& arena, void* rec, u64 hash, const Shape& shape) {
    Segment& segment = leader(arena, hash);
    u8* slots = arena.at<u8>(segment.slots);
    u32 mask = segment.mask(), hole = u32((static_cast<u8*>(rec) - slots) / shape.size);
    for (u32 i = (hole + 1) & mask; !shape.empty(slots + u64(i) * shape.size); i = (i + 1) & mask) {
      const u8* next = slots + u64(i) * shape.size;
      u32 home = place(shape.hash(next)) & mask;
      if (((i - home) & mask) < ((i - hole) & mask)) continue;  // the hole lies before its home
      memcpy(slots + u64(hole) * shape.size, next, shape.size);
      hole = i;
    }
    memset(slots + u64(hole) * shape.size, 0, shape.size);
    --segment.count;
    if (--count == 0 && held >= 64 * shape.size) clear(arena, shape);
  }

  // Makes room in the segment of this hash. Hashes that agree in too many bits would split
  // segments for ever: when the directory gets out of proportion, the segment grows instead.
  __attribute__((noinline, cold)) void grow(Arena& arena, u64 hash, const Shape& shape) {
    do {
      Segment& segment = leader(arena, hash);
      bool in_proportion = segment.depth < depth || (u64(64) << depth) <= count;
      if (segment.log >= shape.most && in_proportion && segment.depth < 20)
        split(arena, hash, shape);
      else
        widen(arena, hash, shape);
    } while (leader(arena, hash).is_full());
  }

  __attribute__((noinline, cold)) void clear(Arena& arena, const Shape& shape) {
    if (held == 0) return;
    each_segment(arena, [&](const Segment& segment) {
      arena.give(segment.slots, segment.room() * shape.size);
    });
    if (depth > 0) arena.give(directory, sizeof(Segment) << depth);
    *this = Segments{};
  }

 private:
  u64 take(Arena& arena, u64 bytes) {
    held += bytes;
    return arena.take(bytes);
  }

  void give(Arena& arena, u64 block, u64 bytes) {
    held -= bytes;
    arena.give(block, bytes);
  }

  static void put(u8* slots, u32 mask, const u8* rec, u64 hash, const Shape& shape) {
    u32 i = place(hash) & mask;
    while (!shape.empty(slots + u64(i) * shape.size)) i = (i + 1) & mask;
    memcpy(slots + u64(i) * shape.size, rec, shape.size);
  }

  void widen(Arena& arena, u64 hash, const Shape& shape) {
    Segment& first = leader(arena, hash);
    Segment old = first, wide = first;
    ++wide.log;
    wide.slots = take(arena, wide.room() * shape.size);
    const u8* from = arena.at<u8>(old.slots);
    u8* to = arena.at<u8>(wide.slots);
    for (u64 i = 0; i < old.room(); ++i, from += shape.size)
      if (!shape.empty(from)) put(to, wide.mask(), from, shape.hash(from), shape);
    give(arena, old.slots, old.room() * shape.size);
    for (u64 i = 0; i < u64(1) << (depth - old.depth); ++i) (&first)[i] = wide;
  }

  void split(Arena& arena, u64 hash, const Shape& shape) {
    if (leader(arena, hash).depth == depth) deepen(arena);
    Segment& first = leader(arena, hash);
    Segment low = first, high = first;
    u32 bit = 63 - low.depth++;
    ++high.depth;
    high.slots = take(arena, high.room() * shape.size);
    high.count = shape.part(arena.at<u8>(low.slots), arena.at<u8>(high.slots), low.mask(), bit);
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
