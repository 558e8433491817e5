// Sums of doubles that forget what has gone.
//
// A double sum that rows enter and leave has two faults: digits that a large row pushed out do not
// come back with its deletion, and a group without rows is left with a rest. So a sum has three
// words. Two are an unevaluated sum of doubles, about 106 bits of it: what rounding took from `hi`
// is in `lo`. The third is a fingerprint of the rows. Each double is mapped to a random odd number,
// each whole number to itself, and sums and products of sums are those of these numbers, modulo
// 2^63. Since that is a ring as well, the fingerprint is zero when every row that came has gone, in
// whatever order and through whatever joins; then the sum is zero, exactly. Rows that are there have
// the fingerprint zero by an accident of one in 2^63.
//
// A sum that outgrows the doubles is `far`: it is hi * 2^2040 + lo until it has shrunk again, so what
// a large row covers comes back when it goes. Sums beyond 10^922, the product of three of the
// largest doubles, stay infinite until all their rows have gone.
#pragma once

#include "libm.hpp"
#include "value.hpp"

namespace fr {

struct Sum {
  f64 hi, lo;
  u64 print;  // twice the fingerprint; the lowest bit says whether the sum is far

  bool is_far() const { return print & 1; }
  // Whether no row is in it: then it is all zeros.
  bool gone() const { return print == 0; }
};

constexpr int unit = 2040;

inline f64 far_value(const Sum& x) { return ldexp(x.hi, unit) + x.lo; }
// The nearest double.
inline f64 value(const Sum& x) { return __builtin_expect(x.is_far(), 0) ? far_value(x) : x.hi + x.lo; }
inline f64 value(f64 x) { return x; }

// One double in a product: what a row brings, before anything is rounded.
struct Real {
  f64 hi;
  u64 print;
  operator Sum() const { return Sum{hi, 0, print}; }
  bool gone() const { return print == 0; }
};
inline f64 value(const Real& x) { return value(Sum(x)); }

inline bool operator==(const Sum& a, int zero) { return value(a) == zero; }
inline bool operator!=(const Sum& a, int zero) { return value(a) != zero; }
inline bool operator<(const Sum& a, int zero) { return value(a) < zero; }
inline bool operator>(const Sum& a, int zero) { return value(a) > zero; }

inline u64 print_of(f64 x) {
  u64 bits = bits_of(x), rest = bits << 1;
  if (rest == 0) return 0;
  u64 print = (mix(rest, 0x2545f4914f6cdd1dull) | 2) & ~u64(1);
  return bits >> 63 ? -print : print;
}

inline bool is_finite(f64 x) { return fabs(x) <= 1.7976931348623157e308; }

// a + b without an error: s, and what rounding took from it.
inline void two_sum(f64 a, f64 b, f64& s, f64& rest) {
  s = a + b;
  f64 from_b = s - a;
  rest = (a - (s - from_b)) + (b - from_b);
}

// -- what is in the sum: values of rows, whole numbers, decimals -----------------------------------

inline Sum lift(const Sum& x) { return x; }
inline Real lift(f64 x) {
  if (__builtin_expect(is_finite(x), 1)) return Real{x, print_of(x)};
  // The value of a sum that is far itself: a number that is larger than all doubles, and not
  // infinite, as it has to go again.
  return Real{x != x ? x : copysign(0x1p-540, x), print_of(x) | 1};
}
inline Sum lift(i64 n) {
  f64 hi = f64(n);
  return Sum{hi, hi < 9.2e18 ? f64(n - i64(hi)) : f64(i128(n) - i128(hi)), u64(n) << 1};
}
inline Sum lift(i128 n) {
  f64 hi = f64(n);
  return Sum{hi, fabs(hi) < 1.7e38 ? f64(n - i128(hi)) : 0, u64(n) << 1};
}
// A decimal of n / unit.
template <class T> inline Sum lift(T n, f64 unit) {
  Sum x = lift(n);
  f64 hi = (x.hi + x.lo) / unit;
  return Sum{hi, (__builtin_fma(-hi, unit, x.hi) + x.lo) / unit, x.print};
}

// -- arithmetic where a number may be far ----------------------------------------------------------

// hi * 2^2040 + lo, as near as it can be.
inline Sum settled(f64 hi, f64 lo, u64 print) {
  if (print == 0) return Sum{0, 0, 0};
  if (fabs(lo) >= 0x1p1019) hi += ldexp(lo, -unit), lo = 0;
  f64 whole = ldexp(hi, unit), s, rest;
  if (!(fabs(whole) < 0x1p1023)) return Sum{hi, lo, print | 1};
  two_sum(whole, lo, s, rest);
  return Sum{s, rest, print};
}

// A sum in the two parts that a far one has.
inline Sum parted(const Sum& x) {
  if (x.is_far()) return Sum{x.hi, x.lo, x.print - 1};
  if (fabs(x.hi) >= 0x1p1018) return Sum{ldexp(x.hi, -unit), x.lo, x.print};
  return Sum{0, x.hi + x.lo, x.print};
}

// By value, as below: what had an address could not stay in registers.
__attribute__((noinline, cold)) inline Sum plus_far(Sum a, Sum b) {
  const Sum x = parted(a), y = parted(b);
  f64 hi, rest;
  two_sum(x.hi, y.hi, hi, rest);
  f64 lo = x.lo + y.lo;
  if (fabs(rest) < 0x1p-1022) lo += ldexp(rest, unit);
  return settled(hi, lo, x.print + y.print);
}

// Adds x * 2^exponent to the part of a far sum where it belongs.
inline void gain_part(f64 x, int exponent, f64& hi, f64& lo) {
  int own;
  frexp(x, &own);
  if (own + exponent < 1018) lo += ldexp(x, exponent);
  else hi += ldexp(x, exponent - unit);
}

// Adds a * b * 2^exponent, with what rounding takes from the product.
inline void gain_product(f64 a, f64 b, int exponent, f64& hi, f64& lo) {
  if (a == 0 || b == 0) return;  // also where the other one is infinite: it is not there
  int of_a, of_b;
  a = frexp(a, &of_a), b = frexp(b, &of_b);
  const f64 product = a * b;
  if (!is_finite(product)) {
    hi += product;
    return;
  }
  gain_part(product, exponent + of_a + of_b, hi, lo);
  gain_part(__builtin_fma(a, b, -product), exponent + of_a + of_b, hi, lo);
}

__attribute__((noinline, cold)) inline Sum times_far(Sum a, Sum b) {
  const Sum x = parted(a), y = parted(b);
  f64 hi = 0, lo = 0;
  gain_product(x.hi, y.hi, 2 * unit, hi, lo);
  gain_product(x.hi, y.lo, unit, hi, lo);
  gain_product(x.lo, y.hi, unit, hi, lo);
  gain_product(x.lo, y.lo, 0, hi, lo);
  return settled(hi, lo, (x.print >> 1) * y.print);
}

// -- the usual arithmetic --------------------------------------------------------------------------

// In these, rests are of an order of which no more than rounding is left.

inline Sum plus(const Sum& a, const Sum& b) {
  f64 s, rest;
  two_sum(a.hi, b.hi, s, rest);
  rest += a.lo + b.lo;
  const f64 hi = s + rest, lo = rest - (hi - s);
  const u64 print = a.print + b.print;
  if (__builtin_expect(((a.print | b.print) & 1) | !is_finite(hi), 0)) return plus_far(a, b);
  if (__builtin_expect(print == 0, 0)) return Sum{0, 0, 0};
  return Sum{hi, lo, print};
}

inline Sum times(const Sum& a, const Sum& b) {
  f64 p = a.hi * b.hi;
  f64 rest = __builtin_fma(a.hi, b.hi, -p) + (a.hi * b.lo + a.lo * b.hi);
  if (__builtin_expect(((a.print | b.print) & 1) | !is_finite(p) | !is_finite(rest), 0))
    return times_far(a, b);
  f64 hi = p + rest;
  return Sum{hi, rest - (hi - p), (a.print >> 1) * b.print};
}
inline Sum times(const Sum& a, const Real& b) {
  f64 p = a.hi * b.hi;
  f64 rest = __builtin_fma(a.hi, b.hi, -p) + a.lo * b.hi;
  if (__builtin_expect(((a.print | b.print) & 1) | !is_finite(p) | !is_finite(rest), 0))
    return times_far(a, b);
  f64 hi = p + rest;
  return Sum{hi, rest - (hi - p), (a.print >> 1) * b.print};
}
inline Sum times(const Real& a, const Sum& b) { return times(b, a); }
inline Sum times(const Real& a, const Real& b) {
  f64 p = a.hi * b.hi;
  if (__builtin_expect(((a.print | b.print) & 1) | !is_finite(p), 0)) return times_far(a, b);
  return Sum{p, __builtin_fma(a.hi, b.hi, -p), (a.print >> 1) * b.print};
}
// A row that comes or goes once: all of it has a sign, and nothing is rounded.
inline Sum times(i64 n, const Sum& a) {
  if (__builtin_expect((u64(n) + 1 & ~u64(2)) | (a.print & 1), 0)) return times(lift(n), a);
  const f64 sign = f64(n);
  return Sum{sign * a.hi, sign * a.lo, u64(n) * a.print};
}
inline Sum times(i64 n, const Real& a) { return times(n, Sum(a)); }
inline Sum times(i128 n, const Sum& a) { return times(lift(n), a); }
inline Sum times(i128 n, const Real& a) { return times(lift(n), a); }

inline void gain(Sum& to, const Sum& x) { to = plus(to, x); }

// Beside an element of a ring that a header declares, a sum is the double that it stands for.
template <class R> inline auto operator*(const Sum& a, const R& b) -> decltype(value(a) * b) {
  static_assert(__is_class(R), "numbers are multiplied by times()");
  return value(a) * b;
}
template <class R> inline auto operator*(const R& a, const Sum& b) -> decltype(a * value(b)) {
  static_assert(__is_class(R), "numbers are multiplied by times()");
  return a * value(b);
}

}  // namespace fr
