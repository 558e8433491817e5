// Doubles of a block of rows, eight rows at a time, added up as whole numbers.
//
// A sum of doubles has about 106 bits (`sum.hpp`), and its additions depend on each other. Within a
// block they need not: all the numbers are taken as multiples of one unit, in two words of 50 bits, and
// words are added in any order without rounding. That keeps as many digits as a sum has, where the
// numbers of the block are of like size: `Span` bounds their sizes once a block, by the very
// expressions that give the numbers. Other blocks go to the table row by row.
#pragma once

#include "lanes.hpp"
#include "sum.hpp"

namespace fr {

typedef f64 RealVector __attribute__((vector_size(LANES * sizeof(f64))));
typedef u64 WordVector __attribute__((vector_size(LANES * sizeof(u64))));

// -- bounds ----------------------------------------------------------------------------------------

// The sizes of numbers: none is larger than `most`, and none but 0 smaller than `least`.
struct Span {
  f64 least = infinity, most = 0;

  Span() = default;
  Span(f64 x) : least(x == 0 ? infinity : fabs(x)), most(fabs(x)) {}
  Span(f64 from, f64 to) : least(from), most(to) {}

  void raise(Span other) {
    least = other.least < least ? other.least : least;
    most = other.most > most ? other.most : most;
  }
};

// Numbers are rounded to 53 bits on the way, and products of them may be a little larger than this.
inline Span times(Span a, Span b) { return Span(a.least * b.least, a.most * b.most); }
inline Span lift(Span x) { return x; }
// A whole number that is not 0 is at least 1; doubles hold it with all its digits.
inline Span lift(Magnitude n) { return Span(1, n.most < 0x1p51 ? n.most : infinity); }
inline Span times(Magnitude n, Span x) { return times(lift(n), x); }

// The sizes of a column, by powers of two.
inline Span span(const f64* at, i64 size) {
  constexpr i64 EXPONENT = 0x7ffll << 52;
  LaneVector low = LaneVector{} + EXPONENT, high = {};
  i64 i = 0;
  for (; i + LANES <= size; i += LANES) {
    LaneVector x;
    memcpy(&x, at + i, sizeof(x));
    const LaneVector larger = x & EXPONENT, smaller = larger | (((x << 1) == 0) & EXPONENT);
    low = smaller < low ? smaller : low;
    high = larger > high ? larger : high;
  }
  i64 least = EXPONENT, most = 0;
  for (int k = 0; k < LANES; k++) {
    least = low[k] < least ? low[k] : least;
    most = high[k] > most ? high[k] : most;
  }
  for (; i < size; i++) {
    const i64 bits = i64(bits_of(at[i])), exponent = bits & EXPONENT;
    if (bits << 1 != 0 && exponent < least) least = exponent;
    most = exponent > most ? exponent : most;
  }
  return Span(least == EXPONENT ? infinity : double_of(u64(least)), 2 * double_of(u64(most)));
}

// The unit of a sum of a block: a number of it is whole * 2^-WORD + rest * 2^(-2 WORD) of `size`.
struct Scale {
  static constexpr int WORD = 50;
  static constexpr f64 MOST_RATIO = 0x1p36;  // of two numbers of a block: the lesser one keeps 64 bits
  f64 to_whole = 0, to_rest = 0, of_whole = 0, of_rest = 0;

  // Whether numbers of these sizes can be added up like this.
  bool set(Span sizes) {
    if (sizes.most == 0) sizes.most = 1;
    if (!(sizes.most < 0x1p800 && sizes.most > 0x1p-800)) return false;
    if (!(sizes.least * MOST_RATIO >= sizes.most)) return false;
    int exponent;
    frexp(sizes.most, &exponent);
    ++exponent;  // bounds are rounded, too
    to_whole = ldexp(1, WORD - exponent), to_rest = ldexp(1, 2 * WORD - exponent);
    of_whole = ldexp(1, exponent - WORD), of_rest = ldexp(1, exponent - 2 * WORD);
    return true;
  }

  // What the words of a group stand for. The fingerprint tells whether any row is left.
  Sum sum(i64 whole, i64 rest, u64 print) const {
    if (print == 0) return Sum{0, 0, 0};
    const Sum a = lift(whole), b = lift(rest);
    return plus(Sum{a.hi * of_whole, a.lo * of_whole, print}, Sum{b.hi * of_rest, b.lo * of_rest, 0});
  }
};

// -- eight rows at a time --------------------------------------------------------------------------

// A column of doubles.
struct RealLanes {
  RealVector x;

  RealLanes() = default;
  explicit RealLanes(RealVector v) : x(v) {}
  RealLanes(f64 n) : x(RealVector{} + n) {}

  // The next rows of a column, of which so many are left; zeros after the last.
  static RealLanes load(const f64* at, i64 left) {
    RealLanes out;
    if (__builtin_expect(left >= LANES, 1)) {
      memcpy(&out.x, at, sizeof(out.x));
    } else {
      out.x = RealVector{};
      memcpy(&out.x, at, size_t(left) * sizeof(f64));
    }
    return out;
  }
};

inline WordVector words_of(RealVector x) { return reinterpret_cast<WordVector>(x); }

// `mix` of each number with another one.
inline WordVector mix(WordVector x, u64 other) {
  const u64 b = other ^ 0xd6e8feb86659fd93ull, low = u32(b), high = b >> 32;
  const WordVector a = x ^ 0x9e3779b97f4a7c15ull, half = WordVector{} + UINT32_MAX;
  const WordVector a_low = a & half, a_high = a >> 32;
  const WordVector ll = a_low * low, lh = a_low * high, hl = a_high * low, hh = a_high * high;
  const WordVector middle = (ll >> 32) + (hl & half) + lh;
  return ((middle << 32) | (ll & half)) ^ (hh + (hl >> 32) + (middle >> 32));
}

inline WordVector print_of(RealVector x) {
  const WordVector bits = words_of(x), rest = bits << 1;
  const WordVector print = (mix(rest, 0x2545f4914f6cdd1dull) | 2) & ~u64(1);
  const WordVector negative = WordVector(LaneVector(bits) >> 63), there = WordVector(rest != 0);
  return ((print ^ negative) - negative) & there;
}

// What rows bring, as `Real` and `Sum` are of one row: numbers that are not far.
struct Lifted {
  RealVector hi;
  WordVector print;
};
struct Sums {
  RealVector hi, lo;
  WordVector print;
};

inline RealVector fused(RealVector a, RealVector b, RealVector c) {
  RealVector out;
  for (int k = 0; k < LANES; k++) out[k] = __builtin_fma(a[k], b[k], c[k]);
  return out;
}

constexpr f64 ROUNDER = 0x1.8p52;  // beside it a double is a whole number, which its last bits are

inline Lifted lift(RealLanes x) { return Lifted{x.x, print_of(x.x)}; }
inline Lifted lift(Lanes n) {  // within 51 bits
  const RealVector near = reinterpret_cast<RealVector>(n.x + i64(bits_of(ROUNDER)));
  return Lifted{near - ROUNDER, WordVector(n.x) << 1};
}
inline Sums times(Lifted a, Lifted b) {
  const RealVector p = a.hi * b.hi;
  return Sums{p, fused(a.hi, b.hi, -p), (a.print >> 1) * b.print};
}
inline Sums times(Sums a, Lifted b) {
  const RealVector p = a.hi * b.hi, rest = fused(a.hi, b.hi, -p) + a.lo * b.hi, hi = p + rest;
  return Sums{hi, rest - (hi - p), (a.print >> 1) * b.print};
}
inline Sums times(Lifted a, Sums b) { return times(b, a); }
inline Sums times(Sums a, Sums b) {
  const RealVector p = a.hi * b.hi;
  const RealVector rest = fused(a.hi, b.hi, -p) + (a.hi * b.lo + a.lo * b.hi), hi = p + rest;
  return Sums{hi, rest - (hi - p), (a.print >> 1) * b.print};
}
inline Sums times(Lanes n, Lifted x) { return times(lift(n), x); }
inline Sums times(Lanes n, Sums x) { return times(lift(n), x); }

// What rows bring in words.
struct Words {
  Lanes whole, rest, print;
  Words operator+(const Words& other) const {
    return Words{Lanes(whole.x + other.whole.x), Lanes(rest.x + other.rest.x),
                 Lanes(print.x + other.print.x)};
  }
};

inline LaneVector rounded(RealVector x) {  // within 51 bits
  return LaneVector(words_of(x + ROUNDER) - bits_of(ROUNDER));
}
inline Words in_words(const Scale& scale, Sums x) {
  const RealVector wide = x.hi * scale.to_whole;
  const RealVector left = wide - ((wide + ROUNDER) - ROUNDER);
  const RealVector rest = left * ldexp(1, Scale::WORD) + x.lo * scale.to_rest;
  return Words{Lanes(rounded(wide)), Lanes(rounded(rest)), Lanes(LaneVector(x.print))};
}
inline Words in_words(const Scale& scale, Lifted x) {
  return in_words(scale, Sums{x.hi, RealVector{}, x.print});
}

}  // namespace fr
