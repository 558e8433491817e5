// A kernel written by hand: a bag of rows with a column of every kind, and a sum that overflows.
#include "kernel.hpp"

namespace fr {

struct Row {
  i128 w;
  i64 i, d, at;
  f64 f;
  Sym s;
  i32 day;
  i8 b;
  bool same(const Row& o) const {
    return w == o.w && i == o.i && d == o.d && at == o.at && bits_of(f) == bits_of(o.f) &&
           s == o.s && day == o.day && b == o.b;
  }
};

struct Entry { Row row; i64 count; };

struct State {
  u64 entries, size, room;
  i64 total, fixed, readied;
  Strings texts;
};

static const Column nullable[] = {
    {"i", Int, 0, true, true},
    {"d", Decimal64, 2, true, true},
    {"w", Decimal128, 6, true, true},
    {"f", Double, 0, true, true},
    {"day", Date, 0, true, true},
    {"at", Timestamp, 0, true, true},
    {"b", Bool, 0, true, true},
    {"s", Text, 0, true, true},
};
static const Column strict[] = {
    {"i", Int, 0, false, true},
    {"d", Decimal64, 2, false, true},
    {"w", Decimal128, 6, false, true},
    {"f", Double, 0, false, true},
    {"day", Date, 0, false, true},
    {"at", Timestamp, 0, false, true},
    {"b", Bool, 0, false, true},
    {"s", Text, 0, false, true},
};
static const Column counted[] = {
    {"i", Int, 0, true, true},
    {"d", Decimal64, 2, true, true},
    {"w", Decimal128, 6, true, true},
    {"f", Double, 0, true, true},
    {"day", Date, 0, true, true},
    {"at", Timestamp, 0, true, true},
    {"b", Bool, 0, true, true},
    {"s", Text, 0, true, true},
    {"count", Int, 0, false, true},
};
static const Column half[] = {{"used", Int, 0, false, true}, {"unused", Text, 0, false, false}};
static const Column one[] = {{"x", Int, 0, false, true}};
static const Column sums[] = {{"total", Int, 0, false, true}, {"fixed", Int, 0, false, true},
                              {"readied", Int, 0, false, true}};

static void change(Env& env, const Row& row, i64 count) {
  State& state = *env.state;
#ifdef FRESHVIEW_COUNT
  env.writes++;
#endif
  Entry* entry = env.arena.at<Entry>(state.entries);
  for (u64 i = 0; i < state.size; i++) {
    if (!entry[i].row.same(row)) continue;
    if ((entry[i].count += count) == 0) entry[i] = entry[--state.size];
    return;
  }
  if (state.size == state.room) {
    u64 room = state.room * 2 + 4, block = env.arena.take(room * sizeof(Entry));
    if (state.size) memcpy(env.arena.at<Entry>(block), entry, state.size * sizeof(Entry));
    if (state.room) env.arena.give(state.entries, state.room * sizeof(Entry));
    state.entries = block;
    state.room = room;
  }
  env.arena.at<Entry>(state.entries)[state.size++] = Entry{row, count};
}

static void add(Env& env, i64 x, i64 count) {
  i64 product = 0;
  if (is_null(x)) return;
  env.overflow |= __builtin_mul_overflow(x, count, &product);
  env.overflow |= __builtin_add_overflow(env.state->total, product, &env.state->total);
}

static void apply_rows(Env& env, const Batch& b) {
  env.scratch.take(100);
  for (i64 k = 0; k < b.size; k++) {
    Row row;
    row.i = static_cast<const i64*>(b.column[0])[k];
    row.d = static_cast<const i64*>(b.column[1])[k];
    row.w = static_cast<const i128*>(b.column[2])[k];
    row.f = static_cast<const f64*>(b.column[3])[k];
    row.day = static_cast<const i32*>(b.column[4])[k];
    row.at = static_cast<const i64*>(b.column[5])[k];
    row.b = static_cast<const i8*>(b.column[6])[k];
    row.s = env.state->texts.put(env.arena, static_cast<const Str*>(b.column[7])[k]);
    change(env, row, b.count[k]);
    add(env, row.i, b.count[k]);
  }
}

static void apply_half(Env& env, const Batch& b) {
  for (i64 k = 0; k < b.size; k++) add(env, static_cast<const i64*>(b.column[0])[k], b.count[k]);
  if (b.column[1]) env.overflow = true;  // it is never converted
}

static void apply_static(Env& env, const Batch& b) {
  const i64* x = static_cast<const i64*>(b.column[0]);
  for (i64 k = 0; k < b.size; k++) env.state->fixed += x[k] * b.count[k];
}

static i64 put(Env& env, Output& out, u64 i) {
  const Entry& e = env.arena.at<Entry>(env.state->entries)[i];
  i64 k = out.next();
  static_cast<i64*>(out.column[0])[k] = e.row.i;
  static_cast<i64*>(out.column[1])[k] = e.row.d;
  static_cast<i128*>(out.column[2])[k] = e.row.w;
  static_cast<f64*>(out.column[3])[k] = e.row.f;
  static_cast<i32*>(out.column[4])[k] = e.row.day;
  static_cast<i64*>(out.column[5])[k] = e.row.at;
  static_cast<i8*>(out.column[6])[k] = e.row.b;
  static_cast<Sym*>(out.column[7])[k] = e.row.s;
  return k;
}

static void read_rows(Env& env, Output& out) {
  env.scratch.take(100);
  for (u64 i = 0; i < env.state->size; i++) {
    i64 k = put(env, out, i);
    out.count[k] = env.arena.at<Entry>(env.state->entries)[i].count;
  }
}

static void read_map(Env& env, Output& out) {
  for (u64 i = 0; i < env.state->size; i++) {
    i64 k = put(env, out, i);
    static_cast<i64*>(out.column[8])[k] = env.arena.at<Entry>(env.state->entries)[i].count;
    out.count[k] = 1;
  }
}

static void read_sums(Env& env, Output& out) {
  i64 k = out.next();
  static_cast<i64*>(out.column[0])[k] = env.state->total;
  static_cast<i64*>(out.column[1])[k] = env.state->fixed;
  static_cast<i64*>(out.column[2])[k] = env.state->readied;
  out.count[k] = 1;
  if (env.state->total == 666) env.overflow = true;
}

static u64 size(Env& env) { return env.state->size; }
static Strings& strings(State& state) { return state.texts; }
static void create(Env& env) { env.state->texts.init(env.arena); }
static void ready(Env& env) {
  env.state->readied++;
  if (env.state->fixed > 1000000) env.overflow = true;
}

static const Relation relations[] = {{"T", 8, nullable, false, apply_rows},
                                     {"N", 8, strict, false, apply_rows},
                                     {"H", 2, half, false, apply_half},
                                     {"S", 1, one, true, apply_static}};
static const Query queries[] = {{"rows", 8, nullable, read_rows}, {"sums", 3, sums, read_sums}};
static const Map maps[] = {{"bag", 9, counted, read_map, size}};

const Kernel kernel = {4, 2, 1, relations, queries, maps, sizeof(State), strings, create, ready};

}  // namespace fr

#include "boundary.hpp"
