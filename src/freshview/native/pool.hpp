// A map with further indexes, or of large records: they never move, found by key and by slice.
//
// Records are numbered, and lie in chunks. The primary table holds only 32 bits of the hash and
// the number, so a probe touches one small line before the record itself. Every index is a table
// of list heads; the lists run through the records.
//
//   struct Rec {  // generated, as for Flat, and
//     u32 link[2 * number of heads];  // next and previous of each list, as number + 1; at least 1
//   };
//   struct Head {  // generated, a record of a Flat
//     u32 first, count;               // the payload; `first` is a number + 1
//     static Key of(const R&);        // the slice of a record, or of its key
//     bool empty() const;             // whether there is no first, nor another payload
//   };
#pragma once

#include "flat.hpp"

// In a kernel with hundreds of slices the search of each is called, not repeated: that compiles
// sooner, and is no slower.
#ifdef FRESHVIEW_LARGE
#define FR_CALLED __attribute__((noinline))
#else
#define FR_CALLED
#endif

namespace fr {

template <class... Heads> struct Indexes {
  u64 bytes() const { return 0; }
  void clear(Arena&) {}
  template <class Key> void prefetch(Arena&, const Key&) const {}
};
template <class Head, class... Rest> struct Indexes<Head, Rest...> {
  Flat<Head> heads;
  Indexes<Rest...> rest;

  template <int J> auto& get() {
    if constexpr (J == 0) return heads;
    else return rest.template get<J - 1>();
  }

  u64 bytes() const { return heads.bytes() + rest.bytes(); }

  template <class Key> void prefetch(Arena& arena, const Key& key) const {
    heads.prefetch(arena, Head::hash(Head::of(key)));
    rest.prefetch(arena, key);
  }

  void clear(Arena& arena) {
    heads.clear(arena);
    rest.clear(arena);
  }
};

template <class Rec, class... Heads> struct Pool {
  using Key = typename Rec::Key;
  static constexpr int indexes = sizeof...(Heads);

  // Zeroed memory needs no `init`.
  void init(Arena&) { *this = Pool{}; }

  u64 size() const { return table.size(); }
  u64 bytes() const { return table.bytes() + all.bytes() + held; }

  // The record, or null.
  template <class K = Key> Rec* find(Arena& arena, const K& key) const {
    return find(arena, key, Rec::hash(key));
  }

  template <class K = Key> Rec* find(Arena& arena, const K& key, u64 hash) const {
    Slot* slot = table.find(arena, Wants<K>{arena, *this, key, hash}, hash);
    return slot ? &record(arena, slot->number) : nullptr;
  }

  // The record, or a new one with zero payloads, already in all its lists: then the caller at
  // once makes it non-empty or drops it. Records never move.
  Rec* at(Arena& arena, const Key& key) { return at(arena, key, Rec::hash(key)); }

  Rec* at(Arena& arena, const Key& key, u64 hash) {
    Slot* slot = table.at(arena, Wanted{arena, *this, key, hash}, hash);
    return slot->number ? &record(arena, slot->number) : insert(arena, key, slot);
  }

  // Takes out a record whose payloads are zero.
  __attribute__((noinline)) void drop(Arena& arena, Rec* rec) {
    u64 hash = rec->hash();
    Slot* slot = table.find(arena, Same{arena, *this, rec, tag_of(hash)}, hash);
    u32 number = slot->number;
    unlink<0>(arena, *rec);
    slot->number = 0;
    table.drop(arena, slot);
    memset(static_cast<void*>(rec), 0, sizeof(Rec));
    rec->link[0] = free;
    free = number;
    if (table.size() == 0) free = used = 0;  // so that new records lie side by side again
  }

  // f(Rec&) for all records, in no order; f neither inserts nor drops.
  template <class F> void each(Arena& arena, F&& f) const {
    each(arena, 0, [](const Rec&) {}, f);
  }

  // The same; `soon` is called with most of the records some steps before f is.
  template <class G, class F> void each(Arena& arena, u32 ahead, G&& soon, F&& f) const {
    for (u32 first = 0; first < used; first += per_chunk) {
      Rec* rec = arena.at<Rec>(arena.at<u64>(chunks)[first / per_chunk]);
      u32 n = used - first < per_chunk ? used - first : per_chunk;
      for (Rec* end = rec + n; rec != end; ++rec) {
        if (ahead && end - rec > ahead && !rec[ahead].empty()) soon(rec[ahead]);
        if (!rec->empty()) f(*rec);
      }
    }
  }

  // f(Rec&) for the records of one slice of index J; f neither inserts nor drops.
  template <int J, class K, class F> void slice(Arena& arena, const K& key, F&& f) {
    for (u32 number = first<J>(arena, key); number != 0;) {
      Rec& rec = record(arena, number);
      number = rec.link[2 * J];
      if (number) fetch(&record(arena, number));
      f(rec);
    }
  }

  // The heads of an index, as a map of their own: they may have payloads, which this one ignores.
  template <int J> auto& directory() { return lists<J>(); }

  template <int J> void prefetch_slice(Arena& arena, u64 hash) { lists<J>().prefetch(arena, hash); }

  // Starts to fetch the slot of a record that is looked up soon.
  void prefetch(Arena& arena, u64 hash) const { table.prefetch(arena, hash); }

  // The same for one that comes or goes soon: its lists, too, are changed then.
  void prefetch_write(Arena& arena, const Key& key) const {
    prefetch(arena, Rec::hash(key));
    all.prefetch(arena, key);
  }

  void clear(Arena& arena) {
    table.clear(arena);
    all.clear(arena);
    for (u32 i = 0; i < chunk_count; ++i)
      arena.give(arena.at<u64>(chunks)[i], per_chunk * sizeof(Rec));
    if (room) arena.give(chunks, room * sizeof(u64));
    *this = Pool{};
  }

 private:
  static constexpr u32 log = sizeof(Rec) > 2048 ? 4 : 15 - (64 - __builtin_clzll(sizeof(Rec) - 1));
  static constexpr u32 per_chunk = u32(1) << log;  // about 32 KiB

  static u32 tag_of(u64 hash) { return u32(hash >> 32); }

  template <class K> struct Wants {
    Arena& arena;
    const Pool& pool;
    const K& key;
    u64 hash;
  };
  using Wanted = Wants<Key>;
  struct Same {
    Arena& arena;
    const Pool& pool;
    const Rec* rec;
    u32 tag;
  };

  struct Slot {
    u32 tag, number;  // the record's number + 1

    using Key = Wanted;
    static u64 hash(const Wanted& wanted) { return wanted.hash; }
    u64 hash() const { return u64(tag) << 32; }
    template <class K> bool is(const Wants<K>& wanted) const {
      return tag == tag_of(wanted.hash) && number != 0 &&
             wanted.pool.record(wanted.arena, number).is(wanted.key);
    }
    bool is(const Same& same) const {
      return tag == same.tag && number != 0 && &same.pool.record(same.arena, number) == same.rec;
    }
    void set(const Wanted& wanted) { tag = tag_of(wanted.hash); }
    bool empty() const { return number == 0; }
  };

  Flat<Slot> table;
  Indexes<Heads...> all;
  u64 chunks;  // an array of offsets, `chunk_count` of `room` in use
  u64 held;
  u32 chunk_count, room;
  u32 used;  // numbers below were given out
  u32 free;  // and of those the first that came back, + 1; linked by link[0]

  template <int J> auto& lists() { return all.template get<J>(); }

  // The first record of a slice, as number + 1.
  template <int J, class K> FR_CALLED u32 first(Arena& arena, const K& key) {
    auto* head = lists<J>().find(arena, key);
    return head ? head->first : 0;
  }

  template <class Head> static auto slice_of(Flat<Head>&, const Rec& rec) { return Head::of(rec); }

  Rec& record(Arena& arena, u32 number) const {
    u32 i = number - 1;
    return arena.at<Rec>(arena.at<u64>(chunks)[i >> log])[i & (per_chunk - 1)];
  }

  u32 fresh(Arena& arena) {
    if (free) {
      u32 number = free;
      free = record(arena, number).link[0];
      return number;
    }
    if (used == chunk_count * per_chunk) add_chunk(arena);
    return ++used;
  }

  // Apart from `at`, as `drop` is: kernels call both in many places, and compile sooner so.
  __attribute__((noinline)) Rec* insert(Arena& arena, const Key& key, Slot* slot) {
    u32 number = slot->number = fresh(arena);
    Rec& rec = record(arena, number);
    rec.set(key);
    link<0>(arena, rec, number);
    return &rec;
  }

  __attribute__((noinline, cold)) void add_chunk(Arena& arena) {
    if (u64(used) + per_chunk > ~u32(0)) out_of_memory("freshview: a map has more than four billion rows.\n");
    if (chunk_count == room) {
      u32 wider = room ? 2 * room : 2;
      u64 copy = arena.take(wider * sizeof(u64));
      if (room) {
        memcpy(arena.at<u64>(copy), arena.at<u64>(chunks), room * sizeof(u64));
        arena.give(chunks, room * sizeof(u64));
      }
      held += (wider - room) * sizeof(u64);
      chunks = copy;
      room = wider;
    }
    arena.at<u64>(chunks)[chunk_count++] = arena.take(per_chunk * sizeof(Rec));
    held += per_chunk * sizeof(Rec);
  }

  template <int J> void link(Arena& arena, Rec& rec, u32 number) {
    if constexpr (J < indexes) {
      auto* head = lists<J>().at(arena, slice_of(lists<J>(), rec));
      rec.link[2 * J] = head->first;
      rec.link[2 * J + 1] = 0;
      if (head->first) record(arena, head->first).link[2 * J + 1] = number;
      head->first = number;
      ++head->count;
      link<J + 1>(arena, rec, number);
    }
  }

  template <int J> void unlink(Arena& arena, Rec& rec) {
    if constexpr (J < indexes) {
      auto* head = lists<J>().find(arena, slice_of(lists<J>(), rec));
      u32 next = rec.link[2 * J], previous = rec.link[2 * J + 1];
      if (next) record(arena, next).link[2 * J + 1] = previous;
      (previous ? record(arena, previous).link[2 * J] : head->first) = next;
      --head->count;
      if (head->empty()) lists<J>().drop(arena, head);
      unlink<J + 1>(arena, rec);
    }
  }
};

}  // namespace fr
