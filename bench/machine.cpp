// What memory allows: loads that wait for one another, loads that do not, and reading in order.
#include <stdint.h>
#include <time.h>

static double now() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}

static volatile uint64_t sink;  // nothing that is measured is left out by the compiler

extern "C" {

// Nanoseconds of a load whose address the load before it gives; `next` is one cycle through `lines`
// cache lines of eight words.
double chase(const uint64_t* next, uint64_t steps) {
  uint64_t at = 0;
  const double began = now();
  for (uint64_t i = 0; i < steps; i++) at = next[at];
  sink = at;
  return (now() - began) * 1e9 / double(steps);
}

// The same of loads at random lines that do not wait for one another; `lines` is a power of two.
double gather(const uint64_t* words, uint64_t lines, uint64_t steps) {
  uint64_t sum = 0, place = 88172645463325252ull;
  const double began = now();
  for (uint64_t i = 0; i < steps; i++) {
    place = place * 6364136223846793005ull + 1442695040888963407ull;
    sum += words[(place >> 32 & (lines - 1)) * 8];
  }
  sink = sum;
  return (now() - began) * 1e9 / double(steps);
}

// Bytes per nanosecond of reading in order.
double stream(const uint64_t* words, uint64_t size, uint64_t rounds) {
  uint64_t sum = 0;
  const double began = now();
  for (uint64_t r = 0; r < rounds; r++)
    for (uint64_t i = 0; i < size; i++) sum += words[i];
  sink = sum;
  return double(size) * 8 * double(rounds) / ((now() - began) * 1e9);
}

}  // extern "C"
