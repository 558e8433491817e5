// Columns of numbers, a cache line of values at a time.
//
// Vectors are those of the compiler's extension, so that loops over columns do not depend on how much
// a file is optimized; where a processor has shorter ones, the compiler splits them.
#pragma once

#include "value.hpp"

// Vectors are passed to functions that are all compiled here: how wide ones are passed elsewhere does
// not matter.
#pragma GCC diagnostic ignored "-Wpsabi"

// Words of two vectors of 64 bits each, in an order that is known; places count through both.
#ifdef __clang__
#define FR_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define FR_SHUFFLE(a, b, ...) __builtin_shuffle(a, b, decltype(a){__VA_ARGS__})
#endif

namespace fr {

template <class T> struct Line {
  static constexpr i64 SIZE = 64 / sizeof(T);
  typedef T Vector __attribute__((vector_size(64)));

  static Vector load(const T* at) {
    Vector x;
    memcpy(&x, at, sizeof(x));
    return x;
  }
};

// Whether all the values are good: `good` takes a value, or a line of them, and gives the mask of a
// comparison. What will be read next is asked for meanwhile: it lies elsewhere, where the machine's
// own look-ahead would have to begin anew. It is brought no nearer than the second level: the first
// waits for few lines at a time, and those that are read now come first.
template <class T, class Good>
inline bool all_good(const T* at, i64 size, const char* next, Good good) {
  using Values = Line<T>;
  if (!next) next = reinterpret_cast<const char*>(at);
  auto lanes = good(typename Values::Vector{}) | ~good(typename Values::Vector{});
  auto others = lanes;  // every second line, so that none waits for the last
  i64 i = 0;
  for (; i + 2 * Values::SIZE <= size; i += 2 * Values::SIZE, next += 128) {
    __builtin_prefetch(next, 0, 2);
    __builtin_prefetch(next + 64, 0, 2);
    lanes &= good(Values::load(at + i));
    others &= good(Values::load(at + i + Values::SIZE));
  }
  lanes &= others;
  bool every = true;
  for (int k = 0; k < Values::SIZE; k++) every &= lanes[k] != 0;
  for (; i < size; i++) every &= bool(good(at[i]));
  return every;
}

// Copies counts, each times a sign, and looks at them on the way: whether one is 0, and whether all are
// counts.
inline bool copy_counts(i64* to, const i64* from, i64 size, i64 sign, bool& zeros) {
  using Counts = Line<i64>;
  const Counts::Vector factor = Counts::Vector{} + sign;
  Counts::Vector odd = {}, none = {};
  i64 i = 0;
  for (; i + Counts::SIZE <= size; i += Counts::SIZE) {
    const Counts::Vector x = Counts::load(from + i), signed_ = x * factor;
    odd |= Counts::Vector(x == INT64_MIN);
    none |= Counts::Vector(x == 0);
    memcpy(to + i, &signed_, sizeof(signed_));
  }
  i64 some_odd = 0, some_none = 0;
  for (int k = 0; k < Counts::SIZE; k++) some_odd |= odd[k], some_none |= none[k];
  for (; i < size; i++) {
    const i64 x = from[i];
    some_odd |= x == INT64_MIN;
    some_none |= x == 0;
    to[i] = i64(u64(x) * u64(sign));
  }
  zeros = some_none != 0;
  return some_odd == 0;
}

}  // namespace fr
