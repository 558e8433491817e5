// The index of a row store: row numbers by the hash of some columns.
//
// Open addressing with linear probing; a slot holds 32 bits of the hash and a row's number, so that
// slots are spread anew without a look at the rows. What is taken out leaves no mark: what follows
// moves back.
#pragma once

#include "arena.hpp"

namespace fr {

struct Slot {
  u32 tag, row;  // 32 bits of the hash; the row's number plus 1
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

  Slot* all() const { return arena.at<Slot>(s.slots); }
  u64 mask() const { return s.room - 1; }

  void stray() { s.strays++, visits++; }

  static u64 room_for(u64 room, u64 entries) {
    if (!room) room = 64;
    while (entries * 2 > room) room *= 2;
    return room;
  }

  // Room for so many more, with half of the slots empty at least: most rows that come are new, and
  // their search ends at the first empty one.
  void make_room(u64 more) {
    const u64 wide = room_for(s.room, s.entries + more);
    if (wide == s.room) return;
    const u64 copy = arena.take(wide * sizeof(Slot));
    Slot* to = arena.at<Slot>(copy);
    const Slot* from = all();
    for (u64 i = 0; i < s.room; i++) {
      if (i + 16 < s.room) fetch(&to[from[i + 16].tag & (wide - 1)]);
      if (!from[i].row) continue;
      u64 at = from[i].tag & (wide - 1);
      while (to[at].row) at = (at + 1) & (wide - 1);
      to[at] = from[i];
    }
    if (s.room) arena.give(s.slots, s.room * sizeof(Slot));
    s.slots = copy;
    s.room = wide;
  }

  void clear() {
    if (s.room) arena.give(s.slots, s.room * sizeof(Slot));
    s = Index{};
  }

  // Adds a row; f(row) is called for the others of its tag.
  template <class F> void enter(u32 tag, u32 row, F f) {
    Slot* slots = all();
    u64 i = tag & mask();
    for (; slots[i].row; i = (i + 1) & mask()) {
      if (slots[i].tag != tag) continue;
      stray();
      f(slots[i].row - 1);
    }
    slots[i] = Slot{tag, row + 1};
    s.entries++;
    s.lookups++;
  }

  Slot& slot_of(u32 tag, u32 row) const {
    u64 i = tag & mask();
    while (all()[i].row != row + 1) i = (i + 1) & mask();
    return all()[i];
  }

  void leave(u32 tag, u32 row) {
    Slot* slots = all();
    u64 i = u64(&slot_of(tag, row) - slots);
    for (u64 j = i;;) {
      j = (j + 1) & mask();
      if (!slots[j].row) break;
      const u64 home = slots[j].tag & mask();
      if (((j - home) & mask()) < ((j - i) & mask())) continue;  // it would stand before its home
      slots[i] = slots[j];
      i = j;
    }
    slots[i] = Slot{0, 0};
    s.entries--;
  }

  // f(row) for the rows of a tag, until it says that it has seen enough.
  template <class F> void each(u32 tag, F f) const {
    const Slot* slots = all();
    for (u64 i = tag & mask(); slots[i].row; i = (i + 1) & mask())
      if (slots[i].tag == tag && f(slots[i].row - 1)) return;
  }

  void fetch_slots(const u32* tags, i64 n) const {
    for (i64 i = 0; i < n; i++) fetch(&all()[tags[i] & mask()]);
  }

  // Whether there were more than a few strays to a look-up, lately.
  bool is_skewed() {
    const u64 LATELY = 4 * s.entries + 65536;
    if (s.lookups > LATELY) s.lookups /= 2, s.strays /= 2;
    return s.strays > 8 * s.lookups + 4096;
  }
};

}  // namespace fr
