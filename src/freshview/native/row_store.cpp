// The rows of a base relation, whatever its columns are: compiled once, for all relations.
//
// Rows are packed records, side by side in blocks: how often a row is there, then its columns. As long
// as rows only come, and no key is declared, they are a log, and nothing is looked up. The first row
// that goes brings an index: a hash table of record numbers, in which every row is once. With a
// declared key there is one from the start, by key. A batch is admitted as a whole: its rows come
// first, then others go, then keys are looked at; where that fails, nothing has changed, and
// `refused` says so. Multiplicities have 31 bits here; a batch with larger ones is refused.
#include "kernel.hpp"

namespace fr {

struct State {
  Strings strings;
  u64 directory;       // an array with the places of the blocks
  u32 blocks, places;  // how many there are, and for how many the directory has room
  u32 made;            // records that were ever written
  u32 live;            // those that count
  u32 free;            // the number of the first dead one, plus 1
  u32 entries;         // of the index
  u64 slots, room;     // the index
  u64 indexed;
};

struct Field {
  Kind kind;
  bool key;
  u32 at, size;  // in a record
};

// What is known of a relation.
struct RowKernel : Kernel {
  RowKernel* next;
  Field* fields;
  Column* columns;  // those of the relation, then the count
  bool *key, *all;
  int width;
  bool keyed;
  u32 stride;
  Relation relation_entry;
  Map map_entry;
  Query queries_entry[2];
};

// A record begins with its count: how often the row is there, or, below 0, the next dead record.
struct Slot {
  u32 tag, number;  // 32 bits of the hash; the record's number plus 1
};

struct Done {  // a step of a batch that may have to be undone
  u32 number, tag;
  i32 by;
};

constexpr u32 FIRST = 64, WHOLE = 65536;  // records of the first block, and of the large ones
constexpr u32 SMALL_BLOCKS = 11;          // blocks that together hold as many as a large one
constexpr i64 AT_ONCE = 256;              // rows that are packed and looked up together
constexpr u32 SAMPLE = 4096;

struct Store {
  Env& env;
  Arena& arena;
  State& s;
  const RowKernel& k;
  char packed[AT_ONCE * 64];  // records on their way, where they are small
  char* rows;
  u32 tag[AT_ONCE];
  bool known[AT_ONCE];        // whether all the texts of a row are here
  u32 picked[AT_ONCE];        // the rows of the batch that they are
  Done* done = nullptr;       // the steps so far, where they may have to be undone
  i64 steps = 0;
  Slot* suspects = nullptr;   // records whose key was there already
  i64 suspected = 0;

  explicit Store(Env& e)
      : env(e), arena(e.arena), s(*e.state), k(*static_cast<const RowKernel*>(e.kernel)) {
    rows = packed;
    if (u64(k.stride) * AT_ONCE > sizeof packed)
      rows = e.scratch.at<char>(e.scratch.take(u64(k.stride) * AT_ONCE));
  }

  // -- records ----------------------------------------------------------------------------------

  static u32 before(u32 block) {  // records of the blocks before one
    if (block > SMALL_BLOCKS) return (block - SMALL_BLOCKS + 1) * WHOLE;
    return block ? FIRST << (block - 1) : 0;
  }
  static u32 block_of(u32 number) {
    if (number >= WHOLE) return SMALL_BLOCKS - 1 + number / WHOLE;
    return number < FIRST ? 0 : 1 + log2_of(number / FIRST);
  }
  static u32 size_of(u32 block) { return before(block + 1) - before(block); }

  char* record(u32 number) const {
    u32 b = block_of(number);
    return arena.at<char>(arena.at<u64>(s.directory)[b]) + u64(number - before(b)) * k.stride;
  }
  static i32 count_of(const char* rec) { i32 n; memcpy(&n, rec, 4); return n; }
  static void set_count(char* rec, i32 n) { memcpy(rec, &n, 4); }

  // Makes sure that the record after the last one has a place.
  void add_block() {
    if (s.blocks == s.places) {
      u32 more = s.places ? 2 * s.places : 16;
      u64 copy = arena.take(u64(more) * 8);
      if (s.places) memcpy(arena.at<u64>(copy), arena.at<u64>(s.directory), u64(s.places) * 8);
      if (s.places) arena.give(s.directory, u64(s.places) * 8);
      s.directory = copy;
      s.places = more;
    }
    arena.at<u64>(s.directory)[s.blocks] = arena.take(u64(size_of(s.blocks)) * k.stride);
    s.blocks++;
  }

  u32 new_record() {
    s.live++;
    if (s.free) {
      u32 number = s.free - 1;
      s.free = u32(~count_of(record(number)));
      if (s.free) fetch(record(s.free - 1));
      return number;
    }
    if (s.made == before(s.blocks)) add_block();
    return s.made++;
  }

  void drop_record(u32 number) {
    set_count(record(number), i32(~s.free));
    s.free = number + 1;
    s.live--;
  }

  // -- rows of a batch as records ---------------------------------------------------------------

  template <class T> void pack(const Field& f, const void* column, char* to, i64 from, i64 n, bool all) {
    const T* values = static_cast<const T*>(column);
    to += f.at;
    if (all) for (i64 i = 0; i < n; i++) memcpy(to + i * k.stride, values + from + i, sizeof(T));
    else for (i64 i = 0; i < n; i++) memcpy(to + i * k.stride, values + picked[i], sizeof(T));
  }

  // Texts get symbols; those that only go are looked for.
  void pack_texts(const Field& f, const void* column, char* to, i64 from, i64 n, bool all, bool comes) {
    const Str* values = static_cast<const Str*>(column);
    to += f.at;
    for (i64 i = 0; i < n; i++) {
      Str text = values[all ? from + i : picked[i]];
      Sym sym{0};
      if (comes) sym = s.strings.put(arena, text);
      else if (!s.strings.find(arena, text, sym)) known[i] = false;
      memcpy(to + i * k.stride, &sym, 8);
    }
  }

  // Packs rows: `n` from one on, or those that are picked; their counts are left out.
  void pack_rows(const Batch& b, char* to, i64 from, i64 n, bool all, bool comes) {
    if (!comes) memset(known, 1, size_t(n));
    for (int c = 0; c < k.width; c++) {
      const Field& f = k.fields[c];
      if (f.kind == Text) pack_texts(f, b.column[c], to, from, n, all, comes);
      else if (f.size == 8) pack<i64>(f, b.column[c], to, from, n, all);
      else if (f.size == 4) pack<i32>(f, b.column[c], to, from, n, all);
      else if (f.size == 1) pack<i8>(f, b.column[c], to, from, n, all);
      else pack<i128>(f, b.column[c], to, from, n, all);
    }
  }

  // -- the index --------------------------------------------------------------------------------

  template <class T> void mix_in(const char* at, i64 n, u64* hash) const {
    for (i64 i = 0; i < n; i++) {
      T x;
      memcpy(&x, at + i * k.stride, sizeof(T));
      hash[i] = mix(hash[i], word(x));
    }
  }

  // The tags of packed rows: of their keys where one is declared.
  void hash_rows(const char* at, i64 n) {
    u64 hash[AT_ONCE];
    for (i64 i = 0; i < n; i++) hash[i] = 0;
    for (int c = 0; c < k.width; c++) {
      const Field& f = k.fields[c];
      if (k.keyed && !f.key) continue;
      if (f.size == 8) mix_in<i64>(at + f.at, n, hash);
      else if (f.size == 4) mix_in<i32>(at + f.at, n, hash);
      else if (f.size == 1) mix_in<i8>(at + f.at, n, hash);
      else mix_in<i128>(at + f.at, n, hash);
    }
    for (i64 i = 0; i < n; i++) tag[i] = u32(hash[i] >> 32);
  }

  // Records are short, and a call costs more than their words; the last one may overlap.
  static u64 word_at(const char* at) { u64 x; memcpy(&x, at, 8); return x; }

  bool same_row(const char* a, const char* b) const {
    const u32 n = k.stride - 4;
    a += 4, b += 4;
    if (n < 8) return !memcmp(a, b, n);
    u64 differs = word_at(a + n - 8) ^ word_at(b + n - 8);
    for (u32 i = 0; i + 8 < n; i += 8) differs |= word_at(a + i) ^ word_at(b + i);
    return !differs;
  }

  void copy_row(char* to, const char* from) const {
    const u32 n = k.stride - 4;
    to += 4, from += 4;
    if (n < 8) {
      for (u32 i = 0; i < n; i++) to[i] = from[i];
      return;
    }
    for (u32 i = 0; i + 8 < n; i += 8) {
      const u64 word = word_at(from + i);
      memcpy(to + i, &word, 8);
    }
    const u64 last = word_at(from + n - 8);
    memcpy(to + n - 8, &last, 8);
  }

  bool same_key(const char* a, const char* b) const {
    for (int c = 0; c < k.width; c++) {
      const Field& f = k.fields[c];
      if (f.key && memcmp(a + f.at, b + f.at, f.size)) return false;
    }
    return true;
  }

  Slot* slots() const { return arena.at<Slot>(s.slots); }

  // Room for so many more, with half of the slots empty at least: most rows that come are new, and
  // their search ends at the first empty one.
  void make_room(u64 more) {
    const u64 wanted = s.entries + more;
    if (s.room && wanted * 2 <= s.room) return;
    u64 wide = s.room ? s.room : 64;
    while (wanted * 2 > wide) wide *= 2;
    u64 copy = arena.take(wide * sizeof(Slot));
    Slot* to = arena.at<Slot>(copy);
    const Slot* from = slots();
    for (u64 i = 0; i < s.room; i++)
      if (from[i].number) place(to, wide - 1, from[i]);
    if (s.room) arena.give(s.slots, s.room * sizeof(Slot));
    s.slots = copy;
    s.room = wide;
  }

  static void place(Slot* all, u64 mask, Slot slot) {
    u64 i = slot.tag & mask;
    while (all[i].number) i = (i + 1) & mask;
    all[i] = slot;
  }

  void enter(u32 number, u32 of) {
    place(slots(), s.room - 1, Slot{of, number + 1});
    s.entries++;
  }

  // Takes a record out of the index; what follows moves back, so that nothing is skipped later.
  void leave(u32 number, u32 of) {
    Slot* all = slots();
    const u64 mask = s.room - 1;
    u64 i = of & mask;
    while (all[i].number != number + 1) i = (i + 1) & mask;
    for (u64 j = i;;) {
      j = (j + 1) & mask;
      if (!all[j].number) break;
      const u64 home = all[j].tag & mask;
      if (((j - home) & mask) < ((j - i) & mask)) continue;  // it would stand before its home
      all[i] = all[j];
      i = j;
    }
    all[i] = Slot{0, 0};
    s.entries--;
  }

  // f(number, record) for the records of a tag, until it says that it has seen enough.
  template <class F> void each(u32 of, F f) const {
    const Slot* all = slots();
    const u64 mask = s.room - 1;
    for (u64 i = of & mask; all[i].number; i = (i + 1) & mask)
      if (all[i].tag == of && f(all[i].number - 1, record(all[i].number - 1))) return;
  }

  // What the rows that are packed now will look at.
  void fetch_slots(i64 n) const {
    const Slot* all = slots();
    const u64 mask = s.room - 1;
    for (i64 i = 0; i < n; i++) fetch(&all[tag[i] & mask]);
    for (i64 i = 0; i < n; i++) {
      const Slot& slot = all[tag[i] & mask];
      if (slot.tag == tag[i] && slot.number) fetch(record(slot.number - 1));
    }
  }

  // Makes the index of a log; equal rows become one.
  __attribute__((noinline)) void index_log() {
    make_room(s.made);
    const u32 made = s.made;
    s.indexed = 1;
    for (u32 from = 0; from < made;) {
      const u32 end = before(block_of(from) + 1);
      i64 n = (end < made ? end : made) - from;
      if (n > AT_ONCE) n = AT_ONCE;
      char* at = record(from);
      hash_rows(at, n);
      fetch_slots(n);
      for (i64 i = 0; i < n; i++) {
        char* rec = at + i * k.stride;
        bool merged = false;
        each(tag[i], [&](u32, char* other) {
          i32 sum;
          if (!same_row(rec, other)) return false;
          if (__builtin_add_overflow(count_of(other), count_of(rec), &sum)) return false;
          set_count(other, sum);
          return merged = true;
        });
        if (merged) drop_record(from + u32(i));
        else enter(from + u32(i), tag[i]);
      }
      from += u32(n);
    }
  }

  // -- changes ----------------------------------------------------------------------------------

  // Rows at the end of the log; nothing is looked up.
  void append(const Batch& b) {
    for (i64 from = 0; from < b.size;) {
      if (s.made == before(s.blocks)) add_block();
      i64 n = before(block_of(s.made) + 1) - s.made;
      if (n > b.size - from) n = b.size - from;
      if (n > AT_ONCE) n = AT_ONCE;  // its columns stay near
      char* at = record(s.made);
      pack_rows(b, at, from, n, true, true);
      for (i64 i = 0; i < n; i++) set_count(at + i * k.stride, i32(b.count[from + i]));
      s.made += u32(n);
      s.live += u32(n);
      from += n;
    }
  }

  // Whether the rows of a batch that goes are the last ones of the log, which are taken off then:
  // a change that a view has refused leaves so.
  bool cut(const Batch& b) {
    if (b.size > s.made) return false;
    const u32 start = s.made - u32(b.size);
    for (int check = 1; check >= 0; check--) {  // the first row first: most others fail there
      for (i64 from = 0; from < (check ? 1 : b.size);) {
        i64 n = b.size - from < AT_ONCE ? b.size - from : AT_ONCE;
        if (check) n = 1;
        pack_rows(b, rows, from, n, true, false);
        for (i64 i = 0; i < n; i++) {
          const char* rec = record(start + u32(from + i));
          if (!known[i] || count_of(rec) != -b.count[from + i]) return false;
          if (!same_row(rec, rows + i * k.stride)) return false;
        }
        from += n;
      }
    }
    s.made = start;
    s.live -= u32(b.size);
    return true;
  }

  // Whether most rows of a log are there several times, by a sample: then they take less as counts.
  __attribute__((noinline)) bool repeats() {
    if (s.made < 1u << 20) return false;
    u32 seen[2 * SAMPLE] = {0};
    i64 again = 0;
    for (u32 i = 0; i < SAMPLE; i++) {
      const char* rec = record(u32(u64(s.made) * i / SAMPLE));
      hash_rows(rec, 1);
      u32 at = tag[0] % (2 * SAMPLE);
      while (seen[at] && seen[at] != (tag[0] | 1)) at = (at + 1) % (2 * SAMPLE);
      again += seen[at] != 0;
      seen[at] = tag[0] | 1;
    }
    // Of d different rows, a sample of m repeats about m * m / 2d; here d is under half of the rows.
    return again > i64(u64(SAMPLE) * SAMPLE / s.made);
  }

  // A row that comes; false where it is there too often to count.
  bool come(const char* row, u32 of, i32 by) {
    Slot* all = slots();
    const u64 mask = s.room - 1;
    u64 i = of & mask;
    u32 number = 0;
    bool doubled = by > 1;
    for (; all[i].number; i = (i + 1) & mask) {
      if (all[i].tag != of) continue;
      char* rec = record(all[i].number - 1);
      if (k.keyed && same_key(rec, row)) doubled = true;
      if (!same_row(rec, row)) continue;
      i32 sum;
      if (__builtin_add_overflow(count_of(rec), by, &sum)) return false;
      set_count(rec, sum);
      number = all[i].number - 1;
      break;
    }
    if (!all[i].number) {
      number = new_record();
      char* rec = record(number);
      copy_row(rec, row);
      set_count(rec, by);
      all[i] = Slot{of, number + 1};
      s.entries++;
    }
    if (done) done[steps++] = Done{number, of, by};
    if (k.keyed && doubled) suspects[suspected++] = Slot{of, number};
    return true;
  }

  // A row that goes; false where it is not there as often. The record stays until all is well.
  bool go(const char* row, u32 of, i32 by) {
    bool good = false;
    each(of, [&](u32 number, char* rec) {
      if (!same_row(rec, row)) return false;
      good = count_of(rec) >= by;
      if (good) set_count(rec, count_of(rec) - by), done[steps++] = Done{number, of, -by};
      return true;
    });
    return good;
  }

  // The rows of a batch that come, or those that go.
  bool take(const Batch& b, bool comes) {
    for (i64 next = 0; next < b.size;) {
      i64 n = 0;
      for (; next < b.size && n < AT_ONCE; next++) {
        picked[n] = u32(next);
        n += (b.count[next] > 0) == comes;
      }
      pack_rows(b, rows, 0, n, false, comes);
      hash_rows(rows, n);
      if (comes) make_room(u64(n));
      fetch_slots(n);
      for (i64 i = 0; i < n; i++) {
        const char* row = rows + i * k.stride;
        const i32 by = i32(b.count[picked[i]]);
        if (!(comes ? come(row, tag[i], by) : known[i] && go(row, tag[i], -by))) return false;
      }
    }
    return true;
  }

  // Whether all the keys that were there already have one row now.
  bool keys_are_single() const {
    for (i64 i = 0; i < suspected; i++) {
      const char* row = record(suspects[i].number);
      i64 rows_of_key = 0;
      each(suspects[i].tag, [&](u32, const char* rec) {
        if (same_key(rec, row)) rows_of_key += count_of(rec);
        return false;
      });
      if (rows_of_key > 1) return false;
    }
    return true;
  }

  void sweep() {  // records that count no more; dead ones have a count below 0
    for (i64 i = 0; i < steps; i++) {
      if (count_of(record(done[i].number))) continue;
      leave(done[i].number, done[i].tag);
      drop_record(done[i].number);
    }
  }

  void undo() {
    for (i64 i = 0; i < steps; i++) {
      char* rec = record(done[i].number);
      set_count(rec, count_of(rec) - done[i].by);
    }
    sweep();
  }

  // Whether there is memory for blocks and the index, should all the rows that come be new.
  bool has_room(u64 rows, bool indexes) const {
    const u64 dead = s.made - s.live, end = s.made + (rows > dead ? rows - dead : 0);
    const u64 entries = (s.indexed ? s.entries : s.made) + rows;
    u64 bytes = 1 << 16, wide = s.room ? s.room : 64;
    for (u32 block = s.blocks; before(block) < end; block++) bytes += u64(size_of(block)) * k.stride;
    while (indexes && entries * 2 > wide) wide *= 2;
    if (indexes && wide != s.room) bytes += wide * sizeof(Slot);
    return arena.prepare(bytes);
  }

  void apply(const Batch& b) {
    i64 gone = 0;
    bool large = u64(s.made) + u64(b.size) > INT32_MAX;
    for (i64 i = 0; i < b.size; i++) {
      gone += b.count[i] < 0;
      large |= b.count[i] > INT32_MAX || b.count[i] < -INT32_MAX;
    }
    if (large) {
      env.refused = true;
      return;
    }
    if (!s.indexed && gone && gone == b.size && cut(b)) return;
    if (!has_room(u64(b.size - gone), s.indexed || k.keyed || gone)) {
      env.full = true;
      return;
    }
    if (!s.indexed && !gone) {
      const u32 last = s.made;
      append(b);
      if (__builtin_expect((last ^ s.made) > last && repeats() && has_room(0, true), 0)) index_log();
      return;
    }
    if (!s.indexed) index_log();
    if (gone || k.keyed) done = env.scratch.at<Done>(env.scratch.take(u64(b.size) * sizeof(Done)));
    if (k.keyed) suspects = env.scratch.at<Slot>(env.scratch.take(u64(b.size) * sizeof(Slot)));
    const bool good = (gone == b.size || take(b, true)) && (!gone || take(b, false)) &&
                      (!suspected || keys_are_single());
    if (!good) undo();
    else if (gone) sweep();
    env.refused = !good;
  }

  // -- reading ----------------------------------------------------------------------------------

  template <class F> void each_record(F f) const {
    for (u32 b = 0, number = 0; number < s.made; b++) {
      const u32 end = before(b + 1) < s.made ? before(b + 1) : s.made;
      const char* rec = record(number);
      for (; number < end; number++, rec += k.stride)
        if (count_of(rec) > 0) f(rec);
    }
  }

  void write(const char* rec, Output& out, i64 at) const {
    for (int c = 0; c < k.width; c++) {
      const Field& f = k.fields[c];
      memcpy(static_cast<char*>(out.column[c]) + at * f.size, rec + f.at, f.size);
    }
  }

  template <class T> void read_column(const Field& f, void* to) const {
    T* out = static_cast<T*>(to);
    each_record([&](const char* rec) { memcpy(out++, rec + f.at, sizeof(T)); });
  }

  // All the rows, then how often each is there.
  void read(Output& out) const {
    while (out.room < i64(s.live)) out.grow();
    out.size = s.live;
    for (int c = 0; c < k.width; c++) {
      const Field& f = k.fields[c];
      if (f.size == 8) read_column<i64>(f, out.column[c]);
      else if (f.size == 4) read_column<i32>(f, out.column[c]);
      else if (f.size == 1) read_column<i8>(f, out.column[c]);
      else read_column<i128>(f, out.column[c]);
    }
    i64* counts = s.live ? static_cast<i64*>(out.column[k.width]) : nullptr;
    each_record([&](const char* rec) { *counts++ = count_of(rec); });
    for (i64 i = 0; i < out.size; i++) out.count[i] = 1;
  }

  // The records like the one row of a batch: with its key, or equal.
  void find(const Batch& wanted, Output& out, bool by_key) {
    if (!s.indexed) index_log();
    picked[0] = 0;
    memset(known, 1, 1);
    for (int c = 0; c < k.width; c++) {
      if (wanted.column[c]) continue;
      memset(rows + k.fields[c].at, 0, k.fields[c].size);
    }
    for (int c = 0; c < k.width; c++) {
      const Field& f = k.fields[c];
      if (!wanted.column[c]) continue;
      if (f.kind == Text) pack_texts(f, wanted.column[c], rows, 0, 1, true, false);
      else memcpy(rows + f.at, wanted.column[c], f.size);
    }
    if (!known[0]) return;
    hash_rows(rows, 1);
    each(tag[0], [&](u32, const char* rec) {
      if (by_key ? !same_key(rec, rows) : !same_row(rec, rows)) return false;
      const i64 at = out.next();
      write(rec, out, at);
      out.count[at] = count_of(rec);
      return false;
    });
  }
};

static void apply_rows(Env& e, const Batch& b) { Store(e).apply(b); }
static void read_all(Env& e, Output& out) { Store(e).read(out); }
static u64 size_of_all(Env& e) { return e.state->live; }
static void read_counted(Env& e, Output& out) {
  Store store(e);
  store.each_record([&](const char* rec) {
    const i64 at = out.next();
    store.write(rec, out, at);
    out.count[at] = Store::count_of(rec);
  });
}
static void find_row(Env& e, const Batch& wanted, Output& out) { Store(e).find(wanted, out, false); }
static void find_key(Env& e, const Batch& wanted, Output& out) { Store(e).find(wanted, out, true); }

static Strings& strings_of(State& s) { return s.strings; }
static void create(Env& e) {
  memset(static_cast<void*>(e.state), 0, sizeof(State));
  if (static_cast<const RowKernel*>(e.kernel)->keyed) Store(e).make_room(1), e.state->indexed = 1;
}
static void ready(Env&) {}
static Watch watch_of(State&) { return {}; }
static f64* gone_of(State&) { return nullptr; }

static RowKernel* all_kernels = nullptr;  // of the relations so far, as long as the process

static bool describes(const RowKernel& k, int width, const Column* columns, const bool* key) {
  if (k.width != width) return false;
  for (int i = 0; i < width; i++) {
    const Column &a = k.columns[i], &b = columns[i];
    if (strcmp(a.name, b.name) || a.kind != b.kind || a.scale != b.scale) return false;
    if (a.nullable != b.nullable || k.key[i] != key[i]) return false;
  }
  return true;
}

// Wide columns first, so that a record has no gaps.
static void lay_out(RowKernel& k) {
  u32 at = 4;
  for (u32 size = 16; size; size /= 2) {
    for (int i = 0; i < k.width; i++) {
      const Kind kind = k.columns[i].kind;
      const u32 bytes = kind == Decimal128 ? 16 : kind == Date ? 4 : kind == Bool ? 1 : 8;
      if (bytes != size) continue;
      k.fields[i] = Field{kind, k.key[i], at, bytes};
      at += bytes;
    }
  }
  k.stride = at;
}

static const Kernel* of_columns(int width, const Column* columns, const bool* key) {
  for (RowKernel* one = all_kernels; one; one = one->next)
    if (describes(*one, width, columns, key)) return one;
  auto* k = static_cast<RowKernel*>(calloc(1, sizeof(RowKernel)));
  if (!k) return nullptr;
  const size_t n = size_t(width) + 1;
  k->fields = static_cast<Field*>(calloc(n, sizeof(Field)));
  k->columns = static_cast<Column*>(calloc(n, sizeof(Column)));
  k->key = static_cast<bool*>(calloc(n, 1));
  k->all = static_cast<bool*>(calloc(n, 1));
  if (!k->fields || !k->columns || !k->key || !k->all) return nullptr;
  k->width = width;
  for (int i = 0; i < width; i++) {
    k->columns[i] = columns[i];
    k->columns[i].name = strdup(columns[i].name);
    if (!k->columns[i].name) return nullptr;
    k->keyed |= k->key[i] = key[i];
    k->all[i] = true;
  }
  k->columns[width] = Column{"", Int, 0, false, true};
  lay_out(*k);
  k->relation_entry = Relation{"rows", width, k->columns, false, apply_rows};
  k->map_entry = Map{"rows", width + 1, k->columns, read_all, size_of_all};
  k->queries_entry[0] = Query{"rows", width, k->columns, read_counted, k->all, find_row};
  k->queries_entry[1] = Query{"keys", width, k->columns, read_counted, k->key, find_key};
  static_cast<Kernel&>(*k) =
      Kernel{1,     k->keyed ? 2 : 1, 1,       &k->relation_entry, k->queries_entry, &k->map_entry,
             sizeof(State), strings_of, create, ready, 0, nullptr, watch_of, gone_of, of_columns};
  k->next = all_kernels;
  return all_kernels = k;
}

const Kernel kernel = {0,      0,     0, nullptr, nullptr,  nullptr, sizeof(State), strings_of,
                       create, ready, 0, nullptr, watch_of, gone_of, of_columns};

}  // namespace fr

#include "boundary.hpp"
