// Functions of Spark SQL: bits, doubles, texts, dates. `calculus/builtin` has their meaning.
#pragma once

#include "libm.hpp"
#include "scalar.hpp"

namespace fr {

// -- bits: all integers have 64. What would be NULL is no answer.

inline bool bit_and(i64 a, i64 b, i64& out) { return out = a & b, !is_null(out); }
inline bool bit_xor(i64 a, i64 b, i64& out) { return out = a ^ b, !is_null(out); }
inline bool bit_not(i64 a, i64& out) { return out = ~a, !is_null(out); }
inline i64 bit_count(i64 a) { return __builtin_popcountll(u64(a)); }
inline bool bit_get(i64 a, i64 place, i64& out) { return out = a >> (place & 63) & 1, 0 <= place && place < 64; }
inline i64 bit_pair(i64 a, i64 place) { return (a >> place & 1) + ((a >> (place + 32) & 1) << 31); }
// The bits that all (0), some (1) or an odd number (2) of n values have, given how many have each.
template <int which> inline bool bits_of_counts(i64 n, const i64 (&pairs)[32], i64& out) {
  const i64 most = (i64(1) << 31) - 1;
  auto holds = [&](i64 count) { return u64(which == 0 ? count == n : which == 1 ? count > 0 : count % 2 == 1); };
  u64 bits = 0;
  for (int i = 0; i < 32; i++) bits |= holds(pairs[i] & most) << i | holds(pairs[i] >> 31) << (i + 32);
  return out = i64(bits), 0 <= n && n <= most && !is_null(out);
}
inline bool shift_left(i64 a, i64 by, i64& out) { return out = i64(u64(a) << (by & 63)), !is_null(out); }
inline i64 shift_right(i64 a, i64 by) { return a >> (by & 63); }
inline bool shift_right_unsigned(i64 a, i64 by, i64& out) {
  return out = i64(u64(a) >> (by & 63)), !is_null(out);
}

// -- numbers: doubles are finite, and what is not is NULL

inline f64 finite(f64 x) { return isfinite(x) ? x + 0.0 : null<f64>(); }
inline f64 log_of(f64 x) { return x > 0 ? __builtin_log(x) : null<f64>(); }
inline f64 log_to(f64 base, f64 x) {
  return x > 0 && base > 0 ? finite(__builtin_log(x) / __builtin_log(base)) : null<f64>();
}
inline f64 log10_of(f64 x) { return x > 0 ? __builtin_log10(x) : null<f64>(); }
inline f64 log2_of_real(f64 x) { return x > 0 ? __builtin_log2(x) : null<f64>(); }
inline f64 log1p_of(f64 x) { return x > -1 ? __builtin_log1p(x) : null<f64>(); }
inline f64 rint_of(f64 x) { return fabs(x) < 4503599627370496.0 ? __builtin_rint(x) + 0.0 : x; }
template <class T> inline f64 sign_of(T x) { return f64((x > 0) - (x < 0)); }
template <class T> inline bool whole_quotient(T a, T b, i64& out) {
  if (b == 0) return out = null<i64>(), true;
  const T x = a / b;
  return out = i64(x), T(out) == x && !is_null(out);
}

// -- texts

inline bool text_contains(Str text, Str piece) { return text_passes(text, piece); }
inline bool text_begins(Str text, Str piece) { return text_starts(text, piece); }
inline i64 text_instr(Str text, Str piece) {
  Str rest = text;
  if (!text_passes(rest, piece)) return 0;
  i64 place = 1;
  const u32 at = text.size - rest.size - piece.size;
  for (u32 i = 0; i < at; i++) place += (u8(text.at[i]) & 0xc0) != 0x80;
  return place;
}
inline i64 text_ascii(Str text) {
  if (text.size == 0) return 0;
  const u8* at = reinterpret_cast<const u8*>(text.at);
  if (at[0] < 0x80) return at[0];
  if (at[0] < 0xe0) return (at[0] & 0x1f) << 6 | (at[1] & 0x3f);
  if (at[0] < 0xf0) return (at[0] & 0x0f) << 12 | (at[1] & 0x3f) << 6 | (at[2] & 0x3f);
  return (at[0] & 0x07) << 18 | (at[1] & 0x3f) << 12 | (at[2] & 0x3f) << 6 | (at[3] & 0x3f);
}
inline Str text_left(Str text, i64 n) { return substring(text, 1, n > 0 ? n : 0); }
inline Str text_right(Str text, i64 n) {
  if (n <= 0) return Str{"", 0};
  return n >= i64(text.size) ? text : substring(text, -n);
}

// -- dates

inline i64 modulo_7(i64 x) { return (x % 7 + 7) % 7; }
inline i64 day_of_week(i32 day) { return modulo_7(day + 4) + 1; }
inline i64 weekday(i32 day) { return modulo_7(day + 3); }
inline i64 day_of_year(i32 day) { return day - days_of(civil(day).year, 1, 1) + 1; }
inline i32 last_day(i32 day) {
  const Civil c = civil(day);
  return i32(c.month == 12 ? days_of(c.year, 12, 31) : days_of(c.year, c.month + 1, 1) - 1);
}
inline i64 floor_by(i64 x, i64 unit) { return x / unit - (x % unit < 0); }
inline bool date_of_days(i64 days, i32& out) { return out = i32(days), is_day(days); }

// Whether a word is a unit, in upper or lower case.
inline bool is_word(Str word, const char* unit) {
  u32 i = 0;
  for (; i < word.size && unit[i]; i++)
    if ((u8(word.at[i]) >= 'a' && u8(word.at[i]) <= 'z' ? word.at[i] - 32 : word.at[i]) != unit[i]) return false;
  return i == word.size && !unit[i];
}
inline bool is_year(Str u) { return is_word(u, "YEAR") || is_word(u, "YYYY") || is_word(u, "YY"); }
inline bool is_month(Str u) { return is_word(u, "MONTH") || is_word(u, "MM") || is_word(u, "MON"); }

// The first day of a unit; NULL of others. False where the week begins before the year 1.
inline bool trunc_date(i64 day, Str unit, i32& out) {
  const Civil c = civil(day);
  if (is_year(unit)) return out = i32(days_of(c.year, 1, 1)), true;
  if (is_word(unit, "QUARTER")) return out = i32(days_of(c.year, (c.month - 1) / 3 * 3 + 1, 1)), true;
  if (is_month(unit)) return out = i32(days_of(c.year, c.month, 1)), true;
  if (is_word(unit, "WEEK")) return date_of_days(day - weekday(i32(day)), out);
  return out = null<i32>(), true;
}
inline bool window_of(i64 x, i64 step, i64 offset, i64 back, i64& out) {
  i128 rest = (i128(x) - offset) % step;
  const i128 start = i128(x) - (rest < 0 ? rest + step : rest) - i128(back) * step;
  return out = i64(start), i128(out) == start && !is_null(out);
}
inline bool window_of_time(i64 t, i64 step, i64 offset, i64 back, i64& out) {
  return window_of(t, step * 1000000, offset * 1000000, back, out) && is_day(day_of(out));
}
inline bool trunc_time(Str unit, i64 t, i64& out) {
  i64 step = 0;
  if (is_word(unit, "DAY") || is_word(unit, "DD")) step = DAY;
  else if (is_word(unit, "HOUR")) step = 3600000000ll;
  else if (is_word(unit, "MINUTE")) step = 60000000ll;
  else if (is_word(unit, "SECOND")) step = 1000000;
  else if (is_word(unit, "MILLISECOND")) step = 1000;
  else if (is_word(unit, "MICROSECOND")) step = 1;
  if (step) return out = floor_by(t, step) * step, true;
  i32 day;
  if (!trunc_date(day_of(t), unit, day)) return false;
  return out = midnight_n(day), true;
}

}  // namespace fr
