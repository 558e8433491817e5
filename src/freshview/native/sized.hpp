// Values that are no larger than their columns are declared: TINYINT, DECIMAL(8, 2), VARCHAR(20).
#pragma once

#include "decimal.hpp"
#include "kernel.hpp"

namespace fr {
namespace edge {

// A text of at most so many characters.
inline bool has_size(Str text, u32 characters) {
  u32 seen = 0;
  for (u32 i = 0; text.size > characters && i < text.size; i++)
    seen += (u8(text.at[i]) & 0xc0) != 0x80;
  return seen <= characters;
}

// What the size of a number of a column stays below: integers have one more below zero.
inline i128 end_of(const Column& c) {
  return c.kind == Int ? i128(1) << (c.size - 1) : powers.of[c.size < 38 ? c.size : 38];
}

template <class T> inline bool has_size(const Column& c, T x) {
  return (x < end_of(c) && x >= -end_of(c) && (c.kind == Int || x > -end_of(c))) || is_null(x);
}

// The same of one value where an array of its kind has it.
inline bool has_size_at(const Column& c, const void* value) {
  switch (c.kind) {
    case Int:
    case Decimal64: return has_size(c, *static_cast<const i64*>(value));
    case Decimal128: return has_size(c, *static_cast<const i128*>(value));
    case Text: return has_size(*static_cast<const Str*>(value), c.size);
    default: return true;
  }
}

// Whether all of an array are between two ends, or NULL; without a branch in the loop.
template <class T> inline bool are_between(const T* x, i64 size, T low, T high) {
  bool good = true;
  for (i64 i = 0; i < size; i++) good &= ((x[i] >= low) & (x[i] <= high)) | is_null(x[i]);
  return good;
}

template <class T> inline i64 first_large(const Column& c, const T* x, i64 size) {
  const i128 end = end_of(c), low = c.kind == Int ? -end : 1 - end;
  if (i128(T(end - 1)) != end - 1 || are_between(x, size, T(low), T(end - 1))) return -1;
  for (i64 i = 0; i < size; i++)
    if (!has_size(c, x[i])) return i;
  return -1;
}

}  // namespace edge
}  // namespace fr
