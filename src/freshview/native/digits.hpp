// Numbers and their digits: doubles as the shortest text that reads back, decimals from text.
//
// The functions of C that do it ask the locale for the point; here it is always a dot.
#pragma once

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

#include "libm.hpp"
#include "value.hpp"

namespace fr {

// The nearest double of a text like -1.5e3, which ends with a zero byte.
inline f64 double_of_text(const char* text) {
#ifdef __APPLE__
  return strtod_l(text, nullptr, nullptr);
#else
  return strtod_l(text, nullptr, newlocale(LC_ALL_MASK, "C", locale_t(0)));  // of "C" there is one
#endif
}

constexpr i128 power_of_ten(int n) {
  i128 out = 1;
  while (n-- > 0) out *= 10;
  return out;
}

// The digits of a number: the first stands before the point, times a power of ten.
struct Digits {
  char at[40];
  int count = 0, power = 0;
  bool minus = false;
};

// At least two digits, and no more than it takes to tell the double from all others.
__attribute__((noinline)) inline Digits digits_of(f64 x) {
  Digits d;
  d.minus = x < 0;
  char printed[48], text[48];
  for (int n = 1; n < 17; n++) {
    snprintf(printed, sizeof printed, "%.*e", n, fabs(x));
    char* to = text;
    d.count = 0;
    const char* p = printed;
    for (; *p != 'e'; p++) {
      if (*p < '0' || *p > '9') continue;
      d.at[d.count++] = *to++ = *p;
      if (d.count == 1) *to++ = '.';
    }
    d.power = atoi(p + 1);
    snprintf(to, 8, "%s", p);
    if (double_of_text(text) == fabs(x)) break;
  }
  return d;
}

// The digits as a whole number scaled by 10^scale, halves away from zero; false where it has more
// than `most` digits.
inline bool scaled_digits(const char* digits, i64 count, i64 power, bool minus, int scale, i128 limit,
                          i128& out) {
  i64 first = 0;
  while (first < count && digits[first] == '0') first++, power--;
  if (first == count) return out = 0, true;
  i64 kept = power + 1 + scale;  // digits before the last that is kept
  if (power >= 39) return false;
  i128 n = 0;
  for (i64 i = 0; i < kept; i++) {
    if (n > limit) return false;
    n = n * 10 + (first + i < count ? digits[first + i] - '0' : 0);
  }
  if (kept >= 0 && first + kept < count && digits[first + kept] >= '5') n++;
  out = minus ? -n : n;
  return n <= limit;
}

// A double rounded by the digits that it shows.
__attribute__((noinline)) inline f64 round_digits(f64 x, int digits) {
  if (!isfinite(x) || x == 0) return x;
  Digits d = digits_of(x);
  int kept = d.power + 1 + digits;  // digits of it that stay
  if (kept >= d.count) return x;
  if (kept < 0) return 0;
  bool up = d.at[kept] >= '5';
  char text[64];
  char* to = text;
  if (d.minus) *to++ = '-';
  *to++ = '0';
  for (int i = 0; i < kept; i++) *to++ = d.at[i];
  *to = 0;
  for (char* p = to - 1; up; p--) up = *p == '9' ? (*p = '0', true) : (++*p, false);
  snprintf(to, 12, "e%d", d.power + 1 - kept);
  return double_of_text(text) + 0.0;
}

// A whole number scaled by 10^scale, as the nearest double.
__attribute__((noinline)) inline f64 double_of_scaled(i128 x, int scale) {
  char text[64];
  char* end = text + sizeof text;
  char* at = end - 8;
  snprintf(at, 8, "e-%d", scale);
  u128 rest = x < 0 ? -u128(x) : u128(x);
  do *--at = char('0' + int(rest % 10)), rest /= 10;
  while (rest);
  if (x < 0) *--at = '-';
  return double_of_text(at);
}

}  // namespace fr
