// Rows that a kernel wrote, taken out of its state and made into columns in the Arrow C data
// interface, without work per row in Python.
#pragma once

#include "arrow.hpp"
#include "decimal.hpp"

namespace fr {
namespace edge {

// Doubles the arrays of an output, or makes its first ones; `Output::grow` of the one file that is
// linked to the kernel calls it.
inline void grow_arrays(Output& out) {
  out.room = out.room ? out.room * 2 : 64;
  auto more = [&](void* old, size_t each) {
    void* grown = realloc(old, size_t(out.room) * each);
    if (!grown) out_of_memory("freshview: not enough memory for a result.\n");
    return grown;
  };
  for (int i = 0; i < out.width; i++)
    out.column[i] = more(out.column[i], size_out(out.columns[i].kind));
  out.count = static_cast<i64*>(more(out.count, sizeof(i64)));
}

// Rows on their way out: what a kernel wrote, with its texts, free of the state.
struct Table {
  Room* room;
  i64 size;
  int width;
  const Column* columns;
  void** column;     // as `Output` has them
  const i64* count;
  i64** text_end;    // where each text of a column ends; null for other columns
  const char** text;

  Str text_at(int c, i64 i) const {
    i64 begin = i ? text_end[c][i - 1] : 0;
    return Str{text[c] + begin, u32(text_end[c][i] - begin)};
  }
};

// Copies the texts of a column behind each other.
inline void copy_texts(Table& t, int c, const Strings& strings, Arena& arena) {
  const Sym* syms = static_cast<const Sym*>(t.column[c]);
  i64* end = t.room->array<i64>(t.size);
  i64 bytes = 0, room = 0;
  char *out = nullptr, small[8];
  for (i64 i = 0; i < t.size; i++) {
    Str s = strings.get(arena, syms[i], small);
    if (bytes + s.size + i64(sizeof small) > room) {
      room = (bytes + s.size) * 2 + 1024;
      out = static_cast<char*>(realloc(out, size_t(room)));
      if (!out) out_of_memory("freshview: not enough memory for a result.\n");
    }
    if (s.at == small) {
      memcpy(out + bytes, small, sizeof small);  // one store; the next text overwrites the rest
    } else if (s.size) {
      memcpy(out + bytes, s.at, s.size);
    }
    end[i] = bytes += s.size;
  }
  t.room->adopt(out);
  t.text[c] = out ? out : "";
  t.text_end[c] = end;
}

// What a query or map has now, taken out of the state by `read(env, out)`; null where there is no
// memory for it.
template <class Source, class Read> Table* table_of(Env& env, const Source& source, Read read) {
  Room* room = Room::open();
  Output out;
  out.width = source.width;
  out.columns = source.columns;
  out.column = room->array<void*>(source.width + 1);
  for (int i = 0; i < source.width; i++) out.column[i] = nullptr;
  if (!attempt([&] { read(env, out); })) {
    for (int i = 0; i < source.width; i++) free(out.column[i]);
    free(out.count);
    return room->let_go(), nullptr;
  }
  for (int i = 0; i < source.width; i++) room->adopt(out.column[i]);
  room->adopt(out.count);
  Table* t = room->array<Table>(1);
  *t = Table{room, out.size, out.width, out.columns, out.column, out.count,
             room->array<i64*>(out.width + 1), room->array<const char*>(out.width + 1)};
  for (int i = 0; i < t->width; i++) {
    t->text_end[i] = nullptr;
    if (t->columns[i].kind == Text) copy_texts(*t, i, env.kernel->strings(*env.state), env.arena);
  }
  return t;
}

// A column of the Arrow table that is made from a `Table`.
struct Shape {
  char format[16];
  i64 nulls;
  int buffers;
  const void* buffer[3];
};

struct Frame {
  Room* room;
  i64 size;
  int width;
  const Column* columns;
  Shape* shape;
};

// Calls f(to, from) for every row of the Arrow table, in order, and the row it repeats.
template <class F> inline void each(const Table& t, F f) {
  i64 to = 0;
  for (i64 from = 0; from < t.size; from++)
    for (i64 n = 0; n < t.count[from]; n++) f(to++, from);
}

template <class To, class From>
const void* spread(const Table& t, const Frame& f, int c, bool in_place) {
  const From* from = static_cast<const From*>(t.column[c]);
  if (in_place && sizeof(To) == sizeof(From)) return from;
  To* out = f.room->array<To>(f.size);
  each(t, [&](i64 i, i64 j) { out[i] = To(from[j]); });
  return out;
}

inline u8* no_bits(Room& room, i64 size) {
  u8* out = room.array<u8>((size + 7) / 8 + 1);
  memset(out, 0, size_t((size + 7) / 8 + 1));
  return out;
}

template <class T> void mark_nulls(const Table& t, const Frame& f, int c) {
  const T* from = static_cast<const T*>(t.column[c]);
  Shape& shape = f.shape[c];
  for (i64 i = 0; i < t.size; i++) shape.nulls += is_null(from[i]) ? t.count[i] : 0;
  if (!shape.nulls) return;
  u8* out = no_bits(*f.room, f.size);
  each(t, [&](i64 i, i64 j) { out[i >> 3] |= u8(u8(!is_null(from[j])) << (i & 7)); });
  shape.buffer[0] = out;
}

template <class T>
void spread_texts(const Table& t, const Frame& f, int c, bool in_place, i64 bytes) {
  T* ends = f.room->array<T>(f.size + 1);
  f.shape[c].buffers = 3;
  f.shape[c].buffer[1] = ends;
  ends[0] = 0;
  if (in_place) {
    for (i64 i = 0; i < t.size; i++) ends[i + 1] = T(t.text_end[c][i]);
    f.shape[c].buffer[2] = t.text[c];
    return;
  }
  char *text = f.room->array<char>(bytes + 1), *to = text;
  each(t, [&](i64 i, i64 j) {
    Str s = t.text_at(c, j);
    memcpy(to, s.at, s.size);
    to += s.size;
    ends[i + 1] = T(to - text);
  });
  f.shape[c].buffer[2] = text;
}

inline void shape_of(const Table& t, const Frame& f, int c, bool in_place) {
  const Column& column = t.columns[c];
  Shape& s = f.shape[c];
  s = Shape{"", 0, 2, {nullptr, nullptr, nullptr}};
  auto is = [&](const char* format) { strcpy(s.format, format); };
  switch (column.kind) {
    case Int:
    case Timestamp:
      is(column.kind == Int ? "l" : "tsu:");
      if (column.nullable) mark_nulls<i64>(t, f, c);
      s.buffer[1] = spread<i64, i64>(t, f, c, in_place);
      break;
    case Decimal64:
      if (column.nullable) mark_nulls<i64>(t, f, c);
      s.buffer[1] = spread<i128, i64>(t, f, c, in_place);
      break;
    case Decimal128:
      if (column.nullable) mark_nulls<i128>(t, f, c);
      s.buffer[1] = spread<i128, i128>(t, f, c, in_place);
      break;
    case Double:
      is("g");
      if (column.nullable) mark_nulls<f64>(t, f, c);
      s.buffer[1] = spread<f64, f64>(t, f, c, in_place);
      break;
    case Date:
      is("tdD");
      if (column.nullable) mark_nulls<i32>(t, f, c);
      s.buffer[1] = spread<i32, i32>(t, f, c, in_place);
      break;
    case Bool: {
      is("b");
      if (column.nullable) mark_nulls<i8>(t, f, c);
      const i8* from = static_cast<const i8*>(t.column[c]);
      u8* bits = no_bits(*f.room, f.size);
      each(t, [&](i64 i, i64 j) { bits[i >> 3] |= u8(u8(from[j] == 1) << (i & 7)); });
      s.buffer[1] = bits;
      break;
    }
    case Text: {
      if (column.nullable) mark_nulls<Sym>(t, f, c);
      i64 bytes = 0;
      for (i64 i = 0; i < t.size; i++) bytes += t.text_at(c, i).size * t.count[i];
      bool wide = bytes > INT32_MAX;
      is(wide ? "U" : "u");
      if (wide) spread_texts<i64>(t, f, c, in_place, bytes);
      else spread_texts<i32>(t, f, c, in_place, bytes);
      break;
    }
  }
  if (column.kind == Decimal64 || column.kind == Decimal128) {
    is("d:38,");
    char* end = write_decimal(column.scale, 0, s.format + 5);
    *end = 0;
  }
}

// The table in Arrow's memory format, every row as often as it counts. Columns that lie in memory
// as Arrow wants them are shared with the `Table`, whose room is held.
inline Frame* frame_of(const Table& t) {
  Room* room = Room::open(t.room);
  Frame* f = room->array<Frame>(1);
  *f = Frame{room, 0, t.width, t.columns, room->array<Shape>(t.width + 1)};
  bool in_place = true;
  for (i64 i = 0; i < t.size; i++) {
    f->size += t.count[i];
    in_place &= t.count[i] == 1;
  }
  for (int i = 0; i < t.width; i++) shape_of(t, *f, i, in_place && t.size);
  return f;
}

// Any part of an exported table can be moved elsewhere and outlive the rest, so that each part
// holds the room by itself.
template <class Arrow> void release(Arrow* a) {
  for (i64 i = 0; i < a->n_children; i++)
    if (a->children[i]->release) a->children[i]->release(a->children[i]);
  Room* room = static_cast<Room*>(a->private_data);
  a->release = nullptr;
  room->let_go();
}

inline void export_schema(const Frame& f, ArrowSchema& out) {
  Room* room = Room::open(f.room);
  auto make = [&](const char* format, const char* name, bool nullable) {
    return ArrowSchema{format, name, nullptr, nullable ? 2 : 0, 0, nullptr, nullptr, release, room};
  };
  out = make("+s", "", false);
  out.n_children = f.width;
  out.children = room->array<ArrowSchema*>(f.width + 1);
  for (int i = 0; i < f.width; i++) {
    out.children[i] = room->array<ArrowSchema>(1);
    *out.children[i] = make(f.shape[i].format, f.columns[i].name, f.columns[i].nullable);
    room->hold();
  }
}

inline void export_array(const Frame& f, ArrowArray& out) {
  Room* room = Room::open(f.room);
  auto make = [&](i64 nulls, i64 buffers) {
    return ArrowArray{f.size,  nulls,   0,       buffers, 0, room->array<const void*>(buffers),
                      nullptr, nullptr, release, room};
  };
  out = make(0, 1);
  out.buffers[0] = nullptr;
  out.n_children = f.width;
  out.children = room->array<ArrowArray*>(f.width + 1);
  for (int i = 0; i < f.width; i++) {
    const Shape& shape = f.shape[i];
    out.children[i] = room->array<ArrowArray>(1);
    *out.children[i] = make(shape.nulls, shape.buffers);
    for (int b = 0; b < shape.buffers; b++) out.children[i]->buffers[b] = shape.buffer[b];
    room->hold();
  }
}

}  // namespace edge
}  // namespace fr
