// Columns of numbers, a cache line of values at a time.
//
// Vectors are those of the compiler's extension, so that loops over columns do not depend on how much
// a file is optimized; where a processor has shorter ones, the compiler splits them.
#pragma once

#include "value.hpp"

// Vectors are passed to functions that are all compiled here: how wide ones are passed elsewhere does
// not matter.
#pragma GCC diagnostic ignored "-Wpsabi"

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
  i64 i = 0;
  for (; i + Values::SIZE <= size; i += Values::SIZE, next += 64) {
    __builtin_prefetch(next, 0, 2);
    lanes &= good(Values::load(at + i));
  }
  bool every = true;
  for (int k = 0; k < Values::SIZE; k++) every &= lanes[k] != 0;
  for (; i < size; i++) every &= bool(good(at[i]));
  return every;
}

}  // namespace fr
