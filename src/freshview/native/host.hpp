// Functions that have no C++: generated code calls them in the language of the host.
#pragma once

#include "kernel.hpp"

namespace fr {

template <class T> inline Arg host_arg(Kind kind, u8 scale, T x) {
  return is_null(x) ? Arg() : Arg(kind, scale, x);
}

// The answer of a function; where it has none the batch will be taken back, and what stands here is the
// same every time.
template <class T> inline T no_answer() { return T(); }
template <> inline Str no_answer() { return Str{"", 0}; }

template <class T, int N>
__attribute__((noinline)) T host(Env& e, const char* fn, Kind kind, u8 scale, const Arg (&args)[N]) {
  T out;
  const Column result{fn, kind, scale, true, true};
  return call_host(e, fn, result, args, N, &out) ? out : no_answer<T>();
}

// The answers of a function for the rows of a batch, where it has them.
template <class T> struct HostColumn {
  T* value = nullptr;
  bool* known = nullptr;

  bool has(i64 row) const { return known && known[row]; }
};

const i64 FEW = 4;        // rows that are asked one by one
const i64 PORTION = 1024;  // rows that are asked at once

// `fill` writes the arguments of a row, or says that it is not asked for.
template <class T, int N, class Fill>
__attribute__((noinline)) HostColumn<T> host_column(Env& e, i64 size, const char* fn, Kind kind, u8 scale,
                                                    Fill fill) {
  HostColumn<T> out;
  if (size < FEW) return out;
  Arena& arena = column_arena(e);
  out.value = arena.at<T>(arena.take(u64(size) * sizeof(T)));
  out.known = arena.at<bool>(arena.take(u64(size)));
  Arg* args = arena.at<Arg>(arena.take(PORTION * N * sizeof(Arg)));
  T* answer = arena.at<T>(arena.take(PORTION * sizeof(T)));
  bool* known = arena.at<bool>(arena.take(PORTION));
  u32* rows = arena.at<u32>(arena.take(PORTION * sizeof(u32)));
  const Column result{fn, kind, scale, true, true};
  for (i64 from = 0; from < size; from += PORTION) {
    const i64 end = size - from < PORTION ? size : from + PORTION;
    i64 n = 0;
    for (i64 i = from; i < end; i++) {
      for (int j = 0; j < N; j++) args[n * N + j] = Arg();
      if (fill(i, args + n * N)) rows[n++] = u32(i);
    }
    call_host_rows(e, fn, result, args, N, n, answer, sizeof(T), known);
    for (i64 i = 0; i < n; i++) {
      out.value[rows[i]] = answer[i];
      out.known[rows[i]] = known[i];
    }
  }
  return out;
}

}  // namespace fr
