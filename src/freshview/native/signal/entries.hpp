// What Python calls, by arrays of NumPy.
#pragma once

#include "signal/fir.hpp"
#include "signal/runs.hpp"

#define FRESHVIEW_ENTRY extern "C" __attribute__((visibility("default")))

namespace fs = freshview::signal;

FRESHVIEW_ENTRY fs::Int time_breaks(const fs::Int* time, fs::Int count, fs::Int step, fs::Int most,
                                    fs::Int* out) {
  return fs::breaks(count, most, out, [=](fs::Int i) { return (time[i] - time[i - 1]) ^ step; });
}

FRESHVIEW_ENTRY fs::Int value_breaks(const fs::Int* value, fs::Int count, fs::Int most,
                                     fs::Int* out) {
  return fs::breaks(count, most, out, [=](fs::Int i) { return value[i] ^ value[i - 1]; });
}

FRESHVIEW_ENTRY fs::Int event_breaks(const fs::Int* group, const fs::Int* start, const fs::Int* end,
                                     fs::Int count, fs::Int step, fs::Int width, fs::Int most,
                                     fs::Int* out) {
  return fs::breaks(count, most, out, [=](fs::Int i) {
    return (group[i] ^ group[i - 1]) | ((start[i] - start[i - 1]) ^ step) |
           ((end[i] - start[i]) ^ width);
  });
}

FRESHVIEW_ENTRY void copy_spans(const char* source, char* target, fs::Int cell, fs::Int spans,
                                const fs::Int* from, const fs::Int* to, const fs::Int* count,
                                fs::Int stride) {
  fs::copy_spans(source, target, cell, spans, from, to, count, stride);
}

FRESHVIEW_ENTRY void fir(const double* x, const double* taps, fs::Int size, fs::Int spans,
                         const fs::Int* from, const fs::Int* before, const fs::Int* count,
                         double* y) {
  fs::fir(x, taps, size, spans, from, before, count, y);
}
