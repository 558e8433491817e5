// Whole numbers of a block of rows, eight rows at a time, and bounds of them.
//
// Sums of a block are not tested for overflow one by one. Instead their expressions are evaluated once
// a block over bounds (`Magnitude`): whatever the rows are, no number on the way leaves 62 bits.
#pragma once

#include "lines.hpp"
#include "scalar.hpp"

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

}  // namespace fr
