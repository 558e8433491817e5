// A table of the batch: records side by side in the order in which they came, found by key.
//
// It lives in the scratch arena, and as long as a trigger runs: so nothing is ever taken out. A
// record whose payloads have become zero stays where it is, and counts as not there. Records lie in
// blocks that double and never move; a slot holds 32 bits of the hash and a number, so that slots
// are spread anew without a look at the records.
#pragma once

#include "arena.hpp"

namespace fr {

template <class Rec> struct Rows {
  using Key = typename Rec::Key;

  Rows() {}  // the blocks need no value

  // The record, or null.
  template <class K = Key> Rec* find(Arena& arena, const K& key) const {
    if (record_count == 0) return nullptr;
    const Slot& slot = probe(arena, key, Rec::hash(key));
    if (slot.number == 0) return nullptr;
    Rec& rec = record(arena, slot.number - 1);
    return rec.empty() ? nullptr : &rec;
  }

  // The record, or a new one with zero payloads.
  Rec* at(Arena& arena, const Key& key) {
    if (record_count >= room / 2) spread(arena);
    u64 hash = Rec::hash(key);
    Slot& slot = probe(arena, key, hash);
    if (slot.number) return &record(arena, slot.number - 1);
    if (record_count == capacity(blocks)) add_block(arena);
    slot = Slot{tag_of(hash), ++record_count};
    Rec& rec = record(arena, record_count - 1);
    rec.set(key);
    return &rec;
  }

  void drop(Arena&, Rec*) {}  // what is empty is not there

  u64 size() const { return record_count; }  // the empty ones, too

  // f(Rec&) for all records, in the order in which they came.
  template <class F> void each(Arena& arena, F&& f) const {
    each(arena, 0, [](const Rec&) {}, f);
  }

  // The same; `soon` is called with each record, empty ones too, some steps before f is.
  template <class G, class F> void each(Arena& arena, u32 ahead, G&& soon, F&& f) const {
    for (u32 i = 0; i < ahead && i < record_count; ++i) soon(record(arena, i));
    u32 done = 0;
    for (u32 b = 0; b < blocks; ++b) {
      Rec* rec = arena.at<Rec>(block[b]);
      u32 n = (record_count < capacity(b + 1) ? record_count : capacity(b + 1)) - done;
      for (Rec* end = rec + n; rec != end; ++rec, ++done) {
        if (ahead && done + ahead < record_count) soon(record(arena, done + ahead));
        if (!rec->empty()) f(*rec);
      }
    }
  }

 private:
  // Records of the first block: a batch may be a row.
  static constexpr u32 first = sizeof(Rec) > 1024 ? 2 : sizeof(Rec) > 128 ? 4 : 16;
  struct Slot {
    u32 tag, number;  // the record's number + 1
  };

  u64 slots = 0;  // an array of `room`
  u32 room = 0, record_count = 0, blocks = 0;
  u64 block[28];  // `blocks` of them, each of as many records as all before it

  static u32 capacity(u32 blocks) { return blocks ? first << (blocks - 1) : 0; }
  static u32 tag_of(u64 hash) { return u32(hash >> 32); }

  Rec& record(Arena& arena, u32 i) const {
    u32 b = i < first ? 0 : 1 + log2_of(i / first);
    return arena.at<Rec>(block[b])[i - capacity(b)];
  }

  template <class K> Slot& probe(Arena& arena, const K& key, u64 hash) const {
    Slot* all = arena.at<Slot>(slots);
    u32 mask = room - 1, tag = tag_of(hash);
    for (u32 i = tag & mask;; i = (i + 1) & mask) {
      if (all[i].number == 0) return all[i];
      if (all[i].tag == tag && record(arena, all[i].number - 1).is(key)) return all[i];
    }
  }

  __attribute__((noinline)) void spread(Arena& arena) {
    u32 wide = room ? 4 * room : 32;
    u64 copy = arena.take(u64(wide) * sizeof(Slot));
    Slot* to = arena.at<Slot>(copy);
    for (const Slot *from = arena.at<Slot>(slots), *end = from + room; from != end; ++from) {
      if (from->number == 0) continue;
      u32 i = from->tag & (wide - 1);
      while (to[i].number) i = (i + 1) & (wide - 1);
      to[i] = *from;
    }
    if (room) arena.give(slots, u64(room) * sizeof(Slot));
    slots = copy;
    room = wide;
  }

  __attribute__((noinline)) void add_block(Arena& arena) {
    if (blocks == 28) out_of_memory("freshview: a batch makes too many rows for one table.\n");
    block[blocks] = arena.take(u64(blocks ? capacity(blocks) : first) * sizeof(Rec));
    ++blocks;
  }
};

}  // namespace fr
