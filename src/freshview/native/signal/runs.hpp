// Runs of events: where columns of times and groups stop being regular, and values laid out anew.
#pragma once

#include <cstdint>
#include <cstring>

namespace freshview::signal {

using Int = std::int64_t;

// The numbers of the entries, from the second on, that differ from what the entry before asks for;
// -1 if there are more than `most`. Blocks without any, which are nearly all, take no branch.
template <class Differs>
Int breaks(Int count, Int most, Int* out, Differs differs) {
  constexpr Int BLOCK = 256;
  Int size = 0, at = 1;
  for (; at + BLOCK <= count; at += BLOCK) {
    Int any = 0;
    for (Int j = 0; j < BLOCK; ++j) any |= differs(at + j);
    if (!any) continue;
    for (Int j = 0; j < BLOCK; ++j) {
      if (!differs(at + j)) continue;
      if (size == most) return -1;
      out[size++] = at + j;
    }
  }
  for (; at < count; ++at) {
    if (!differs(at)) continue;
    if (size == most) return -1;
    out[size++] = at;
  }
  return size;
}

// Of spans of entries, the j-th of `from` goes to the place `to + j * stride`; `cell` bytes each.
inline void copy_spans(const char* source, char* target, Int cell, Int spans, const Int* from,
                       const Int* to, const Int* count, Int stride) {
  for (Int s = 0; s < spans; ++s) {
    const char* in = source + from[s] * cell;
    char* out = target + to[s] * cell;
    if (stride == 1) {
      std::memcpy(out, in, static_cast<std::size_t>(count[s] * cell));
    } else if (cell == 8) {
      for (Int j = 0; j < count[s]; ++j) std::memcpy(out + j * stride * 8, in + j * 8, 8);
    } else {
      for (Int j = 0; j < count[s]; ++j)
        std::memcpy(out + j * stride * cell, in + j * cell, static_cast<std::size_t>(cell));
    }
  }
}

}  // namespace freshview::signal
