// CAST and TRY_CAST as `calculus/casts.py` defines them: false where a value has no answer.
#pragma once

#include "digits.hpp"
#include "kernel.hpp"
#include "scalar.hpp"

namespace fr {

// What a text has between the white space at its ends; of integers, truth and moments the control
// characters go as well.
inline Str trimmed(Str s, bool controls = true) {
  auto blank = [&](char c) { return u8(c) <= 32 || (controls && c == 127); };
  while (s.size && blank(s.at[0])) s = Str{s.at + 1, s.size - 1};
  while (s.size && blank(s.at[s.size - 1])) s.size--;
  return s;
}
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

inline bool to_int(Str s, i64& out) {
  s = trimmed(s);
  bool minus = s.size && s.at[0] == '-';
  if (s.size && (minus || s.at[0] == '+')) s = Str{s.at + 1, s.size - 1};
  i64 n = 0;
  for (u32 i = 0; i < s.size; i++) {
    if (!is_digit(s.at[i])) return false;
    if (__builtin_mul_overflow(n, i64(10), &n) || __builtin_add_overflow(n, s.at[i] - '0', &n))
      return false;
  }
  out = minus ? -n : n;
  return s.size > 0;
}
inline bool to_int(f64 x, i64& out) {
  constexpr f64 limit = 9223372036854775808.0;
  if (!(x > -limit && x <= limit)) return false;
  out = x == limit ? INT64_MAX : i64(x);
  return true;
}
inline bool has_bits(i64 x, int bits) { return x >> (bits - 1) == x >> 63; }
inline bool to_whole(f64 x, i64& out) {
  constexpr f64 limit = 9223372036854775808.0;
  return x > -limit && x < limit && (out = i64(x), true);
}
template <class T> inline bool to_int(T x, T unit, i64& out) {
  T whole = x / unit;
  out = i64(whole);
  return T(out) == whole && out != INT64_MIN;
}

// A text as the parts of a number: its digits without the point, and the power of the first.
struct Number {
  Str digits, fraction;
  i64 exponent = 0;
  bool minus = false, suffix = false;
};
inline bool read_number(Str s, Number& out) {
  s = trimmed(s, false);
  u32 i = 0;
  auto more = [&] { return i < s.size; };
  auto run = [&] {
    u32 from = i;
    while (more() && is_digit(s.at[i])) i++;
    return Str{s.at + from, i - from};
  };
  out.minus = more() && s.at[i] == '-';
  if (more() && (s.at[i] == '-' || s.at[i] == '+')) i++;
  out.digits = run();
  if (more() && s.at[i] == '.') i++, out.fraction = run();
  else out.fraction = Str{s.at, 0};
  if (out.digits.size + out.fraction.size == 0) return false;
  if (more() && (s.at[i] == 'e' || s.at[i] == 'E')) {
    i++;
    bool down = more() && s.at[i] == '-';
    if (more() && (s.at[i] == '-' || s.at[i] == '+')) i++;
    Str power = run();
    if (!power.size) return false;
    for (u32 p = 0; p < power.size && out.exponent < i64(1) << 40; p++)
      out.exponent = out.exponent * 10 + (power.at[p] - '0');
    if (down) out.exponent = -out.exponent;
  }
  out.suffix = more() && (s.at[i] == 'd' || s.at[i] == 'D' || s.at[i] == 'f' || s.at[i] == 'F');
  return i + out.suffix == s.size;
}

// Text with a zero byte behind it, of any length, for the length of a call.
struct Copied {
  char room[128];
  char* at = room;
  explicit Copied(u32 size) { if (size + 1 > sizeof room) at = static_cast<char*>(malloc(size + 1)); }
  ~Copied() { if (at != room) free(at); }
  Copied(const Copied&) = delete;
};

inline bool to_double(Str s, f64& out) {
  Number n;
  if (!read_number(s, n)) return false;
  s = trimmed(s, false);
  Copied text(s.size);
  if (!text.at) return false;
  memcpy(text.at, s.at, s.size);
  text.at[s.size - n.suffix] = 0;
  out = double_of_text(text.at);
  return isfinite(out);
}

inline bool narrowed(i128 x, i64& out) { return out = i64(x), i128(out) == x && out != INT64_MIN; }
inline bool narrowed(i128 x, i128& out) { return out = x, true; }

// To a whole number scaled by 10^scale, not beyond the limit.
inline bool to_decimal(Str s, int scale, i128 limit, i128& out) {
  Number n;
  if (!read_number(s, n) || n.suffix || n.exponent >= i64(1) << 31 || n.exponent <= -(i64(1) << 31))
    return false;
  Copied text(n.digits.size + n.fraction.size);
  if (!text.at) return false;
  memcpy(text.at, n.digits.at, n.digits.size);
  memcpy(text.at + n.digits.size, n.fraction.at, n.fraction.size);
  return scaled_digits(text.at, i64(n.digits.size) + n.fraction.size,
                       n.exponent + n.digits.size - 1, n.minus, scale, limit, out);
}
inline bool to_decimal(f64 x, int scale, i128 limit, i128& out) {
  if (!isfinite(x)) return false;
  Digits d = digits_of(x);
  return scaled_digits(d.at, d.count, d.power, d.minus, scale, limit, out);
}
// Of a number with `from` digits after the point.
inline bool to_decimal(i128 x, int from, int scale, i128 limit, i128& out) {
  if (from > scale) out = round_to<i128>(x, power_of_ten(from - scale)) / power_of_ten(from - scale);
  else if (__builtin_mul_overflow(x, power_of_ten(scale - from), &out)) return false;
  return -limit <= out && out <= limit;
}

// To a multiple of a power of ten, halves away from zero.
template <class T> inline bool round_within(T x, int places, T& out) {
  if (places > 38) return out = 0, true;
  i128 rounded = round_to<i128>(x, power_of_ten(places));
  return -power_of_ten(38) < rounded && rounded < power_of_ten(38) && narrowed(rounded, out);
}

inline bool to_bool(Str s, i8& out) {
  s = trimmed(s);
  if (!s.size || s.size > 5) return false;
  char word[6] = {};
  for (u32 i = 0; i < s.size; i++) word[i] = s.at[i] >= 'A' && s.at[i] <= 'Z' ? s.at[i] + 32 : s.at[i];
  auto is = [&](const char* other) { return strcmp(word, other) == 0 && strlen(other) == s.size; };
  out = is("t") || is("true") || is("y") || is("yes") || is("1");
  return out || is("f") || is("false") || is("n") || is("no") || is("0");
}

// A date or timestamp on its way out of a text: numbers, and what must stand between them.
struct Moment {
  Str s;
  u32 i = 0;

  bool done() const { return i == s.size; }
  bool at(char c) const { return !done() && s.at[i] == c; }
  bool accept(char c) { return at(c) && (i++, true); }
  // A number of so many digits.
  bool number(u32 least, u32 most, i64& out) {
    u32 from = i;
    for (out = 0; !done() && is_digit(s.at[i]); i++)
      if (i - from < most) out = out * 10 + (s.at[i] - '0');
    return i - from >= least && i - from <= most;
  }
  // Year, month and day as far as they are given; `whole` tells whether all are.
  bool date(u32 most, i64& days, bool& whole) {
    i64 year, month = 1, day = 1;
    whole = false;
    accept('+');
    if (!number(4, most, year)) return false;
    if (accept('-')) {
      if (!number(1, 2, month)) return false;
      whole = accept('-');
      if (whole && !number(1, 2, day)) return false;
    }
    if (year < 1 || year > 9999 || month < 1 || month > 12 || day < 1) return false;
    days = days_of(year, int(month), int(day));
    return civil(days).month == month;
  }
};
inline bool is_epoch(Str s) {
  if (s.size != 5) return false;
  for (u32 i = 0; i < 5; i++)
    if ((s.at[i] | 32) != "epoch"[i]) return false;
  return true;
}
inline bool to_date(Str s, i32& out) {
  Moment m{trimmed(s)};
  i64 days = 0;
  bool whole;
  if (!is_epoch(m.s)) {
    if (!m.date(7, days, whole)) return false;
    if (!m.done() && !(whole && (m.at(' ') || m.at('T')))) return false;
  }
  out = i32(days);
  return true;
}
// A zone that changes nothing: Z, or UTC, GMT or UT, with at most an offset of zeros.
inline bool is_no_zone(Str s) {
  Moment m{trimmed(s)};
  if (m.done()) return false;
  if (m.accept('Z')) return m.done();
  auto word = [&](Str w) {
    return s.size >= w.size && m.s.size >= w.size && memcmp(m.s.at, w.at, w.size) == 0 &&
           (m.i = w.size, true);
  };
  word(Str{"UTC", 3}) || word(Str{"GMT", 3}) || word(Str{"UT", 2});
  if (m.done()) return true;
  if (!m.accept('+') && !m.accept('-')) return false;
  i64 n;
  u32 from = m.i;
  if (!m.number(1, 6, n) || n != 0) return false;
  u32 digits = m.i - from;
  if (m.done()) return digits == 1 || digits % 2 == 0;
  if (digits > 2 || !m.accept(':') || !m.number(1, 2, n) || n != 0) return false;
  if (m.done()) return true;
  return m.i == from + 5 && m.accept(':') && m.number(2, 2, n) && n == 0 && m.done();
}
inline bool to_timestamp(Str s, i64& out) {
  Moment m{trimmed(s)};
  i64 days = 0, hour = 0, minute = 0, second = 0, micros = 0;
  bool whole;
  if (!is_epoch(m.s) && !m.date(6, days, whole)) return false;
  if (!is_epoch(m.s) && !m.done()) {
    if (!whole || !(m.accept(' ') || m.accept('T')) || !m.number(1, 2, hour)) return false;
    if (m.accept(':') && !m.number(1, 2, minute)) return false;
    bool seconds = m.i && m.accept(':');
    if (seconds && !m.number(1, 2, second)) return false;
    if (seconds && m.accept('.')) {
      int places = 0;
      for (; !m.done() && is_digit(m.s.at[m.i]); m.i++, places++)
        if (places < 6) micros = micros * 10 + (m.s.at[m.i] - '0');
      for (; places < 6; places++) micros *= 10;
    }
    if (!m.done() && !(seconds && !m.at('.') && is_no_zone(Str{m.s.at + m.i, m.s.size - m.i}))) return false;
  }
  if (hour > 23 || minute > 59 || second > 59) return false;
  out = days * DAY + ((hour * 60 + minute) * 60 + second) * 1000000 + micros;
  return true;
}

// Values as text, in memory that lasts as long as the batch.
inline Str scratch_text(Env& e, const char* text, u32 size) {
  char* at = e.scratch.at<char>(e.scratch.take(size + 1));
  memcpy(at, text, size);
  return Str{at, size};
}
inline Str show_decimal(Env& e, i128 x, int scale) {
  char text[64];
  char* at = text + sizeof text;
  u128 rest = x < 0 ? -u128(x) : u128(x);
  for (int n = 0; rest || n <= scale; n++) {
    if (n == scale && scale) *--at = '.';
    *--at = char('0' + int(rest % 10));
    rest /= 10;
  }
  if (x < 0) *--at = '-';
  return scratch_text(e, at, u32(text + sizeof text - at));
}
inline Str show_bool(i8 x) { return x ? Str{"true", 4} : Str{"false", 5}; }
// As Java does: a point always, and an exponent outside of 0.001 to 10 million.
inline Str show_double(Env& e, f64 x) {
  char text[64];
  char* to = text;
  if (x == 0) return Str{"0.0", 3};
  if (x != x) return Str{"NaN", 3};
  if (!isfinite(x)) return x > 0 ? Str{"Infinity", 8} : Str{"-Infinity", 9};
  Digits d = digits_of(x);
  if (d.minus) *to++ = '-';
  if (d.power >= -3 && d.power < 7) {
    while (d.count > 1 && d.at[d.count - 1] == '0') d.count--;
    if (d.power < 0) *to++ = '0', *to++ = '.';
    for (int i = d.power + 1; i < 0; i++) *to++ = '0';
    for (int i = 0; i < d.count || i <= d.power; i++) {
      *to++ = i < d.count ? d.at[i] : '0';
      if (i == d.power) *to++ = '.';
    }
    if (to[-1] == '.') *to++ = '0';
  } else {
    *to++ = d.at[0], *to++ = '.';
    for (int i = 1; i < d.count; i++) *to++ = d.at[i];
    to += snprintf(to, 8, "E%d", d.power);
  }
  return scratch_text(e, text, u32(to - text));
}
inline char* put_number(char* to, i64 n, int width) {
  for (int i = width; i-- > 0; n /= 10) to[i] = char('0' + n % 10);
  return to + width;
}
inline char* put_date(char* to, i64 days) {
  Civil c = civil(days);
  to = put_number(to, c.year, 4), *to++ = '-';
  to = put_number(to, c.month, 2), *to++ = '-';
  return put_number(to, c.day, 2);
}
inline Str show_date(Env& e, i32 day) {
  char text[16];
  return scratch_text(e, text, u32(put_date(text, day) - text));
}
inline Str show_timestamp(Env& e, i64 moment) {
  char text[32];
  char* to = put_date(text, day_of(moment));
  i64 micros = time_of(moment) % 1000000;
  *to++ = ' ', to = put_number(to, hour_of(moment), 2);
  *to++ = ':', to = put_number(to, minute_of(moment), 2);
  *to++ = ':', to = put_number(to, second_of(moment), 2);
  if (micros) {
    *to++ = '.', to = put_number(to, micros, 6);
    while (to[-1] == '0') to--;
  }
  return scratch_text(e, text, u32(to - text));
}

}  // namespace fr
