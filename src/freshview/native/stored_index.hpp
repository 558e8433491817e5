// The index of a row store: row numbers by the hash of some columns.
//
// A slot holds 32 bits of the hash and a row's number, so that slots are spread anew without a look at
// the rows. Eight slots are a bucket, which is a line of memory: a row is in the bucket of its tag, or,
// where that is full, in one that follows, with none but full ones between. What is taken out of a
// full bucket is replaced by what had to go further. A bucket is looked at without a branch for each
// slot. Registers are compared by the compiler's own functions: <immintrin.h>, which has names for them,
// takes 0.2 s to read.
#pragma once

#include "arena.hpp"

namespace fr {

struct Slot {
  u32 tag, row;  // 32 bits of the hash; the row's number plus 1
};

constexpr u32 PER_BUCKET = 8;
constexpr u32 NEAR_BITS = 2;  // tags that differ in no other bits have the same bucket

struct Bucket {
  Slot slot[PER_BUCKET];

  // As bits, two to a slot and the lower one set, the slots of a tag and those that are empty.
  struct Look {
    u32 of_tag, empty;
  };

#if defined(__AVX512F__)
  Look look(u32 tag) const {
    typedef int Words __attribute__((vector_size(64)));
    Words all;
    memcpy(&all, slot, sizeof(all));
    const u32 same = __builtin_ia32_cmpd512_mask(all, Words{} + int(tag), 0, 0xffff);  // 0: equal
    const u32 zero = __builtin_ia32_cmpd512_mask(all, Words{}, 0, 0xffff);
    return of(same, zero);
  }
#elif defined(__SSE2__)
  Look look(u32 tag) const {
    typedef int Words __attribute__((vector_size(16)));
    typedef float Signs __attribute__((vector_size(16)));
    u32 same = 0, zero = 0;
    for (u32 i = 0; i < PER_BUCKET; i += 2) {
      Words two;
      memcpy(&two, slot + i, sizeof(two));
      same |= u32(__builtin_ia32_movmskps(Signs(two == int(tag)))) << 2 * i;
      zero |= u32(__builtin_ia32_movmskps(Signs(two == 0))) << 2 * i;
    }
    return of(same, zero);
  }
#else
  Look look(u32 tag) const {
    u32 same = 0, zero = 0;
    for (u32 i = 0; i < PER_BUCKET; i++) {
      same |= u32(slot[i].tag == tag) << 2 * i;
      zero |= u32(slot[i].row == 0) << (2 * i + 1);
    }
    return of(same, zero);
  }
#endif
  u32 empty() const { return look(0).empty; }

  // Fills a slot. The line is written as a whole: the next row is often put into the same one, and looking
  // at a line of which a part was just written has to wait until that has reached the cache.
  void put(u32 at, Slot x) {
#if defined(__AVX512F__)
    typedef u64 Words __attribute__((vector_size(64)));
    Words all;
    memcpy(&all, slot, sizeof(all));
    all = Words{0, 1, 2, 3, 4, 5, 6, 7} == at ? Words{} + (u64(x.row) << 32 | x.tag) : all;
    memcpy(static_cast<void*>(slot), &all, sizeof(all));
#else
    slot[at] = x;
#endif
  }
  static u32 first(u32 bits) { return u32(__builtin_ctz(bits)) / 2; }

 private:
  // From the halves of slots, as bits, that are the tag, and those that are 0.
  static Look of(u32 same, u32 zero) {
    const u32 halves = 0x5555, empty = zero >> 1 & halves;
    return Look{same & halves & ~empty, empty};
  }
};

struct Index {  // as the state has it
  u64 slots, room;
  u64 entries;
  // Entries of the tag that was looked for, that were not what was looked for; and look-ups. Where
  // there are many to one, the columns do not tell rows apart.
  u64 strays, lookups;
};

struct Slots {
  Arena& arena;
  Index& s;
  u64 visits = 0;  // strays since this was made

  void stray() { s.strays++, visits++; }

  Bucket* all() const { return arena.at<Bucket>(s.slots); }
  u64 mask() const { return s.room / PER_BUCKET - 1; }
  static u64 home(u32 tag, u64 mask) { return (tag >> NEAR_BITS) & mask; }

  // Small tables grow fourfold: what is moved then was moved fewer times before.
  static u64 room_for(u64 room, u64 entries) {
    if (!room) room = 64;
    while (entries * 8 > room * 5) room *= room < 1 << 20 ? 4 : 2;
    return room;
  }

  // Room for so many more, with three slots of eight empty at least. How full buckets are is counted
  // beside them: one that was just written to, slot by slot, is slow to look at as a whole.
  void make_room(u64 more) {
    const u64 wide = room_for(s.room, s.entries + more);
    if (wide == s.room) return;
    const u64 buckets = wide / PER_BUCKET, mask = buckets - 1;
    const u64 copy = arena.take(wide * sizeof(Slot)), counts = arena.take(buckets);
    Bucket *to = arena.at<Bucket>(copy), *from = all();
    u8* filled = arena.at<u8>(counts);
    for (u64 i = 0; i < s.room / PER_BUCKET; i++) {
      for (u32 left = ~from[i].empty() & 0x5555; left; left &= left - 1) {
        const Slot slot = from[i].slot[Bucket::first(left)];
        u64 at = home(slot.tag, mask);
        while (filled[at] == PER_BUCKET) at = (at + 1) & mask;
        to[at].slot[filled[at]++] = slot;
      }
    }
    arena.give(counts, buckets);
    if (s.room) arena.give(s.slots, s.room * sizeof(Slot));
    s.slots = copy;
    s.room = wide;
  }

  // Takes everything out; the room stays, so that another index needs no more.
  void clear() {
    if (s.room) memset(static_cast<void*>(all()), 0, s.room * sizeof(Slot));
    s.entries = s.strays = s.lookups = 0;
  }

  // f(row) for the rows of a tag, until it says that it has seen enough.
  template <class F> void each(u32 tag, F f) const {
    const Bucket* buckets = all();
    for (u64 i = home(tag, mask());; i = (i + 1) & mask()) {
      const Bucket::Look look = buckets[i].look(tag);
      for (u32 left = look.of_tag; left; left &= left - 1)
        if (f(buckets[i].slot[Bucket::first(left)].row - 1)) return;
      if (look.empty) return;
    }
  }

  // Adds a row; f(row) is called for the others of its tag.
  template <class F> void enter(u32 tag, u32 row, F f) {
    Bucket* buckets = all();
    for (u64 i = home(tag, mask());; i = (i + 1) & mask()) {
      const Bucket::Look look = buckets[i].look(tag);
      for (u32 left = look.of_tag; left; left &= left - 1) {
        stray();
        f(buckets[i].slot[Bucket::first(left)].row - 1);
      }
      if (!look.empty) continue;
      buckets[i].put(Bucket::first(look.empty), Slot{tag, row + 1});
      break;
    }
    s.entries++;
    s.lookups++;
  }

  // Where a row is: its bucket, and the slot in it.
  u64 bucket_of(u32 tag, u32 row, u32& slot) const {
    for (u64 i = home(tag, mask());; i = (i + 1) & mask()) {
      for (u32 left = all()[i].look(tag).of_tag; left; left &= left - 1) {
        slot = Bucket::first(left);
        if (all()[i].slot[slot].row == row + 1) return i;
      }
    }
  }

  // A row has moved.
  void renumber(u32 tag, u32 from, u32 to) {
    u32 slot;
    const u64 i = bucket_of(tag, from, slot);
    all()[i].slot[slot].row = to + 1;
  }

  void leave(u32 tag, u32 row) {
    u32 slot;
    u64 i = bucket_of(tag, row, slot);
    bool was_full = !all()[i].empty();
    s.entries--;
    for (u64 j = (i + 1) & mask(); was_full; j = (j + 1) & mask()) {
      Bucket& next = all()[j];
      was_full = !next.empty();
      for (u32 k = 0; k < PER_BUCKET; k++) {
        const u64 further = (j - home(next.slot[k].tag, mask())) & mask();
        if (!next.slot[k].row || further < ((j - i) & mask())) continue;
        all()[i].slot[slot] = next.slot[k];  // it would be here, had there been room
        i = j, slot = k;
        break;
      }
    }
    all()[i].slot[slot] = Slot{0, 0};
  }

  void fetch_slots(const u32* tags, i64 n) const {
    for (i64 i = 0; i < n; i++) fetch(&all()[home(tags[i], mask())]);
  }

  // Whether there were more strays than so many to a look-up, lately.
  bool is_skewed(u64 to_one) {
    const u64 lately = 4 * s.entries + 65536;
    if (s.lookups > lately) s.lookups /= 2, s.strays /= 2;
    return s.strays > to_one * s.lookups + 4096;
  }
};

}  // namespace fr
