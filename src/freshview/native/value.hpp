// Values as kernels hold them: plain numbers of fixed width, NULL as the smallest of each kind.
//
// Equality of keys is equality of bits, NULL included; so keys need no flags, and hashing and
// comparing them is arithmetic. Inputs that would collide with NULL are refused at the boundary.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace fr {

using i8 = int8_t;
using i32 = int32_t;
using i64 = int64_t;
using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
using f64 = double;
using i128 = __int128;
using u128 = unsigned __int128;

// Text outside of the state: it lives as long as the batch (or the constant) that brings it.
struct Str {
  const char* at;  // null for NULL
  u32 size;
};

// Text inside the state: up to seven bytes are the value itself, longer ones are numbered by
// `Strings`; equal texts have equal symbols.
struct Sym {
  u64 bits;
  bool operator==(Sym other) const { return bits == other.bits; }
  bool operator!=(Sym other) const { return bits != other.bits; }
};

inline f64 double_of(u64 bits) { f64 x; memcpy(&x, &bits, 8); return x; }
inline u64 bits_of(f64 x) { u64 bits; memcpy(&bits, &x, 8); return bits; }

// NULL of every representation: null<i64>() and so on. Never a function of the library, which would
// show the names of those.
#define FR_NULL inline __attribute__((always_inline))
template <class T> inline T null();
template <> FR_NULL i8 null<i8>() { return INT8_MIN; }
template <> FR_NULL i32 null<i32>() { return INT32_MIN; }
template <> FR_NULL i64 null<i64>() { return INT64_MIN; }
template <> FR_NULL i128 null<i128>() { return i128(u128(1) << 127); }
template <> FR_NULL f64 null<f64>() { return double_of(0x7ff80000000dead0ull); }
template <> FR_NULL Sym null<Sym>() { return Sym{~0ull}; }
template <> FR_NULL Str null<Str>() { return Str{nullptr, 0}; }

template <class T> inline bool is_null(T x) { return x == null<T>(); }
template <> inline bool is_null<f64>(f64 x) { return bits_of(x) == 0x7ff80000000dead0ull; }
template <> inline bool is_null<Str>(Str x) { return x.at == nullptr; }

// One multiplication and a fold: every bit of both words reaches every bit of the answer.
inline u64 mix(u64 a, u64 b) {
  u128 wide = u128(a ^ 0x9e3779b97f4a7c15ull) * (b ^ 0xd6e8feb86659fd93ull);
  return u64(wide) ^ u64(wide >> 64);
}

inline u64 word(i8 x) { return u64(x); }
inline u64 word(i32 x) { return u64(x); }
inline u64 word(i64 x) { return u64(x); }
inline u64 word(i128 x) { return mix(u64(x), u64(x >> 64)); }
inline u64 word(f64 x) { return bits_of(x); }
inline u64 word(Sym x) { return x.bits; }

// A double as a key: one zero, one NaN.
inline f64 as_key(f64 x) { return x != x ? (is_null(x) ? x : double_of(0x7ff8000000000000ull)) : x + 0.0; }
inline bool same(f64 a, f64 b) { return bits_of(a) == bits_of(b); }
template <class T> inline bool same(T a, T b) { return a == b; }

// The order of ordered indexes: of numbers as they are, NULL first and NaN last; of symbols any
// that is total.
template <class T> inline bool sorts(T a, T b) { return a < b; }
template <> inline bool sorts(f64 a, f64 b) {
  if (__builtin_expect(__builtin_isunordered(a, b), 0))
    return a != a ? is_null(a) && !is_null(b) : !is_null(b);
  return a < b;
}
template <> inline bool sorts(Sym a, Sym b) { return a.bits < b.bits; }

}  // namespace fr
