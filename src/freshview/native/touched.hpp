// What changes of a query are collected by: the keys that writes have touched since they were asked
// for last, and the rows that these keys had before. What changed is the rows that they have now less
// those: no other row has changed, and none is looked at.
#pragma once

#include "results.hpp"

namespace fr {

struct Touched {
  static constexpr size_t CELL = 16;  // bytes of a value of a key, whatever its kind

  const Query* query;
  int width;         // values of a key
  u8* keys;          // one key after the other
  u32* slots;        // a hash table of their numbers, from 1 on
  u32 size, room;    // keys, and the power of two of slots
  Output before;     // with a column more than the query, for counts
  bool overflow;     // a row could not be read before it changed

  // Where the key is kept; null where it is known. Values are at the places of the key columns.
  const u8* add(const void* const* key) {
    if (__builtin_expect(2 * (size + 1) > room, 0)) grow();
    u8* place = keys + size_t(size) * width * CELL;
    write(key, place);
    u32 i = slot(place);
    if (slots[i]) return nullptr;
    slots[i] = ++size;
    return place;
  }

  void clear() {
    if (size) memset(slots, 0, room * sizeof(u32));
    size = 0;
    before.size = 0;
  }

  void let_go() {
    free(keys);
    free(slots);
    for (int c = 0; before.column && c < before.width; c++) free(before.column[c]);
    free(before.column);
    free(before.count);
    free(const_cast<Column*>(before.columns));
    *this = Touched{};
  }

 private:
  void write(const void* const* key, u8* to) const {
    memset(to, 0, width * CELL);
    for (int c = 0, k = 0; k < width; c++) {
      if (!query->key[c]) continue;
      memcpy(to + k * CELL, key[k], edge::size_out(query->columns[c].kind));
      k++;
    }
  }

  // The slot of a key, or the empty one where it belongs.
  u32 slot(const u8* key) const {
    u64 hash = 0, word;
    for (size_t at = 0; at < width * CELL; at += 8) {
      memcpy(&word, key + at, 8);
      hash = mix(hash, word);
    }
    u32 i = u32(hash >> 32) & (room - 1);
    while (slots[i] && memcmp(keys + size_t(slots[i] - 1) * width * CELL, key, width * CELL))
      i = (i + 1) & (room - 1);
    return i;
  }

  void grow() {
    const u32 wider = room ? room * 2 : 16;
    u8* more = static_cast<u8*>(realloc(keys, (size_t(wider) / 2 + 1) * width * CELL + 1));
    if (more) keys = more;
    u32* fresh = static_cast<u32*>(calloc(wider, sizeof(u32)));
    if (!more || !fresh) {
      free(fresh);
      out_of_memory("freshview: not enough memory for changes.\n");
    }
    free(slots);
    slots = fresh;
    room = wider;
    for (u32 n = 0; n < size; n++) slots[slot(keys + size_t(n) * width * CELL)] = n + 1;
  }
};

namespace edge {

template <class T> void exchange(T& a, T& b) {
  T c = a;
  a = b;
  b = c;
}

// Adds the rows of a key to `out`. A batch at hand keeps its scratch memory and its faults; `answers`
// if there is none, and a function without an answer is to be told.
inline void look_up(Env& e, const Query& q, Touched& t, const u8* key, Output& out, bool answers) {
  const bool overflow = e.overflow;
  Fault fault = e.fault;
  e.overflow = false;
  e.fault = Fault();
  exchange(e.scratch, e.spare);
  if (q.find) {
    const void** column = static_cast<const void**>(__builtin_alloca(size_t(q.width) * 8));
    struct Text8 { char at[8]; };
    Text8* small = static_cast<Text8*>(__builtin_alloca(size_t(t.width + 1) * sizeof(Text8)));
    Str* text = static_cast<Str*>(__builtin_alloca(size_t(t.width + 1) * sizeof(Str)));
    for (int c = 0, k = 0; c < q.width; c++) {
      column[c] = nullptr;
      if (!q.key[c]) continue;
      column[c] = key + size_t(k) * Touched::CELL;
      if (q.columns[c].kind == Text) {
        Sym sym;
        memcpy(&sym, column[c], sizeof sym);
        text[k] = kernel.strings(*e.state).get(e.arena, sym, small[k].at);
        column[c] = &text[k];
      }
      k++;
    }
    const i64 once = 1;
    q.find(e, Batch{1, &once, column}, out);
  } else {
    q.read(e, out);
  }
  empty_scratch(e);
  exchange(e.scratch, e.spare);
  if (e.overflow) t.overflow = true;
  if (answers && !fault.fn) fault = e.fault;
  else e.fault.free_texts();
  e.overflow = overflow;
  e.fault = fault;
}

inline void collect_nothing(Env& env) {
  env.collecting = 0;
  for (int i = 0; env.touched && i < kernel.queries; i++) env.touched[i].let_go();
}

// Starts to collect the changes of a query, from now on; false where there is no memory for it.
inline bool start_collecting(Env& env, int index) {
  const Query& q = kernel.query[index];
  if (!env.touched)
    env.touched = static_cast<Touched*>(calloc(size_t(kernel.queries) + 1, sizeof(Touched)));
  if (!env.touched) return false;
  if (!env.spare.is_open() && !Arena::open(env.spare)) return false;
  Touched& t = env.touched[index];
  t.let_go();
  t.query = &q;
  for (int c = 0; q.key && c < q.width; c++) t.width += q.key[c];
  Column* columns = static_cast<Column*>(malloc(sizeof(Column) * size_t(q.width + 1)));
  t.before.column = static_cast<void**>(calloc(size_t(q.width) + 1, sizeof(void*)));
  t.before.columns = columns;
  if (!columns || !t.before.column) return t.let_go(), false;
  t.before.width = q.width + 1;
  for (int c = 0; c < q.width; c++) {
    columns[c] = q.columns[c];
    columns[c].nullable = true;  // as of differences of Arrow tables
  }
  columns[q.width] = Column{"__count", Int, 0, true, true};
  env.collecting |= u64(1) << index;
  return true;
}

// collect(instance, query, on): from now on its changes are collected, or no more.
inline PyObject* collect(PyObject*, PyObject* const* args, intptr_t n) {
  i64 index, on;
  Instance* x = arity(n, 3) ? instance_in(args[0]) : nullptr;
  if (!x || !number(args[1], 0, kernel.queries, index) || !number(args[2], 0, 2, on))
    return nullptr;
  Done done;
  Fault fault;
  {
    Locked lock(*x);
    done = make_ready(*x, fault);
    if (done == Done::Well && on && !start_collecting(x->env, int(index))) done = Done::Full;
    if (done == Done::Well && !on && x->env.touched) {
      x->env.collecting &= ~(u64(1) << index);
      x->env.touched[index].let_go();
    }
  }
  return finish(*x, 0, done, fault);
}

// Whether two rows show the same, in all columns but the last one.
inline bool alike(const Output& out, i64 a, i64 b) {
  for (int c = 0; c + 1 < out.width; c++) {
    const Kind kind = out.columns[c].kind;
    if (kind == Double) {
      const f64* x = static_cast<const f64*>(out.column[c]);
      if (!same(as_key(x[a]), as_key(x[b]))) return false;
      continue;
    }
    const size_t step = size_out(kind);
    const u8* x = static_cast<const u8*>(out.column[c]);
    if (memcmp(x + size_t(a) * step, x + size_t(b) * step, step)) return false;
  }
  return true;
}

inline u64 hash_row(const Output& out, i64 row) {
  u64 hash = 0;
  for (int c = 0; c + 1 < out.width; c++) {
    const Kind kind = out.columns[c].kind;
    const size_t step = size_out(kind);
    u64 word[2] = {0, 0};
    memcpy(word, static_cast<const u8*>(out.column[c]) + size_t(row) * step, step);
    if (kind == Double) word[0] = bits_of(as_key(double_of(word[0])));
    hash = mix(mix(hash, word[0]), word[1]);
  }
  return hash;
}

// Each row once, with the sum of its counts, those without any left out; the sums are the last
// column then, and every row counts once.
inline void consolidate(Output& out) {
  u64 room = 16;
  while (room < 2 * u64(out.size)) room *= 2;
  i64* slots = static_cast<i64*>(calloc(room, sizeof(i64)));
  if (!slots) out_of_memory("freshview: not enough memory for a result.\n");
  for (i64 row = 0; row < out.size; row++) {
    u64 i = hash_row(out, row) >> 32 & (room - 1);
    while (slots[i] && !alike(out, slots[i] - 1, row)) i = (i + 1) & (room - 1);
    if (slots[i]) {
      out.count[slots[i] - 1] += out.count[row];
      out.count[row] = 0;
    } else {
      slots[i] = row + 1;
    }
  }
  free(slots);
  i64 kept = 0;
  for (i64 row = 0; row < out.size; row++) {
    if (!out.count[row]) continue;
    for (int c = 0; c + 1 < out.width; c++) {
      const size_t step = size_out(out.columns[c].kind);
      u8* x = static_cast<u8*>(out.column[c]);
      if (kept != row) memcpy(x + size_t(kept) * step, x + size_t(row) * step, step);
    }
    static_cast<i64*>(out.column[out.width - 1])[kept] = out.count[row];
    kept++;
  }
  out.size = kept;
  for (i64 row = 0; row < kept; row++) out.count[row] = 1;
}

// The rows that the touched keys have now, less those that they had.
inline void subtract(Env& e, const Query& q, Touched& t, Output& out) {
  for (i64 i = 0; i < t.before.size; i++) {
    const i64 row = out.next();
    out.count[row] = -t.before.count[i];
    for (int c = 0; c < q.width; c++) {
      const size_t step = size_out(q.columns[c].kind);
      memcpy(static_cast<u8*>(out.column[c]) + size_t(row) * step,
             static_cast<const u8*>(t.before.column[c]) + size_t(i) * step, step);
    }
  }
  const bool unread = t.overflow;
  for (u32 n = 0; n < t.size; n++)
    look_up(e, q, t, t.keys + size_t(n) * t.width * Touched::CELL, out, true);
  if (t.overflow) {
    e.overflow = true;    // the change will be taken back: what is known of it stays
    t.overflow = unread;
    return;
  }
  consolidate(out);
  t.clear();
}

// What has changed of a query since this was last asked; null with an error.
inline Table* changed_table(PyObject* const* args, intptr_t n) {
  i64 index;
  Instance* x = arity(n, 2) ? instance_in(args[0]) : nullptr;
  if (!x || !number(args[1], 0, kernel.queries, index)) return nullptr;
  const Query& q = kernel.query[index];
  if (!(x->env.collecting >> index & 1)) {
    PyErr_SetString(PyExc_ValueError, "the changes of this query are not collected");
    return nullptr;
  }
  return table_from_state(x, index, "query", [&](Env& env) {
    Touched& t = env.touched[index];
    struct { int width; const Column* columns; } source{t.before.width, t.before.columns};
    Table* table = table_of(env, source, [&](Env& e, Output& out) { subtract(e, q, t, out); });
    if (!table) return table;
    Column* own = table->room->array<Column>(table->width);  // it may outlive the collection
    memcpy(own, table->columns, sizeof(Column) * size_t(table->width));
    table->columns = own;
    return table;
  });
}

// changed_rows(instance, query): what has changed, as rows whose last value is their count.
inline PyObject* changed_rows(PyObject*, PyObject* const* args, intptr_t n) {
  return rows_of(changed_table(args, n));
}

// changed_frame(instance, query): the same as Arrow columns.
inline PyObject* changed_frame(PyObject*, PyObject* const* args, intptr_t n) {
  return frame_object(changed_table(args, n), args, n);
}

}  // namespace edge
}  // namespace fr
