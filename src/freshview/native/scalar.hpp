// Arithmetic and functions on single values, as the reference engine defines them.
//
// Whole numbers and decimals that leave their range wrap and set the sticky flag `o`: wrapped
// integers are a ring, so the batch can still be taken back exactly. The range of 64 bits is without
// the smallest number, which is NULL; that of 128 bits is 38 decimal digits. Names that end in _n
// admit NULL.
#pragma once

#include "digits.hpp"
#include "libm.hpp"
#include "strings.hpp"
#include "value.hpp"

namespace fr {

template <class T> inline T add(bool& o, T a, T b) {
  T c;
  if (__builtin_expect(__builtin_add_overflow(a, b, &c), 0)) o = true;
  return c;
}
template <> inline f64 add(bool&, f64 a, f64 b) { return a + b; }
constexpr i128 ten_to_38() {
  i128 out = 1;
  for (int i = 0; i < 38; i++) out *= 10;
  return out;
}
inline bool is_digits(i128 x) { return u128(x) + u128(ten_to_38() - 1) <= u128(ten_to_38() - 1) * 2; }
template <> inline i128 add(bool& o, i128 a, i128 b) {
  i128 c;
  if (__builtin_expect(__builtin_add_overflow(a, b, &c) || !is_digits(c), 0)) o = true;
  return c;
}

template <class T> inline T mul(bool& o, T a, T b) {
  T c;
  if (__builtin_expect(__builtin_mul_overflow(a, b, &c), 0)) o = true;
  return c;
}
template <> inline f64 mul(bool&, f64 a, f64 b) { return a * b; }
template <> inline i128 mul(bool& o, i128 a, i128 b) {
  // Most factors are small, and a product of two halves takes one instruction.
  if (__builtin_expect(i64(a) == a && i64(b) == b, 1)) return i128(i64(a)) * i64(b);
  i128 c;
  if (__builtin_mul_overflow(a, b, &c) || !is_digits(c)) o = true;
  return c;
}
// A number in fewer bits.
inline i64 narrowed(bool& o, i128 x) {
  if (__builtin_expect(i64(x) != x || is_null(i64(x)), 0)) o = true;
  return i64(x);
}
inline i64 narrowed_n(bool& o, i128 x) { return is_null(x) ? null<i64>() : narrowed(o, x); }
// A number that is kept, or bound to a variable: there the smallest one would be NULL.
template <class T> inline T known(bool& o, T x) {
  if (__builtin_expect(is_null(x), 0)) o = true;
  return x;
}
template <> inline f64 known(bool&, f64 x) { return x; }
// Two 64-bit factors of a 128-bit product cannot overflow.
inline i128 wide(i64 a, i64 b) { return i128(a) * b; }

template <class T> inline T add_n(bool& o, T a, T b) {
  return is_null(a) || is_null(b) ? null<T>() : known(o, add(o, a, b));
}
template <class T> inline T mul_n(bool& o, T a, T b) {
  return is_null(a) || is_null(b) ? null<T>() : known(o, mul(o, a, b));
}
template <class T> inline T or_zero(T x) { return is_null(x) ? T(0) : x; }

// Conversions: to more digits after the point, to double, from a day to its midnight.
template <class To, class From> inline To scaled(bool& o, From x, To factor) {
  return mul<To>(o, To(x), factor);
}
template <class To, class From> inline To scaled_n(bool& o, From x, To factor) {
  return is_null(x) ? null<To>() : mul<To>(o, To(x), factor);
}
// To fewer digits after the point, if the others are zeros: else no number of that kind equals it.
template <class From, class To> inline bool shortened(From x, From unit, To& out) {
  if (is_null(x)) return out = null<To>(), true;
  const From rest = x % unit, whole = x / unit;
  out = To(whole);
  return rest == 0 && From(out) == whole && !is_null(out);
}
template <class From> inline f64 real(From x) { return f64(x); }
// A quotient of two exact doubles is the nearest double; other decimals take the long way.
template <class From> inline f64 real(From x, int scale, f64 unit) {
  constexpr From exact = From(1) << 53;
  if (__builtin_expect(scale <= 22 && -exact <= x && x <= exact, 1)) return f64(x) / unit;
  return double_of_scaled(x, scale);
}
template <class From> inline f64 real_n(From x) { return is_null(x) ? null<f64>() : f64(x); }
template <class From> inline f64 real_n(From x, int scale, f64 unit) {
  return is_null(x) ? null<f64>() : real(x, scale, unit);
}
constexpr i64 DAY = 86400000000ll;
inline i64 midnight(i32 day) { return i64(day) * DAY; }
inline i64 midnight_n(i32 day) { return is_null(day) ? null<i64>() : i64(day) * DAY; }

template <class T> inline bool truth(T x) { return !is_null(x) && x != 0; }

// Division and remainder; NULL when there is no answer.
inline f64 div(f64 a, f64 b) { return b == 0 ? null<f64>() : a / b; }
template <class T> inline T mod(T a, T b) { return b == 0 ? null<T>() : b == -1 ? T(0) : T(a % b); }
template <> inline f64 mod(f64 a, f64 b) { return b == 0 ? null<f64>() : fmod(a, b); }

inline f64 root(f64 x) { return x < 0 ? null<f64>() : sqrt(x); }
inline f64 power(f64 a, f64 b) {
  f64 x = pow(a, b);
  bool failed = (isnan(x) && !isnan(a) && !isnan(b)) || (isinf(x) && !isinf(a) && !isinf(b));
  return failed ? null<f64>() : x;
}
template <class T> inline T absolute(bool& o, T x) { return x < 0 ? mul<T>(o, x, T(-1)) : x; }
template <> inline f64 absolute(bool&, f64 x) { return fabs(x); }

// floor and ceiling of x / unit, and half-up rounding to a multiple of unit.
template <class T> inline T floor_of(T x, T unit) { return x / unit - (x % unit < 0); }
template <class T> inline T ceil_of(T x, T unit) { return x / unit + (x % unit > 0); }
template <class T> inline T round_to(T x, T unit) {
  T rest = x % unit, down = x - rest;
  if (rest < 0) return -rest >= unit + rest ? down - unit : down;
  return rest >= unit - rest ? down + unit : down;
}
// To so many digits after the point, halves away from zero, by the digits that the double shows.
inline f64 round_real(f64 x, int digits, f64 unit) {
  f64 y = fabs(x);
  if (digits == 0 && y < 4503599627370496.0) {  // the fraction is exact, and so is a half
    f64 whole = floor(y), up = y - whole >= 0.5 ? whole + 1 : whole;
    return x < 0 && up != 0 ? -up : up;
  }
  y *= unit;
  f64 whole = floor(y), rest = fabs(y - whole - 0.5);
  // Away from a half the product is near enough, and the quotient of two exact doubles is right.
  if (digits > 0 && digits <= 22 && y < 4503599627370496.0 && rest > y * 1e-15) {
    f64 up = y - whole >= 0.5 ? whole + 1 : whole;
    return up == 0 ? 0 : copysign(up / unit, x);
  }
  return round_digits(x, digits);
}

// The calendar: days since 1970 to year, month and day, and back (proleptic Gregorian).
struct Civil { i64 year; int month, day; };
inline Civil civil(i64 days) {
  i64 z = days + 719468, era = (z >= 0 ? z : z - 146096) / 146097;
  u32 doe = u32(z - era * 146097), yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
  u32 doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
  int day = int(doy - (153 * mp + 2) / 5 + 1), month = int(mp < 10 ? mp + 3 : mp - 9);
  return Civil{i64(yoe) + era * 400 + (month <= 2), month, day};
}
inline i64 days_of(i64 year, int month, int day) {
  year -= month <= 2;
  i64 era = (year >= 0 ? year : year - 399) / 400;
  u32 yoe = u32(year - era * 400);
  u32 doy = u32((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1);
  return era * 146097 + i64(yoe * 365 + yoe / 4 - yoe / 100 + doy) - 719468;
}
inline i64 day_of(i32 day) { return day; }
inline i64 day_of(i64 moment) { return floor_of<i64>(moment, DAY); }
template <class D> inline i64 year_of(D d) { return civil(day_of(d)).year; }
template <class D> inline i64 month_of(D d) { return civil(day_of(d)).month; }
template <class D> inline i64 quarter_of(D d) { return (civil(day_of(d)).month + 2) / 3; }
template <class D> inline i64 dom_of(D d) { return civil(day_of(d)).day; }
inline i64 time_of(i64 moment) { return moment - floor_of<i64>(moment, DAY) * DAY; }
inline i64 hour_of(i64 moment) { return time_of(moment) / 3600000000ll; }
inline i64 minute_of(i64 moment) { return time_of(moment) / 60000000 % 60; }
inline i64 second_of(i64 moment) { return time_of(moment) / 1000000 % 60; }
inline i64 add_months_to(i64 days, i64 months) {
  Civil c = civil(days);
  i64 month = c.month - 1 + months, year = c.year + floor_of<i64>(month, 12);
  int m = int(month - floor_of<i64>(month, 12) * 12) + 1;
  i64 first = days_of(year, m, 1), next = m == 12 ? days_of(year + 1, 1, 1) : days_of(year, m + 1, 1);
  return first + (c.day - 1 < next - first - 1 ? c.day - 1 : next - first - 1);
}
// Dates and timestamps lie in the years 1 to 9999; false where a move would leave them.
constexpr i64 FIRST_DAY = -719162, LAST_DAY = 2932896;
inline bool is_day(i64 day) { return FIRST_DAY <= day && day <= LAST_DAY; }
inline bool is_moment(i64 x) { return FIRST_DAY * DAY <= x && x < (LAST_DAY + 1) * DAY; }
inline bool moved(i64 day, i64 n, i64& out) {
  return !__builtin_add_overflow(day, n, &out) && is_day(out);
}
inline bool add_days(i32 day, i64 n, i32& out) {
  i64 to;
  bool good = moved(day, n, to);
  return out = i32(to), good;
}
inline bool add_days(i64 moment, i64 n, i64& out) {
  i64 to;
  bool good = moved(day_of(moment), n, to);
  return good && (out = to * DAY + time_of(moment), true);
}
inline bool add_months(i32 day, i64 n, i32& out) {
  if (n < -120000 || n > 120000) return false;
  i64 to = add_months_to(day, n);
  return out = i32(to), is_day(to);
}
inline bool add_months(i64 moment, i64 n, i64& out) {
  if (n < -120000 || n > 120000) return false;
  i64 to = add_months_to(day_of(moment), n);
  return is_day(to) && (out = to * DAY + time_of(moment), true);
}
inline bool add_micros(i64 moment, i64 n, i64& out) {
  return !__builtin_add_overflow(moment, n, &out) && is_day(day_of(out));
}
inline bool add_seconds(i64 moment, i64 n, i64& out) {
  i64 micros;
  return !__builtin_mul_overflow(n, i64(1000000), &micros) &&
         !__builtin_add_overflow(moment, micros, &out) && is_day(day_of(out));
}

// Text. Positions count code points, as the reference engine does.
inline bool continues(char c) { return (u8(c) & 0xc0) == 0x80; }
inline i64 text_length(Str s) {
  i64 n = 0;
  for (u32 i = 0; i < s.size; i++) n += !continues(s.at[i]);
  return n;
}
inline u32 offset_of(Str s, i64 point) {
  u32 i = 0;
  for (; i < s.size && (point > 0 || continues(s.at[i])); i++)
    if (!continues(s.at[i]) && point-- == 0) break;
  return i;
}
inline Str substring(Str s, i64 start, i64 length) {
  i64 n = text_length(s), begin = start > 0 ? start - 1 : start < 0 ? n + start : 0;
  i64 end;  // a start before the text uses up its part of the length
  if (__builtin_add_overflow(begin, length, &end)) end = length > 0 ? n : 0;
  begin = begin < 0 ? 0 : begin > n ? n : begin;
  end = end < 0 ? 0 : end > n ? n : end;
  if (end <= begin) return Str{s.at, 0};
  if (n == s.size) return Str{s.at + begin, u32(end - begin)};
  u32 from = offset_of(s, begin), to = offset_of(s, end);
  return Str{s.at + from, to - from};
}
// All that follows: a start before the text is its start.
inline Str substring(Str s, i64 start) {
  i64 n = text_length(s);
  return substring(s, start < -n ? 0 : start, n);
}

// Blanks only, as in Spark.
inline Str text_trim(Str s) {
  while (s.size && s.at[0] == ' ') s = Str{s.at + 1, s.size - 1};
  while (s.size && s.at[s.size - 1] == ' ') s.size--;
  return s;
}

inline f64 vec_length(f64 x, f64 y, f64 z) { return sqrt(x * x + y * y + z * z); }
struct Vec { f64 x, y, z; };
inline Vec cross(Vec a, Vec b) {
  return Vec{a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
inline f64 dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
// The angle between the planes through points 1-2-3 and 2-3-4, in radians.
inline f64 dihedral_angle(f64 x1, f64 y1, f64 z1, f64 x2, f64 y2, f64 z2, f64 x3, f64 y3, f64 z3,
                          f64 x4, f64 y4, f64 z4) {
  Vec v1{x2 - x1, y2 - y1, z2 - z1}, v2{x3 - x2, y3 - y2, z3 - z2}, v3{x4 - x3, y4 - y3, z4 - z3};
  Vec n1 = cross(v1, v2), n2 = cross(v2, v3);
  return atan2(vec_length(v2.x, v2.y, v2.z) * dot(v1, n2), dot(n1, n2));
}

}  // namespace fr
