// Exact decimals at the boundary: integers scaled by a power of ten, of at most 38 digits as in
// Arrow and Spark, which also keeps them off NULL.
#pragma once

#include "value.hpp"

namespace fr {
namespace edge {  // names of its own: generated code stands beside it

constexpr i128 ten_to(int n) {
  i128 out = 1;
  while (n-- > 0) out *= 10;
  return out;
}

struct Powers {  // of ten
  i128 of[39];
  constexpr Powers() : of() {
    for (int n = 0; n < 39; n++) of[n] = ten_to(n);
  }
};
inline constexpr Powers powers{};

inline bool is_decimal(i128 x) {
  constexpr i128 end = ten_to(38);
  return -end < x && x < end;
}

// x * 10^by, or false where that is not an integer or leaves the range.
inline bool rescale(i128 x, int by, i128& out) {
  if (by < -38 || by > 38) { out = 0; return x == 0; }
  if (by >= 0) return !__builtin_mul_overflow(x, ten_to(by), &out) && is_decimal(out);
  i128 unit = ten_to(-by);
  out = x / unit;
  return out * unit == x && is_decimal(out);
}

// Reads what Python writes for a decimal, like -12.50 or 1E+3, as an integer scaled by 10^scale.
// Digits beyond the scale are refused even where they are zero, as `calculus.rows` does.
inline bool read_decimal(const char* at, i64 size, int scale, i128& out) {
  const char* end = at + size;
  bool minus = at < end && *at == '-', after = false, any = false;
  if (minus) at++;
  i128 digits = 0;
  i64 places = 0, power = 0;
  for (; at < end && *at != 'E'; at++) {
    if (*at == '.') { after = true; continue; }
    if (*at < '0' || *at > '9' || digits >= ten_to(37)) return false;  // NaN, Infinity, too long
    digits = digits * 10 + (*at - '0');
    places += after;
    any = true;
  }
  if (at < end) {
    bool down = ++at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) at++;
    for (; at < end; at++) {
      if (*at < '0' || *at > '9') return false;
      if (power < 1000000) power = power * 10 + (*at - '0');
    }
    if (down) power = -power;
  }
  i64 by = scale + power - places;
  if (!any || by < 0) return false;
  return rescale(minus ? -digits : digits, by < 1000 ? int(by) : 1000, out);
}

// Writes digits with a point before the last `scale` of them; gives the end. A scale is a byte,
// so 300 characters are enough.
inline char* write_decimal(i128 x, int scale, char* out) {
  char digits[300];
  int n = 0;
  u128 rest = x < 0 ? -u128(x) : u128(x);
  do digits[n++] = char('0' + int(rest % 10)), rest /= 10;
  while (rest || n <= scale);
  if (x < 0) *out++ = '-';
  while (n) {
    if (n == scale) *out++ = '.';
    *out++ = digits[--n];
  }
  return out;
}

}  // namespace edge
}  // namespace fr
