// Filters without feedback over many stretches of samples.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "signal/runs.hpp"

namespace freshview::signal {

// Eight outputs beside each other; four of these are summed up at a time, tap after tap, so every
// output is the same sum in the same order, wherever it lies and whatever lies beside it.
typedef double Lanes __attribute__((vector_size(64), aligned(8), may_alias));
constexpr Int WIDE = 32;

inline void fir_block(const double* x, const double* taps, Int size, double* y) {
  Lanes a = {}, b = {}, c = {}, d = {};
  for (Int i = 0; i < size; ++i) {
    const double tap = taps[i];
    const double* at = x - i;
    Lanes p, q, r, s;
    std::memcpy(&p, at, sizeof p);
    std::memcpy(&q, at + 8, sizeof q);
    std::memcpy(&r, at + 16, sizeof r);
    std::memcpy(&s, at + 24, sizeof s);
    a += p * tap;
    b += q * tap;
    c += r * tap;
    d += s * tap;
  }
  std::memcpy(y, &a, sizeof a);
  std::memcpy(y + 8, &b, sizeof b);
  std::memcpy(y + 16, &c, sizeof c);
  std::memcpy(y + 24, &d, sizeof d);
}

// y[n] = sum of taps[i] * x[n - i] for the outputs of spans, one after the other. A span begins at
// `from[s]`, has `count[s]` outputs, and before it come `before[s]` samples; earlier ones are zero.
inline void fir(const double* x, const double* taps, Int size, Int spans, const Int* from,
                const Int* before, const Int* count, double* y) {
  const Int history = size - 1;
  std::vector<double> room(static_cast<std::size_t>(2 * history + 2 * WIDE));
  for (Int s = 0; s < spans; ++s) {
    const double* in = x + from[s];
    const Int n = count[s], known = std::min(before[s], history);
    Int at = 0;
    while (at < n) {
      const Int reach = std::min(known + at, history);
      if (reach == history && n - at >= WIDE) {
        fir_block(in + at, taps, size, y + at);
        at += WIDE;
        continue;
      }
      // Near the ends of a span: the samples there are, between zeros.
      const Int here = std::min<Int>(WIDE, n - at);
      double out[WIDE];
      std::fill(room.begin(), room.end(), 0.0);
      std::memcpy(&room[history - reach], in + at - reach, sizeof(double) * (reach + here));
      fir_block(&room[history], taps, size, out);
      std::memcpy(y + at, out, sizeof(double) * here);
      at += here;
    }
    y += n;
  }
}

}  // namespace freshview::signal
