// The rows of a base relation, whatever its columns are: compiled once, for all relations.
//
// Rows lie in blocks (`stored_rows.hpp`). As long as rows only come, and no key is
// declared, they are a log, and nothing is looked up. With a declared key they are a sorted log as long as
// they come in its order (`stored_order.hpp`), and rows that go are found by a search. The first row that goes
// from a log, or comes out of order, brings an index (`stored_index.hpp`): by the declared key, or by
// one or two columns that tell rows apart, as a sample shows. Where these prove not to, it is by all of them, and
// where that does not help, as rows are there many times, each row is kept once and counted.
//
// A batch is admitted as a whole: its rows come first, then others go, then keys are looked at; where
// that fails, nothing has changed, and `refused` says so. Multiplicities have 31 bits here; a batch
// with larger ones is refused.
#include "stored_index.hpp"
#include "stored_order.hpp"
#include "stored_rows.hpp"

namespace fr {

enum Level : u32 {
  Log,      // no index
  Few,      // an index by one or two columns, or by the declared key
  All,      // by all of them
  Counted,  // the same, and no row is there twice
};

struct State {
  Strings strings;  // empty: texts lie beside the rows; but whoever reads symbols expects it here
  Blocks blocks;
  Index index;
  u32 level;
  i32 by[2];  // the columns of a small index; -1 for none
};

// What is known of a relation.
struct RowKernel : Kernel {
  RowKernel* next;
  Field* fields;
  Column* columns;  // those of the relation, then the count
  bool *key, *all;
  int* key_columns;
  int width, key_width;
  bool keyed;
  bool sortable;  // whether rows are searched for by their keys, as long as these rise
  u64 row_bytes;
  Relation relation_entry;
  Map map_entry;
  Query queries_entry[2];
};

struct Done {  // a step of a batch that may have to be undone
  u32 row, tag;
  i32 by;
};

constexpr i64 NEAR = 32;  // rows that go, compared together
constexpr u32 SAMPLE = 2048;
constexpr u64 FEW_HOLES = 1024;  // that a sorted log may have whatever its size

enum class Outcome { Well, Refused, Skewed };

struct Store {
  Env& env;
  State& s;
  const RowKernel& k;
  Records records;
  Slots slots;
  Ordered order;
  Done* done = nullptr;      // steps so far
  i64 steps = 0, done_room = 0;
  i64 expected = 0;          // how many there will be, most likely
  Done* suspects = nullptr;  // rows whose key was there already
  i64 suspected = 0;
  i64 entered = 0;           // rows of this batch that are in the index, each a row of its own
  u32 tag[AT_ONCE];

  explicit Store(Env& e)
      : env(e), s(*e.state), k(*static_cast<const RowKernel*>(e.kernel)),
        records{e.arena, s.blocks, k.fields, k.width}, slots{e.arena, s.index},
        order{records, k.key_columns, k.key_width} {}

  // -- the index --------------------------------------------------------------------------------

  bool is_hashed(int c) const {
    if (k.keyed) return k.fields[c].key;
    return s.level >= All || c == s.by[0] || c == s.by[1];
  }

  // Tags are hashes, but for the last bits, which are those of the last integer: numbers that follow
  // each other, as keys do in most streams, are in the same bucket. Three bits more, or as many of
  // the first integer if there are several, are added to the bucket's number in its run of eight: what
  // comes next is in the next line.
  template <class F> void hash(i64 n, F mix_column) {
    constexpr u32 STEPS = 8, STEP_BITS = 3;
    u64 hash[AT_ONCE], near[AT_ONCE], step[AT_ONCE];
    for (i64 i = 0; i < n; i++) hash[i] = near[i] = step[i] = 0;
    int first = -1, last = -1;
    for (int c = 0; c < k.width; c++) {
      if (!is_hashed(c) || k.fields[c].kind != Int) continue;
      if (first < 0) first = c;
      last = c;
    }
    const bool one = first == last;
    for (int c = 0; c < k.width; c++)
      if (is_hashed(c) && c != first && c != last) mix_column(c, hash, Records::Apart{nullptr, 0});
    if (!one) mix_column(first, hash, Records::Apart{step, STEP_BITS});
    if (last >= 0) mix_column(last, hash, Records::Apart{near, one ? NEAR_BITS + STEP_BITS : NEAR_BITS});
    for (i64 i = 0; i < n; i++) {
      if (one) step[i] = near[i] >> NEAR_BITS;
      if (last < 0) near[i] = hash[i];
      const u32 high = u32(hash[i] >> 32);
      tag[i] = ((high & ~(STEPS - 1)) | ((high + u32(step[i])) & (STEPS - 1))) << NEAR_BITS |
               u32(near[i] & ((1 << NEAR_BITS) - 1));
    }
  }
  void hash_batch_rows(const Batch& b, const u32* rows, i64 n) {
    hash(n, [&](int c, u64* out, Records::Apart apart) { records.mix_batch_rows(b, c, rows, n, out, apart); });
  }
  void hash_stored(const Block& b, u32 from, i64 n) {
    hash(n, [&](int c, u64* out, Records::Apart apart) { records.mix_stored(b, from, c, n, out, apart); });
  }

  // f(block, its number, from, n) for the rows of all blocks, some at a time.
  template <class F> void each_run(F f) const {
    for (u32 number = 0; number < s.blocks.count; number++) {
      if (!records.is_block(number)) continue;
      Block& b = records.block(number);
      for (u32 from = 0; from < b.used; from += AT_ONCE)
        f(b, number, from, b.used - from < AT_ONCE ? b.used - from : u32(AT_ONCE));
    }
  }

  // Columns by which rows can be told apart, by a sample; false where no two of them will do.
  bool choose_columns() {
    u32 rows[SAMPLE];
    const u32 n = sample(rows);
    // Of d different values, a sample of n repeats about n * n / 2d; here d is that of the rows, or more.
    const u64 most = u64(n) * n / (2 * s.blocks.live + 1) + n / 64;
    s.by[0] = s.by[1] = -1;
    int best = 0;
    u64 least = ~u64(0);
    for (int c = 0; c < k.width; c++) {
      const u64 again = 2 * repeated(rows, n, c, -1) + (k.fields[c].kind == Text);
      if (again < least) least = again, best = c;
    }
    s.by[0] = best;
    if (least / 2 <= most) return true;
    least = ~u64(0);
    for (int c = 0; c < k.width; c++) {
      if (c == s.by[0]) continue;
      const u64 again = repeated(rows, n, s.by[0], c);
      if (again < least) least = again, best = c;
    }
    if (best != s.by[0]) s.by[1] = best;
    return least <= most;
  }

  // The numbers of some rows that count, evenly from everywhere.
  u32 sample(u32* out) const {
    u64 used = 0, seen = 0;
    u32 n = 0;
    each_run([&](Block&, u32, u32, u32 some) { used += some; });
    each_run([&](Block& b, u32 number, u32 from, u32 some) {
      for (u32 i = 0; i < some; i++, seen++)
        if (n < SAMPLE && seen * SAMPLE >= n * used && records.spot(b, from + i).count() > 0)
          out[n++] = Records::number_of(number, from + i);
    });
    return n;
  }

  // How many of the rows have what another one has in one or two columns, or, with -2, in all.
  u64 repeated(const u32* rows, u32 n, int one, int other) const {
    u32 seen[2 * SAMPLE] = {0};
    u64 again = 0;
    for (u32 i = 0; i < n; i++) {
      const Spot x = records.spot(rows[i]);
      u64 hash = 0;
      for (int c = 0; c < k.width; c++)
        if (one == -2 || c == one || c == other) hash = mix(hash, records.word_at(x, c));
      const u32 wanted = u32(hash >> 32) | 1;
      u32 at = wanted / 2 % (2 * SAMPLE);
      while (seen[at] && seen[at] != wanted) at = (at + 1) % (2 * SAMPLE);
      again += seen[at] != 0;
      seen[at] = wanted;
    }
    return again;
  }

  // Whether the index is of little use. With a declared key, that shows in a batch with many rows of one
  // key alone, and the batch is refused: where all of them shall go but one, it is looked at as a net
  // change.
  bool is_skewed() { return s.level < Counted && slots.is_skewed(k.keyed ? 8 : 1); }

  // Makes the index anew; false where its columns do not tell rows apart.
  bool build(Level level) {
    slots.clear();
    s.level = Log;
    slots.make_room(s.blocks.live);
    s.level = level;
    bool good = true;
    each_run([&](Block& b, u32 number, u32 from, u32 n) {
      if (!good) return;
      hash_stored(b, from, n);
      slots.fetch_slots(tag, n);
      for (u32 i = 0; i < n; i++) {
        const u32 row = Records::number_of(number, from + i);
        if (records.count(row) <= 0 || (level == Counted && merge(row, tag[i]))) continue;
        slots.enter(tag[i], row, [](u32) {});
      }
      good = !is_skewed();
    });
    return good;
  }

  // Counts a row with one that equals it, if there is one.
  bool merge(u32 row, u32 of) {
    bool merged = false;
    const Spot x = records.spot(row);
    slots.each(of, [&](u32 other) {
      i32 sum;
      if (!records.same_stored(records.spot(other), x, false)) return false;
      if (__builtin_add_overflow(records.count(other), records.count(row), &sum)) return false;
      records.count(other) = sum;
      return merged = true;
    });
    if (merged) bury(row);
    return merged;
  }

  void bury(u32 row) {
    records.count(row) = -1;
    records.block(row >> 16).live--;
    s.blocks.live--;
  }

  // The first index, or a better one than that which there is.
  __attribute__((noinline)) void climb(u32 level) {
    const bool was_sorted = s.blocks.sorted;
    if (was_sorted) forget_order();
    const bool tells_apart = (level <= Few && (k.keyed || choose_columns()) && build(Few)) ||
                             (level <= All && build(All));
    if (!tells_apart) build(Counted);
    if (tells_apart && !was_sorted) return;
    for (u32 number = 0; number < s.blocks.count; number++)
      if (records.is_block(number)) tidy(number);
  }

  void forget_order() {
    s.blocks.sorted = false;
    s.blocks.holes = 0;
    for (u32 number = 0; number < s.blocks.count; number++)
      if (records.is_block(number)) records.free_fences(records.block(number));
  }

  // -- steps of a batch -------------------------------------------------------------------------

  void note(Done step) {
    if (steps == done_room) {
      const i64 more = done_room ? 2 * done_room : expected + 16;
      Done* copy = env.scratch.at<Done>(env.scratch.take(u64(more) * sizeof(Done)));
      if (steps) memcpy(copy, done, size_t(steps) * sizeof(Done));
      done = copy;
      done_room = more;
    }
    done[steps++] = step;
  }

  // f(given, i) for rows of a batch, some at a time: which they are, and the first of them. Their tags
  // are known then, and their slots asked for.
  template <class F> void each_hashed(const Batch& b, Picked rows, i64 n, F f) {
    u32 room[AT_ONCE];
    for (i64 from = 0; from < n; from += AT_ONCE) {
      const i64 some = n - from < AT_ONCE ? n - from : AT_ONCE;
      const u32* batch_rows = rows.from(from).listed(some, room);
      hash_batch_rows(b, batch_rows, some);
      slots.fetch_slots(tag, some);
      if (!f(batch_rows, from, some)) return;
    }
  }

  // f(number, tag, i) for the rows of a batch that were added, in their order.
  template <class F> void each_added(const Batch& b, Picked rows, u32 number, i64 n, F f) {
    each_hashed(b, rows, n, [&](const u32*, i64 from, i64 some) {
      for (i64 i = 0; i < some; i++) f(number + u32(from + i), tag[i], from + i);
      return true;
    });
  }

  // Rows that come, each of them a row of its own.
  Outcome add(const Batch& b, Picked rows, i64 n) {
    slots.make_room(u64(n));
    bool skewed = false;
    records.append(b, rows, n, [&](u32 number, i64 from, i64 some) {
      if (skewed) return;
      enter(b, rows.from(from), number, some);
      skewed = is_skewed();
    });
    return skewed ? Outcome::Skewed : Outcome::Well;
  }

  void enter(const Batch& b, Picked rows, u32 number, i64 n) {
    each_hashed(b, rows, n, [&](const u32* batch_rows, i64 from, i64 some) {
      for (i64 i = 0; i < some; i++) {
        const u32 row = number + u32(from + i);
        bool doubled = k.keyed && b.count[batch_rows[i]] > 1;
        slots.enter(tag[i], row, [&](u32 other) {
          doubled |= k.keyed && !doubled && records.same_key(records.spot(other), b, batch_rows[i]);
        });
        if (doubled) suspects[suspected++] = Done{row, tag[i], 0};
      }
      return true;
    });
    entered += n;
  }

  // The same where equal rows are counted.
  Outcome count(const Batch& b, Picked rows, i64 n) {
    bool fits = true;
    slots.make_room(u64(AT_ONCE));
    each_hashed(b, rows, n, [&](const u32* batch_rows, i64 from, i64 some) {
      for (i64 i = 0; fits && i < some; i++) {
        const i32 by = i32(b.count[batch_rows[i]]);
        bool is_counted = false;
        slots.each(tag[i], [&](u32 row) {
          if (!records.same_row(records.spot(row), b, batch_rows[i])) return false;
          i32 sum;
          fits = !__builtin_add_overflow(records.count(row), by, &sum);
          if (fits) records.count(row) = sum, note(Done{row, tag[i], by});
          return is_counted = true;
        });
        if (is_counted) continue;
        records.append(b, rows.from(from + i), 1, [&](u32 row, i64, i64) {
          slots.enter(tag[i], row, [](u32) {});
          note(Done{row, tag[i], by});
        });
      }
      slots.make_room(u64(AT_ONCE));  // for the next ones
      return fits;
    });
    return fits ? Outcome::Well : Outcome::Refused;
  }

  // A row that goes; false where it is not there as often.
  bool go(const Batch& b, i64 batch_row, u32 of, i32 by) {
    slots.each(of, [&](u32 row) {
      i32& count = records.count(row);
      slots.stray();
      if (count <= 0 || !records.same_row(records.spot(row), b, batch_row)) return false;
      const i32 some = count < by ? count : by;
      count -= some;
      note(Done{row, of, -some});
      return (by -= some) == 0;
    });
    return by == 0;
  }

  // Rows that go.
  Outcome remove(const Batch& b, Picked rows, i64 n) {
    Outcome out = Outcome::Well;
    each_hashed(b, rows, n, [&](const u32* batch_rows, i64, i64 some) {
      s.index.lookups += u64(some);
      for (i64 i = 0; out == Outcome::Well && i < some; i += NEAR)
        if (!remove_few(b, batch_rows + i, tag + i, some - i < NEAR ? some - i : NEAR)) out = Outcome::Refused;
      if (out == Outcome::Well && is_skewed()) out = Outcome::Skewed;
      return out == Outcome::Well;
    });
    return out;
  }

  // Of most rows that go, the first row of the tag is the one.
  bool remove_few(const Batch& b, const u32* batch_rows, const u32* tags, i64 n) {
    u32 first[NEAR];
    for (i64 i = 0; i < n; i++) {
      first[i] = NO_ROW;
      slots.each(tags[i], [&](u32 row) { return first[i] = row, true; });
    }
    return take_out(b, batch_rows, tags, first, n);
  }

  // Takes rows out, which are most likely these; others of the tags are looked at where they are not. They are
  // compared together, column by column. There are so few of them that all they touch stays near.
  bool take_out(const Batch& b, const u32* batch_rows, const u32* tags, const u32* first, i64 n) {
    Spot spots[NEAR];
    u8 same[NEAR];
    for (i64 i = 0; i < n; i++) {
      if (first[i] == NO_ROW) return false;
      spots[i] = records.spot(first[i]);
      same[i] = true;
    }
    records.fetch_rows(spots, n);
    records.compare(spots, b, batch_rows, n, same);
    for (i64 i = 0; i < n; i++) {
      const i32 by = -i32(b.count[batch_rows[i]]);
      i32& count = records.count(first[i]);
      if (same[i] && count >= by) count -= by, note(Done{first[i], tags ? tags[i] : 0, -by});
      else if (!tags || !go(b, batch_rows[i], tags[i], by)) return false;
    }
    return true;
  }

  // Whether all the keys that were there already have one row now.
  bool keys_are_single() const {
    for (i64 i = 0; i < suspected; i++) {
      const Spot x = records.spot(suspects[i].row);
      i64 rows_of_key = 0;
      slots.each(suspects[i].tag, [&](u32 row) {
        const i32 count = records.count(row);
        if (count > 0 && records.same_stored(records.spot(row), x, true)) rows_of_key += count;
        return false;
      });
      if (rows_of_key > 1) return false;
    }
    return true;
  }

  // Rows that count no more leave the index, and their places.
  void sweep() {
    for (i64 i = 0; i < steps; i++) {
      if (records.count(done[i].row)) continue;
      slots.leave(done[i].tag, done[i].row);
      bury(done[i].row);
    }
  }

  // Moves what is left of a block elsewhere, where most of it is holes.
  void tidy(u32 number) {
    if (!records.is_block(number) || number + 1 == s.blocks.open) return;
    Block& b = records.block(number);
    if (u64(b.live) * 2 > b.used) return;
    if (b.live && !can_move(b)) return;
    if (b.live) move(b, number);
    records.free_block(number);
  }

  bool can_move(const Block& b) const {
    const u64 rows = u64(records.next_room(b.live)) + b.live + room_to_lay_out();
    const u64 bytes = (rows * k.row_bytes + records.text_bytes(b)) * 5 / 4 + (1 << 20);
    return env.arena.prepare(bytes) && env.scratch.prepare(u64(b.live) * 2 * k.row_bytes + (1 << 20));
  }

  __attribute__((noinline)) void move(Block& b, u32 number) {
    u32* left = env.scratch.at<u32>(env.scratch.take(u64(b.live + 1) * 4));
    i64 n = 0;
    for (u32 i = 0; i < b.used; i++) {
      left[n] = i;
      n += records.spot(b, i).count() > 0;
    }
    const Batch rest = records.as_batch(b, left, n, env.scratch);
    const Picked all{nullptr, 0};
    records.append(rest, all, n, [&](u32 to, i64 from, i64 some) {
      each_added(rest, all.from(from), to, some, [&](u32 row, u32 of, i64 i) {
        slots.renumber(of, Records::number_of(number, left[from + i]), row);
      });
    });
    s.blocks.live -= u64(n);  // they were there before
  }

  // Leaves everything as it was before the batch, whose rows came after a mark.
  __attribute__((noinline)) void undo(const Batch& b, Picked rows, const Mark& mark) {
    for (i64 i = steps; i-- > 0;) {
      records.count(done[i].row) -= done[i].by;
      if (records.count(done[i].row) == 0) {  // it was new
        slots.leave(done[i].tag, done[i].row);
        bury(done[i].row);
      }
    }
    if (s.level < Counted) {
      each_after(mark, [&](u32 number, u32 n) {
        const i64 known = entered < n ? entered : n;
        each_added(b, rows, number, known, [&](u32 row, u32 of, i64) { slots.leave(of, row); });
        rows = rows.from(n);
        entered -= known;
        s.blocks.live -= n;
        records.block(number >> 16).live -= n;
      });
    }
    records.rewind(mark);
    steps = suspected = 0;
  }

  // f(number, n) for the runs of rows that came after a mark, in their order.
  template <class F> void each_after(const Mark& mark, F f) const {
    u32 n = 0, left;
    auto each_later = [&](auto g) {
      for (u32 open = s.blocks.open; open != mark.open; open = records.block(open - 1).before) g(open - 1);
    };
    each_later([&](u32) { n++; });
    u32* later = env.scratch.at<u32>(env.scratch.take(u64(n + 1) * 4));
    left = n;
    each_later([&](u32 number) { later[--left] = number; });
    if (mark.open) {
      const u32 number = mark.open - 1, used = records.block(number).used;
      if (used > mark.used) f(Records::number_of(number, mark.used), used - mark.used);
    }
    for (u32 i = 0; i < n; i++) f(Records::number_of(later[i], 0), records.block(later[i]).used);
  }

  // What is left to do after a batch that was admitted.
  void settle(const Mark& mark) {
    sweep();
    for (i64 i = 0; i < steps; i++)
      if (!i || done[i].row >> 16 != done[i - 1].row >> 16) tidy(done[i].row >> 16);
    if (mark.open) tidy(mark.open - 1);
    if (s.blocks.open && records.open().used && !records.open().live)
      records.rewind(Mark{s.blocks.open, 0, 0, 0, 0});
  }

  // -- a log ------------------------------------------------------------------------------------

  // Whether the rows of a batch that goes are the last ones of the log, which are cut off then: a
  // change that a view has refused leaves so.
  bool cut(const Batch& b) {
    if (u64(b.size) > s.blocks.live) return false;
    Mark start = records.mark();
    for (u64 left = u64(b.size);;) {
      const Block& last = records.block(start.open - 1);
      const u32 used = start.used;
      start = Mark{start.open, used > left ? u32(used - left) : 0, last.texts, last.text_at, last.text_end};
      left -= used - start.used;
      if (!left) break;
      start.open = last.before;
      start.used = records.block(start.open - 1).used;
    }
    if (!ends_with(b, start, 1) || !ends_with(b, start, b.size)) return false;
    const Mark& known = s.blocks.last;
    if (known.open == start.open && known.used == start.used) start = known;
    else if (!start.used) start.texts = start.text_at = start.text_end = 0;
    const u32 used = records.block(start.open - 1).used;
    s.blocks.live -= u64(b.size);
    records.rewind(start);
    records.open().live -= used - start.used;
    return true;
  }

  // Whether the log has the first rows of a batch from a mark on. Most batches that are not the last
  // one differ in the first row.
  bool ends_with(const Batch& b, const Mark& start, i64 size) const {
    bool same = true;
    i64 batch_row = 0;
    each_after(start, [&](u32 number, u32 n) {
      for (u32 i = 0; same && i < n && batch_row < size; i++, batch_row++) {
        same = records.count(number + i) == -b.count[batch_row] &&
               records.same_row(records.spot(number + i), b, batch_row);
      }
    });
    return same;
  }

  // Whether most rows of a log are there several times, by a sample: then they take less as counts.
  __attribute__((noinline)) bool repeats() const {
    if (s.blocks.live < 1u << 20) return false;
    u32 rows[SAMPLE];
    const u64 n = sample(rows);
    // Of d different rows, a sample of n repeats about n * n / 2d; here d is under half of the rows.
    return repeated(rows, u32(n), -2, -2) > n * n / s.blocks.live;
  }

  void log(const Batch& b) {
    const u64 before = s.blocks.live;
    s.blocks.last = records.mark();
    records.append(b, Picked{nullptr, 0}, b.size, [](u32, i64, i64) {});
    if (__builtin_expect((before ^ s.blocks.live) > before && repeats() && has_room(b, 0, true), 0))
      climb(Counted);
  }

  // -- a sorted log -----------------------------------------------------------------------------

  // A batch whose rows that come have keys that rise: no key is there twice.
  void apply_sorted(const Batch& b, Picked comes, Picked goes, i64 gone) {
    const Mark mark = records.mark();
    if (!gone) s.blocks.last = mark;
    records.append(b, comes, b.size - gone, [&](u32 number, i64 from, i64 some) {
      order.fence(b, comes.from(from), number, some);
    });
    if (gone && !remove_sorted(b, goes, gone)) {
      undo(b, comes, mark);
      env.refused = true;
      return;
    }
    leave_holes();
    if (s.blocks.holes > s.blocks.live + FEW_HOLES && has_room(b, 0, true)) climb(Few);
  }

  bool remove_sorted(const Batch& b, Picked rows, i64 n) {
    u32 room[AT_ONCE], places[AT_ONCE];
    for (i64 from = 0; from < n; from += AT_ONCE) {
      const i64 some = n - from < AT_ONCE ? n - from : AT_ONCE;
      const u32* batch_rows = rows.from(from).listed(some, room);
      order.find(b, batch_rows, some, places);
      for (i64 i = 0; i < some; i += NEAR)
        if (!take_out(b, batch_rows + i, nullptr, places + i, some - i < NEAR ? some - i : NEAR)) return false;
    }
    return true;
  }

  void leave_holes() {
    for (i64 i = 0; i < steps; i++) {
      if (records.count(done[i].row)) continue;
      bury(done[i].row);
      s.blocks.holes++;
    }
    if (!s.blocks.open || records.open().live || !records.open().used) return;
    s.blocks.holes -= records.open().used;
    s.blocks.last = Mark{0, 0, 0, 0, 0};
    records.rewind(Mark{s.blocks.open, 0, 0, 0, 0});
  }

  // -- a batch ----------------------------------------------------------------------------------

  // Whether there is memory for so many rows of a batch, and for the index.
  bool has_room(const Batch& b, i64 rows, bool indexes) const {
    u64 bytes = 1 << 16;
    if (rows) {
      bytes += (u64(rows) + records.next_room(u64(rows)) + room_to_lay_out()) * k.row_bytes;
      for (int c = 0; c < k.width; c++) {
        if (k.fields[c].kind != Text) continue;
        bytes += 1 << 10;
        if (b.form_of(c) == Plain)
          for (i64 i = 0; i < b.size; i++) bytes += text_of(b, c, i).size;
        else
          bytes += u64(text_of(b, c, b.size - 1).at - text_of(b, c, 0).at) + text_of(b, c, b.size - 1).size;
      }
      bytes += bytes / 4;
    }
    const u64 entries = (s.level ? s.index.entries : s.blocks.live) + u64(rows);
    const u64 wide = Slots::room_for(s.index.room, entries);
    if (indexes && wide != s.index.room) bytes += wide * sizeof(Slot) * 5 / 4;
    return env.arena.prepare(bytes);
  }

  // Rows that may have to be laid out anew, as others need wider columns.
  u64 room_to_lay_out() const { return s.blocks.open ? records.open().room : 0; }

  // Makes lists of the rows that come and of those that go.
  void split(const Batch& b, u32* comes, u32* goes) const {
    for (i64 i = 0; i < b.size; i++) {
      const bool is_new = b.count[i] > 0;
      *comes = *goes = u32(i);
      comes += is_new;
      goes += !is_new;
    }
  }

  void apply(const Batch& b) {
    i64 gone = 0;
    bool large = s.blocks.live + u64(b.size) > INT32_MAX ||
                 s.blocks.count + u64(b.size) / MOST_ROWS > 0xff00;
    for (i64 i = 0; i < b.size; i++) {
      gone += b.count[i] < 0;
      large |= b.count[i] > INT32_MAX || b.count[i] < -INT32_MAX;
    }
    if (large) {
      env.refused = true;
      return;
    }
    if (!s.level && gone && gone == b.size && cut(b)) return;
    const bool sorted = s.blocks.sorted && order.rises(b);
    if (!has_room(b, b.size - gone, !sorted && (s.level || gone || k.keyed))) {
      env.full = true;
      return;
    }
    if (!s.level && !gone && !k.keyed) return log(b);
    if (!s.level && !sorted) {
      climb(Few);
      if (!has_room(b, b.size - gone, true)) {
        env.full = true;
        return;
      }
    }
    Picked comes{nullptr, 0}, goes{nullptr, 0};
    if (gone && gone < b.size) {
      u32* lists = env.scratch.at<u32>(env.scratch.take(u64(2 * b.size + 2) * 4));
      comes.list = lists;
      goes.list = lists + b.size - gone + 1;
      split(b, lists, lists + b.size - gone + 1);
    }
    expected = s.level == Counted ? b.size : gone;
    if (sorted) return apply_sorted(b, comes, goes, gone);
    if (k.keyed) suspects = env.scratch.at<Done>(env.scratch.take(u64(b.size) * sizeof(Done)));
    change(b, comes, goes, gone);
    env.visits += slots.visits;
  }

  // Applies a batch, with a better index if need be.
  void change(const Batch& b, Picked comes, Picked goes, i64 gone) {
    for (;;) {
      const Mark mark = records.mark();
      const u64 strays = s.index.strays, lookups = s.index.lookups;
      const i64 n = b.size - gone;
      Outcome out = Outcome::Well;
      if (n) out = s.level == Counted ? count(b, comes, n) : add(b, comes, n);
      if (gone && out == Outcome::Well) out = remove(b, goes, gone);
      if (out == Outcome::Well && suspected && !keys_are_single()) out = Outcome::Refused;
      if (out == Outcome::Well) return settle(mark);
      undo(b, comes, mark);
      s.index.strays = strays, s.index.lookups = lookups;
      env.refused = out == Outcome::Refused || k.keyed;
      if (env.refused) return;
      climb(s.level + 1);
    }
  }

  // -- reading ----------------------------------------------------------------------------------

  template <class F> void each_row(F f) const {
    each_run([&](Block& b, u32, u32 from, u32 n) {
      for (u32 i = from; i < from + n; i++) {
        const Spot x = records.spot(b, i);
        if (x.count() > 0) f(x);
      }
    });
  }

  void write(Spot x, Output& out, i64 at) const {
    for (int c = 0; c < k.width; c++) {
      void* const column = out.column[c];
      switch (k.fields[c].kind) {
        case Decimal128: static_cast<i128*>(column)[at] = x.decimal(c); break;
        case Date: static_cast<i32*>(column)[at] = x.date(c); break;
        case Bool: static_cast<i8*>(column)[at] = x.get<i8>(c); break;
        case Text: static_cast<Sym*>(column)[at] = x.symbol(c); break;
        default: static_cast<i64*>(column)[at] = x.integer(c);
      }
    }
  }

  template <class T, class Value> void read_column(void* to, Value value) const {
    T* out = static_cast<T*>(to);
    each_row([&](Spot x) { *out++ = value(x); });
  }

  // All the rows, then how often each is there.
  void read(Output& out) const {
    while (out.room < i64(s.blocks.live)) out.grow();
    out.size = i64(s.blocks.live);
    if (!out.size) return;
    for (int c = 0; c < k.width; c++) {
      void* const column = out.column[c];
      switch (k.fields[c].kind) {
        case Decimal128: read_column<i128>(column, [=](Spot x) { return x.decimal(c); }); break;
        case Date: read_column<i32>(column, [=](Spot x) { return x.date(c); }); break;
        case Bool: read_column<i8>(column, [=](Spot x) { return x.get<i8>(c); }); break;
        case Text: read_column<Sym>(column, [=](Spot x) { return x.symbol(c); }); break;
        default: read_column<i64>(column, [=](Spot x) { return x.integer(c); });
      }
    }
    i64* counts = static_cast<i64*>(out.column[k.width]);
    each_row([&](Spot x) { *counts++ = x.count(); });
    for (i64 i = 0; i < out.size; i++) out.count[i] = 1;
  }

  // The rows like the one of a batch: with its key, or equal.
  void find(const Batch& wanted, Output& out, bool by_key) {
    const u32 only = 0;
    auto tell = [&](u32 row) {
      const Spot x = records.spot(row);
      if (by_key ? !records.same_key(x, wanted, 0) : !records.same_row(x, wanted, 0)) return false;
      const i64 at = out.next();
      write(x, out, at);
      out.count[at] = records.count(row);
      return false;
    };
    if (s.blocks.sorted) {
      u32 row;
      order.find(wanted, &only, 1, &row);
      if (row != NO_ROW && records.count(row) > 0) tell(row);
      return;
    }
    if (!s.level) climb(Few);
    hash_batch_rows(wanted, &only, 1);
    slots.each(tag[0], tell);
  }
};

static void apply_rows(Env& e, const Batch& b) { Store(e).apply(b); }
static void read_all(Env& e, Output& out) { Store(e).read(out); }
static u64 size_of_all(Env& e) { return e.state->blocks.live; }
static void read_counted(Env& e, Output& out) {
  Store store(e);
  store.each_row([&](Spot x) {
    const i64 at = out.next();
    store.write(x, out, at);
    out.count[at] = x.count();
  });
}
static void find_row(Env& e, const Batch& wanted, Output& out) { Store(e).find(wanted, out, false); }
static void find_key(Env& e, const Batch& wanted, Output& out) { Store(e).find(wanted, out, true); }

static Strings& strings_of(State& s) { return s.strings; }
static void create(Env& e) {
  memset(static_cast<void*>(e.state), 0, sizeof(State));
  const RowKernel& k = *static_cast<const RowKernel*>(e.kernel);
  e.state->blocks.sorted = k.sortable;
  if (k.keyed && !k.sortable) Store(e).slots.make_room(1), e.state->level = Few;
}
static void ready(Env&) {}
static Watch watch_of(State&) { return {}; }
static f64* gone_of(State&) { return nullptr; }

static RowKernel* all_kernels = nullptr;  // of the relations so far, as long as the process

static bool describes(const RowKernel& k, int width, const Column* columns, const bool* key) {
  if (k.width != width) return false;
  for (int i = 0; i < width; i++) {
    const Column &a = k.columns[i], &b = columns[i];
    if (strcmp(a.name, b.name) || a.kind != b.kind || a.scale != b.scale || a.size != b.size) return false;
    if (a.nullable != b.nullable || k.key[i] != key[i]) return false;
  }
  return true;
}

static u64 row_bytes_of(const Field* fields, int width) {
  u64 bytes = 16 + sizeof(i64) / GROUP + 1;  // with fences and posts
  for (int c = 0; c < width; c++) bytes += fields[c].kind == Decimal128 ? 16 : 8;
  return bytes;
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
  k->key_columns = static_cast<int*>(calloc(n, sizeof(int)));
  if (!k->fields || !k->columns || !k->key || !k->all || !k->key_columns) return nullptr;
  k->width = width;
  k->sortable = true;
  for (int i = 0; i < width; i++) {
    k->columns[i] = columns[i];
    k->columns[i].as_it_lies = true;
    k->fields[i] = Field{columns[i].kind, key[i]};
    k->columns[i].name = strdup(columns[i].name);
    if (!k->columns[i].name) return nullptr;
    k->keyed |= k->key[i] = key[i];
    k->all[i] = true;
    if (!key[i]) continue;
    k->key_columns[k->key_width++] = i;
    k->sortable &= Ordered::is_number(columns[i].kind);
  }
  k->sortable &= k->keyed && k->key_width <= Ordered::MOST_KEYS;
  k->columns[width] = Column{"", Int, 0, false, true};
  k->row_bytes = row_bytes_of(k->fields, width);
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
