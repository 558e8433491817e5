// What has changed in a table since somebody last asked: its records as they were before their
// first change. And what such changes do to an ordered map, all at once.
//
//   struct Rec {  // generated, as for `flat.hpp`, and
//     bool noted;       // whether the journal has it; a new record is not
//     Key key() const;
//   };
#pragma once

#include "ordered.hpp"

namespace fr {

// A block of records is taken when the one before is full, so noting one never moves the others.
// Where more than half of a table has changed, nothing is noted any more: all of it has.
template <class Rec> struct Journal {
  bool is_empty() const { return count == 0 && !whole; }
  bool is_whole() const { return whole; }

  // Called before a record changes, unless it is noted already. `size` is that of the table.
  void note(Arena& arena, Rec& rec, u64 size) {
    if (whole) return;
    if (count >= FEW && count > size / 2) return take_all(arena);
    if (newest == 0 || arena.at<Block>(newest)->size == arena.at<Block>(newest)->room)
      add_block(arena);
    Block& block = *arena.at<Block>(newest);
    records(arena, newest)[block.size++] = rec;
    rec.noted = true;
    ++count;
  }

  // All the records have changed: those that were noted, too.
  void take_all(Arena& arena) {
    forget(arena);
    whole = true;
  }

  // f(const Rec&) for every record as it was; for none where all have changed.
  template <class F> void before(Arena& arena, F&& f) const {
    for (u64 place = newest; place; place = arena.at<Block>(place)->next) {
      const Rec* rec = records(arena, place);
      for (const Rec* end = rec + arena.at<Block>(place)->size; rec != end; ++rec) f(*rec);
    }
  }

  // f(const Rec&) for every record as it is, and then none has changed. A record that went and
  // came again was noted twice, and is there once.
  template <class Table, class F> void after(Arena& arena, const Table& table, F&& f) {
    auto meet = [&](Rec& rec) {
      rec.noted = false;
      f(static_cast<const Rec&>(rec));
    };
    if (whole)
      table.each(arena, meet);
    else
      before(arena, [&](const Rec& old) {
        Rec* rec = table.find(arena, old.key());
        if (rec && rec->noted) meet(*rec);
      });
    forget(arena);
    whole = false;
  }

 private:
  static constexpr u64 FEW = 1024;             // records that are noted whatever the table's size
  static constexpr u64 HEAD = 64;              // bytes before the records of a block
  static constexpr u64 SMALL = 1024, LARGE = 64 * 1024;  // bytes of the first block, and of the last

  struct Block {
    u64 next, bytes;
    u32 size, room;
  };

  u64 newest, count;
  bool whole;

  static Rec* records(Arena& arena, u64 place) { return arena.at<Rec>(place + HEAD); }

  __attribute__((noinline)) void add_block(Arena& arena) {
    u64 bytes = newest == 0 ? SMALL : 2 * arena.at<Block>(newest)->bytes;
    if (bytes > LARGE) bytes = LARGE;
    if (bytes < HEAD + sizeof(Rec)) bytes = HEAD + sizeof(Rec);
    u64 place = arena.take(bytes);
    *arena.at<Block>(place) = Block{newest, bytes, 0, u32((bytes - HEAD) / sizeof(Rec))};
    newest = place;
  }

  void forget(Arena& arena) {
    while (newest) {
      Block block = *arena.at<Block>(newest);
      arena.give(newest, block.bytes);
      newest = block.next;
    }
    count = 0;
  }
};

// f(const Key&, const Val&) for all the entries of an ordered map.
template <class Key, class Val, class F>
inline void each_entry(Arena& arena, const Ordered<Key, Val>& map, F&& f) {
  auto none = [](const Key&) { return false; };
  auto all = [](const Key&) { return true; };
  map.each(arena, none, all, [&](const Key& key, const Val& val) {
    f(key, val);
    return true;
  });
}

// Entries for an ordered map, gathered in scratch memory. Few are added one by one; many are
// sorted together with what the map has, and it is built anew.
template <class Key, class Val> struct Gathered {
  struct Entry {
    Key key;
    Val val;
  };

  void add(Arena& scratch, const Key& key, const Val& val) {
    if (size == room) grow(scratch);
    scratch.at<Entry>(place)[size++] = Entry{key, val};
  }

  void pour(Arena& arena, Arena& scratch, Ordered<Key, Val>& to) {
    if (size < to.size() / MANY) {
      for (u64 i = 0; i < size; ++i) {
        const Entry& x = scratch.at<Entry>(place)[i];
        to.add(arena, x.key, x.val);
      }
      return;
    }
    each_entry(arena, to, [&](const Key& key, const Val& val) { add(scratch, key, val); });
    if (size == 0) return;
    sort(arena, scratch);
    to.build(arena, scratch, scratch.at<Entry>(place), unite(scratch));
  }

 private:
  static constexpr u64 MANY = 8;  // the share of a map from which on building it anew pays
  static constexpr u64 RUN = 12;  // entries that are sorted by insertion

  u64 place = 0, size = 0, room = 0;

  __attribute__((noinline)) void grow(Arena& scratch) {
    u64 wide = room ? 2 * room : 64, copy = scratch.take(wide * sizeof(Entry));
    if (size) memcpy(scratch.at<u8>(copy), scratch.at<u8>(place), size * sizeof(Entry));
    if (room) scratch.give(place, room * sizeof(Entry));
    place = copy;
    room = wide;
  }

  void sort(Arena& arena, Arena& scratch) {
    u64 copy = scratch.take(size * sizeof(Entry));
    Entry *from = scratch.at<Entry>(place), *to = scratch.at<Entry>(copy);
    for (u64 i = 0; i < size; i += RUN) insert(arena, from + i, size - i < RUN ? size - i : RUN);
    for (u64 run = RUN; run < size; run *= 2) {
      for (u64 i = 0; i < size; i += 2 * run)
        merge(arena, from + i, size - i < run ? size - i : run,
              size - i < 2 * run ? size - i : 2 * run, to + i);
      Entry* last = from;
      from = to;
      to = last;
    }
    if (from != scratch.at<Entry>(place)) place = copy;
    room = size;
  }

  static void insert(Arena& arena, Entry* x, u64 n) {
    for (u64 i = 1; i < n; ++i) {
      Entry one = x[i];
      u64 j = i;
      for (; j > 0 && one.key.less(arena, x[j - 1].key); --j) x[j] = x[j - 1];
      x[j] = one;
    }
  }

  // The sorted entries up to `half` and from there to `n`, as sorted entries.
  static void merge(Arena& arena, const Entry* x, u64 half, u64 n, Entry* to) {
    for (u64 i = 0, j = half, k = 0; k < n; ++k)
      to[k] = i < half && (j == n || !x[j].key.less(arena, x[i].key)) ? x[i++] : x[j++];
  }

  // Entries of one key become one, and those of value zero none; gives how many are left.
  u64 unite(Arena& scratch) {
    Entry* x = scratch.at<Entry>(place);
    u64 n = 0;
    for (u64 i = 0; i < size;) {
      Entry one = x[i++];
      while (i < size && x[i].key.is(one.key)) one.val.add(x[i++].val);
      if (!one.val.empty()) x[n++] = one;
    }
    return n;
  }
};

}  // namespace fr
