// Values of `freshview.h` as columns of a kernel.
#pragma once

#include "arrow_in.hpp"
#include "freshview.h"

namespace fr {
namespace edge {

template <class T> bool put_integer(i128 value, void* to) {
  const T narrow = T(value);
  memcpy(to, &narrow, sizeof narrow);
  return i128(narrow) == value && !is_null(narrow);
}

template <class T> void put_null(void* to) {
  const T value = null<T>();
  memcpy(to, &value, sizeof value);
}

inline bool put_absent(const Column& c, void* to) {
  switch (c.kind) {
    case Decimal128: put_null<i128>(to); break;
    case Double: put_null<f64>(to); break;
    case Date: put_null<i32>(to); break;
    case Bool: put_null<i8>(to); break;
    case Text: put_null<Str>(to); break;
    default: put_null<i64>(to);
  }
  return c.nullable;
}

// A value as the kernel holds it; false where its column does not.
inline bool put(const freshview_value& v, const Column& c, void* to) {
  if (v.is_null) return put_absent(c, to);
  switch (c.kind) {
    case Int: return put_integer<i64>(v.number, to);
    case Decimal64:
    case Decimal128: {
      const i128 whole = i128(u128(u64(v.high)) << 64 | u64(v.number));
      if (!is_decimal(whole)) return false;
      return c.kind == Decimal64 ? put_integer<i64>(whole, to) : put_integer<i128>(whole, to);
    }
    case Double: {
      f64 held;
      const bool good = finite(v.real, held);
      memcpy(to, &held, sizeof held);
      return good;
    }
    case Date: return is_day(v.number) && put_integer<i32>(v.number, to);
    case Timestamp: return is_moment(v.number) && put_integer<i64>(v.number, to);
    case Bool: return (v.number == 0 || v.number == 1) && put_integer<i8>(v.number, to);
    case Text: break;
  }
  const Str text{v.text ? v.text : "", u32(v.size)};
  memcpy(to, &text, sizeof text);
  return v.size <= UINT32_MAX && is_utf8(text);
}

// The columns of rows that the triggers read; the number of the row that has a bad value, or -1.
inline i64 columns_in(Room& room, const Relation& r, const freshview_value* rows, i64 size, Part& part,
               int& bad) {
  part.size = size;
  part.column = room.array<const void*>(r.width + 1);
  for (int c = 0; c < r.width; c++) {
    part.column[c] = nullptr;
    if (!r.columns[c].used) continue;
    const size_t step = size_in(r.columns[c].kind);
    char* to = static_cast<char*>(room.take(size_t(size) * step + 1));
    part.column[c] = to;
    for (i64 i = 0; i < size; i++, to += step)
      if (!put(rows[i * r.width + c], r.columns[c], to)) return bad = c, i;
  }
  return -1;
}

// Counts of a batch of their own: rows that count 0 times are left out.
inline void add_counts(Room& room, const Relation& r, const int64_t* counts, Part& part) {
  if (!counts) return;
  i64* own = room.array<i64>(part.size);
  bool zeros = false;
  for (i64 i = 0; i < part.size; i++) own[i] = counts[i], zeros |= !counts[i];
  part.count = own;
  if (zeros) drop_zeros(room, r, part);
}

}  // namespace edge
}  // namespace fr
