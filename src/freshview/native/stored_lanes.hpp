// How the rows of a block lie: in groups of four, the values of a column side by side in a group, and as
// wide as those of the block need.
//
// A group is written column by column with vectors, and it is short: a row that is looked at is in few
// lines of memory, which follow each other. Integers, decimals and dates take one, two, four or eight
// bytes each, decimals sixteen if they must, and texts of up to one byte take two. NULL is the smallest
// number of any width.
#pragma once

#include "lines.hpp"
#include "strings.hpp"

namespace fr {

using i16 = int16_t;

constexpr u32 GROUP = 4;  // rows

struct Place {  // of a column: where its values begin in a group, and the bytes of each
  u32 at, size;
};

struct Block {
  u32 room, used, live;
  u32 before;             // the block that was open before it, plus 1
  u64 rows, stride;       // the groups, and the bytes of each
  u64 texts;              // the piece that texts are put into
  u64 text_at, text_end;  // what is free of it
  u64 fences;             // of rows in the order of a key (`stored_order.hpp`), or 0
  Place column[1];        // as many as the relation has
};

template <class T> inline T least() { return null<T>(); }
template <> inline i16 least<i16>() { return INT16_MIN; }

// A number of another width; the smallest one stays that.
template <class To, class From> inline To resized(From x) {
  return x == least<From>() ? least<To>() : To(x);
}

template <class T> struct Unsigned { typedef u64 Word; };
template <> struct Unsigned<i32> { typedef u32 Word; };

// A text of up to one byte in two: its size above the byte, or all ones for NULL.
constexpr u16 NULL_LETTER = 0xffff;
inline u16 letter_of(Sym x) { return is_null(x) ? NULL_LETTER : u16(x.bits >> 48 | (x.bits & 0xff)); }
inline Sym symbol_of(u16 x) {
  return x == NULL_LETTER ? null<Sym>() : Sym{u64(x >> 8) << 56 | (x & 0xff)};
}

// A row that is stored.
struct Spot {
  const Block* block;
  char* group;
  u32 lane;

  i32& count() const { return reinterpret_cast<i32*>(group)[lane]; }
  char* at(int c) const {
    const Place place = block->column[c];
    return group + place.at + lane * place.size;
  }
  template <class T> T get(int c) const {
    T x;
    memcpy(&x, at(c), sizeof(T));
    return x;
  }
  // An integer of up to eight bytes.
  i64 integer(int c) const {
    switch (block->column[c].size) {
      case 1: return resized<i64>(get<i8>(c));
      case 2: return resized<i64>(get<i16>(c));
      case 4: return resized<i64>(get<i32>(c));
      default: return get<i64>(c);
    }
  }
  i32 date(int c) const { return resized<i32>(integer(c)); }
  i128 decimal(int c) const {
    return block->column[c].size == 16 ? get<i128>(c) : resized<i128>(integer(c));
  }
  Sym symbol(int c) const {
    return block->column[c].size == 2 ? symbol_of(get<u16>(c)) : get<Sym>(c);
  }
};

// Where the values of a column are written, from a row on.
struct Lanes {
  char* group;
  u64 stride;
  u32 lane;

  template <class T> void put(i64 i, T x) const {
    const u64 n = lane + u64(i);
    memcpy(group + n / GROUP * stride + n % GROUP * sizeof(T), &x, sizeof(T));
  }
};

// How many bytes each of some integers needs; NULL needs none.
template <class T> inline u32 bytes_for(const T* x, i64 n) {
  using Values = Line<T>;
  using Word = typename Unsigned<T>::Word;
  using Words = typename Line<Word>::Vector;
  Words lanes = {};
  Word any = 0;
  i64 i = 0;
  for (; i + Values::SIZE <= n; i += Values::SIZE) {
    const typename Values::Vector value = Values::load(x + i);
    const Words sign = Words(value < 0), there = Words(value != null<T>());
    lanes |= ((Words(value) ^ sign) - sign) & there;
  }
  for (int k = 0; k < Values::SIZE; k++) any |= lanes[k];
  for (; i < n; i++) any |= is_null(x[i]) ? 0 : x[i] < 0 ? Word(0) - Word(x[i]) : Word(x[i]);
  return any < 1u << 7 ? 1 : any < 1u << 15 ? 2 : any < 1u << 31 ? 4 : 8;
}

// Writes numbers that fit, whole groups at a time.
template <class To, class From> inline void put_numbers(Lanes out, const From* x, i64 n) {
  typedef From Wide __attribute__((vector_size(GROUP * sizeof(From))));
  typedef To Narrow __attribute__((vector_size(GROUP * sizeof(To))));
  i64 i = 0;
  for (; i < n && (out.lane + u64(i)) % GROUP; i++) out.put(i, resized<To>(x[i]));
  char* group = out.group + (out.lane + u64(i)) / GROUP * out.stride;
  for (; i + GROUP <= n; i += GROUP, group += out.stride) {
    Wide wide;
    memcpy(&wide, x + i, sizeof(wide));
    if constexpr (sizeof(To) < sizeof(From)) {
      const Wide null_there = Wide{} + From(least<To>());
      wide = wide < null_there ? null_there : wide;
    }
    const Narrow narrow = __builtin_convertvector(wide, Narrow);
    memcpy(group, &narrow, sizeof(narrow));
  }
  for (; i < n; i++) out.put(i, resized<To>(x[i]));
}

// The same at the width of a column; false where they do not fit.
template <class From> inline bool put_integers(Lanes out, u32 size, const From* x, i64 n) {
  if (size < sizeof(From) && bytes_for(x, n) > size) return false;
  switch (size) {
    case 1: put_numbers<i8>(out, x, n); break;
    case 2: put_numbers<i16>(out, x, n); break;
    case 4: put_numbers<i32>(out, x, n); break;
    default: put_numbers<i64>(out, x, n);
  }
  return true;
}

}  // namespace fr
