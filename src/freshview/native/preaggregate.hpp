// A block of rows added up by key before it goes to a table, column by column.
//
// Every row gets the number of its group, by small dictionaries of the block; what it adds is computed
// eight rows at a time, and goes to local sums. These are not tested for overflow one by one. Instead
// the expressions of all of them are evaluated once a block over bounds (`Magnitude`): whatever the
// rows are, no number on the way leaves 62 bits, or the block goes to the table row by row.
#pragma once

#include "lines.hpp"
#include "scalar.hpp"
#include "strings.hpp"

namespace fr {

// -- bounds ----------------------------------------------------------------------------------------

constexpr int LANES = 8;
typedef i64 LaneVector __attribute__((vector_size(LANES * sizeof(i64))));

// An upper bound of the size of numbers, at least 1: so it also bounds every factor of a product.
struct Magnitude {
  f64 most = 1;

  Magnitude() = default;
  Magnitude(i64 x) : most(x == 0 ? 1 : fabs(f64(x))) {}
  Magnitude(long long x) : Magnitude(i64(x)) {}

  static Magnitude of(f64 most) {
    Magnitude out;
    out.most = most;
    return out;
  }
  void raise(Magnitude other) { most = other.most > most ? other.most : most; }
  // Whether so many numbers of this size can be added up in 62 bits. Doubles round by far less than
  // the factor of two that is left.
  bool fits(i64 rows) const { return most * f64(rows) < 0x1p61; }
};

template <> inline bool is_null<Magnitude>(Magnitude) { return false; }
template <> inline Magnitude add(bool&, Magnitude a, Magnitude b) { return Magnitude::of(a.most + b.most); }
template <> inline Magnitude mul(bool&, Magnitude a, Magnitude b) { return Magnitude::of(a.most * b.most); }
template <> inline Magnitude add_n(bool& o, Magnitude a, Magnitude b) { return add(o, a, b); }
template <> inline Magnitude mul_n(bool& o, Magnitude a, Magnitude b) { return mul(o, a, b); }
template <> inline Magnitude scaled_n(bool& o, Magnitude x, Magnitude factor) { return mul(o, x, factor); }
template <> inline Magnitude or_zero(Magnitude x) { return x; }
inline Magnitude wide(Magnitude a, Magnitude b) { return Magnitude::of(a.most * b.most); }
inline Magnitude narrowed(bool&, Magnitude x) { return x; }
inline Magnitude narrowed_n(bool&, Magnitude x) { return x; }

// The bound of a column; NULL counts as nothing. The bits of all the numbers, put together, bound
// each of them.
inline Magnitude magnitude(const i64* at, i64 size) {
  LaneVector bits = {}, more = {};
  i64 i = 0;
  for (; i + 2 * LANES <= size; i += 2 * LANES) {
    LaneVector x, y;
    memcpy(&x, at + i, sizeof(x));
    memcpy(&y, at + i + LANES, sizeof(y));
    bits |= (x ^ (x >> 63)) & (x != INT64_MIN);
    more |= (y ^ (y >> 63)) & (y != INT64_MIN);
  }
  bits |= more;
  u64 all = 0;
  for (int k = 0; k < LANES; k++) all |= u64(bits[k]);
  for (; i < size; i++) all |= is_null(at[i]) ? 0 : u64(at[i] ^ (at[i] >> 63));
  return Magnitude::of(f64(all) + 1);
}

// -- eight rows at a time, within bounds -----------------------------------------------------------

// A column of eight rows, all numbers in 64 bits, whatever they have elsewhere; NULL as of i64.
struct Lanes {
  LaneVector x;

  Lanes() = default;
  explicit Lanes(LaneVector v) : x(v) {}
  Lanes(i64 n) : x(LaneVector{} + n) {}
  Lanes(long long n) : Lanes(i64(n)) {}

  // The next rows of a column, of which so many are left; zeros after the last.
  static Lanes load(const i64* at, i64 left) {
    Lanes out;
    if (__builtin_expect(left >= LANES, 1)) {
      memcpy(&out.x, at, sizeof(out.x));
    } else {
      out.x = LaneVector{};
      memcpy(&out.x, at, size_t(left) * sizeof(i64));
    }
    return out;
  }
  LaneVector nulls() const { return x == INT64_MIN; }
};

// `x`, and NULL where one of both is.
inline Lanes or_null(Lanes x, Lanes a, Lanes b) {
  const LaneVector none = a.nulls() | b.nulls();
  return Lanes((x.x & ~none) | (none & INT64_MIN));
}

struct Unchecked {};  // in the place of the flag that is set where a number leaves its range

template <class T> inline T add(Unchecked, T a, T b) { return T(a.x + b.x); }
template <class T> inline T mul(Unchecked, T a, T b) { return T(a.x * b.x); }
template <class T> inline T add_n(Unchecked o, T a, T b) { return or_null(add<T>(o, a, b), a, b); }
template <class T> inline T mul_n(Unchecked o, T a, T b) { return or_null(mul<T>(o, a, b), a, b); }
template <class T> inline T scaled(Unchecked o, T x, T factor) { return mul<T>(o, x, factor); }
template <class T> inline T scaled_n(Unchecked o, T x, T factor) { return mul_n<T>(o, x, factor); }
template <> inline Lanes or_zero(Lanes x) { return Lanes(x.x & ~x.nulls()); }
inline Lanes wide(Lanes a, Lanes b) { return Lanes(a.x * b.x); }
inline Lanes narrowed(Unchecked, Lanes x) { return x; }
inline Lanes narrowed_n(Unchecked, Lanes x) { return x; }

// -- groups ----------------------------------------------------------------------------------------

constexpr u32 MOST_GROUPS = 31;  // of a block, and values of each key; more are left to the table
constexpr i64 BLOCK_ROWS = 1024;
constexpr i64 SAMPLE = 64;       // rows whose groups are counted before all the others'

// The different values of a column of a block, numbered from 1 on.
template <class T> struct Codes {
  u32 size = 0;

  // The codes of so many rows; false where there are too many.
  bool fill(i64 rows, u8* out, const T* column) {
    for (i64 i = 0; i < rows; i++)
      if (!(out[i] = u8(of(column[i])))) return false;
    return true;
  }

 private:
  u8 slots[64] = {};
  T values[MOST_GROUPS + 1];

  u32 of(T x) {
    for (u32 i = u32((u64(x) * 0x9e3779b97f4a7c15ull) >> 58);; i = (i + 1) & 63) {
      const u32 code = slots[i];
      if (code == 0) return add(x, i);
      if (values[code] == x) return code;
    }
  }
  __attribute__((noinline)) u32 add(T x, u32 slot) {
    if (size == MOST_GROUPS) return 0;
    values[slots[slot] = u8(++size)] = x;
    return size;
  }
};

// Most texts that rows are grouped by are flags: those of one byte are found without a search.
template <> struct Codes<Str> {
  u32 size = 0;

  bool fill(i64 rows, u8* out, const Str* column) {
    if (rows && side_by_side(rows, column) &&
        fill_flags(rows, out, reinterpret_cast<const u8*>(column->at)))
      return true;
    for (i64 i = 0; i < rows; i++) {
      u32 code = column[i].size == 1 ? flags[u8(*column[i].at)] : 0;
      if (__builtin_expect(code == 0, 0) && !(code = search(column[i]))) return false;
      out[i] = u8(code);
    }
    return true;
  }

 private:
  u8 flags[256] = {};
  u8 slots[64] = {};
  Str values[MOST_GROUPS + 1];

  // The codes of flags that lie side by side: all the values are compared with each that is known,
  // of which there are few. False where one is not.
  bool fill_flags(i64 rows, u8* out, const u8* bytes) const {
    using Flags = Line<u8>;
    Flags::Vector unknown = {};
    i64 i = 0;
    for (; i + Flags::SIZE <= rows; i += Flags::SIZE) {
      const Flags::Vector x = Flags::load(bytes + i);
      Flags::Vector codes = {};
      for (u32 code = 1; code <= size; code++)
        if (values[code].size == 1) codes |= Flags::Vector(x == u8(*values[code].at)) & u8(code);
      unknown |= Flags::Vector(codes == 0);
      memcpy(out + i, &codes, sizeof(codes));
    }
    u64 words[8], some = 0;
    memcpy(words, &unknown, sizeof(words));
    for (u64 word : words) some |= word;
    for (; i < rows; i++) some |= (out[i] = flags[bytes[i]]) == 0;
    return some == 0;
  }

  // Whether all texts have one byte, and each begins where the last one ends.
  static bool side_by_side(i64 rows, const Str* column) {
    static_assert(sizeof(Str) == 2 * sizeof(i64) && LANES == 8, "four texts are eight words");
    const i64 at = i64(reinterpret_cast<uintptr_t>(column->at));
    const LaneVector known = {-1, UINT32_MAX, -1, UINT32_MAX, -1, UINT32_MAX, -1, UINT32_MAX};
    const LaneVector step = {4, 0, 4, 0, 4, 0, 4, 0};
    LaneVector wanted = {at, 1, at + 1, 1, at + 2, 1, at + 3, 1}, others = {};
    i64 i = 0;
    for (; i + 4 <= rows; i += 4, wanted += step) {
      LaneVector x;
      memcpy(&x, column + i, sizeof(x));
      others |= (x & known) ^ wanted;
    }
    bool all = true;
    for (int k = 0; k < LANES; k++) all &= others[k] == 0;
    for (; i < rows; i++) all &= (column[i].size == 1) & (column[i].at == column->at + i);
    return all;
  }

  __attribute__((noinline)) u32 search(Str x) {
    for (u32 i = u32(text_hash(x) >> 58);; i = (i + 1) & 63) {
      const u32 code = slots[i];
      if (code == 0) return add(x, i);
      const Str y = values[code];
      if (is_null(x) == is_null(y) && text_equal(x, y)) return code;
    }
  }
  u32 add(Str x, u32 slot) {
    if (size == MOST_GROUPS) return 0;
    values[slots[slot] = u8(++size)] = x;
    if (x.size == 1) flags[u8(*x.at)] = u8(size);
    return size;
  }
};

// Pairs of codes, numbered in the same way.
struct Pairs {
  u32 size = 0;

  bool fill(i64 rows, u8* codes, const u8* others) {
    for (i64 i = 0; i < rows; i++) {
      u8& code = numbers[codes[i]][others[i]];
      if (__builtin_expect(code == 0, 0)) {
        if (size == MOST_GROUPS) return false;
        code = u8(++size);
      }
      codes[i] = code;
    }
    return true;
  }

 private:
  u8 numbers[MOST_GROUPS + 1][MOST_GROUPS + 1] = {};
};

// The groups of a block by several columns, or by none.
template <class... Ts> struct KeyCodes {
  u32 size = 1;
  bool fill(i64 rows, u8* out) { return memset(out, 1, size_t(rows)), true; }
  bool combine(i64, u8*) { return true; }
};
template <class T> struct KeyCodes<T> : Codes<T> {
  bool combine(i64, u8*) { return true; }
};
template <class T, class U, class... More> struct KeyCodes<T, U, More...> {
  u32 size = 0;

  // The codes by the first column; those by the others are kept here.
  bool fill(i64 rows, u8* out, const T* column, const U* next, const More*... more) {
    u8* others = codes + filled;
    filled += rows;
    return own.fill(rows, out, column) && rest.fill(rows, others, next, more...);
  }

  // Makes codes of both: by arithmetic where all the pairs are few, even those that no row has.
  bool combine(i64 rows, u8* out) {
    if (!rest.combine(rows, codes)) return false;
    if (own.size * rest.size > MOST_GROUPS) {
      Pairs pairs;
      const bool few = pairs.fill(rows, out, codes);
      size = pairs.size;
      return few;
    }
    size = own.size * rest.size;
    for (i64 i = 0; i < rows; i += Line<u8>::SIZE) {
      const auto mine = Line<u8>::load(out + i), other = Line<u8>::load(codes + i);
      const Line<u8>::Vector both = (mine - 1) * u8(rest.size) + other;
      memcpy(out + i, &both, sizeof(both));
    }
    return true;
  }

 private:
  Codes<T> own;
  KeyCodes<U, More...> rest;
  i64 filled = 0;
  u8 codes[BLOCK_ROWS + Line<u8>::SIZE];
};

// The sums of all the groups of a block. Group 0 is that of rows that are not chosen.
template <int SUMS> struct Groups {
  static constexpr int COPIES = 4;
  u32 size = 0;

  // Finds the group of every row by its keys; false where there are too many.
  template <class... Ts> bool find(i64 rows, const Ts*... keys) {
    KeyCodes<Ts...> codes;
    const i64 some = rows < SAMPLE ? rows : SAMPLE;
    if (!codes.fill(some, of, keys...) || !are_few(codes, some)) return false;
    if (!codes.fill(rows - some, of + some, keys + some...) || !codes.combine(rows, of)) return false;
    size = codes.size;
    for (auto& sums : copies) memset(sums, 0, (size + 1) * sizeof(sums[0]));
    return true;
  }

  // Leaves out the rows that are not marked.
  void choose(i64 rows, const u8* marks) {
    for (i64 i = 0; i < rows; i += Line<u8>::SIZE) {
      const Line<u8>::Vector codes = Line<u8>::load(of + i) & -Line<u8>::load(marks + i);
      memcpy(of + i, &codes, sizeof(codes));
    }
  }

  // Eight rows from one on: what they add to every sum. Rows take turns with two copies of the sums,
  // so that one need not wait for what the last one has stored.
  void add(i64 row, const Lanes (&values)[SUMS]) {
#pragma GCC unroll 8
    for (int k = 0; k < LANES; k++) {
      u64* sums = copies[k % COPIES][of[row + k]];
#pragma GCC unroll 16
      for (int n = 0; n < SUMS; n++) sums[n] += u64(values[n].x[k]);
    }
  }

  i64 total(u32 group, int n) const { 
    u64 sum = 0;
    for (const auto& sums : copies) sum += sums[group][n];
    return i64(sum);
  }

  // A row of a group; negative where none was chosen.
  i64 first(u32 group, i64 rows) const {
    const void* at = memchr(of, int(group), size_t(rows));
    return at ? static_cast<const u8*>(at) - of : -1;
  }

 private:
  u8 of[BLOCK_ROWS + Line<u8>::SIZE] = {};  // the group of every row

  // Whether the first rows have few groups: where they have many, the others are not looked at.
  template <class Keys> bool are_few(Keys codes, i64 rows) const {
    u8 sample[SAMPLE + Line<u8>::SIZE];
    memcpy(sample, of, sizeof(sample));
    return codes.combine(rows, sample);
  }
  u64 copies[COPIES][MOST_GROUPS + 1][SUMS];
};

}  // namespace fr
