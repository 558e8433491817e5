// The cofactor ring: how many rows, the sum of each variable, the sum of each product of two.
//
// The variables of a program are numbered, and a payload is of the type of its set of them: bit i of
// M says whether variable i is in it. So sizes and places are known to the compiler, and a view at
// the leaves holds few numbers. All of them are doubles; of the matrix one triangle is kept, row by
// row. Variables of one view are numbered together, so that most loops run through memory in order.
#pragma once

#include "value.hpp"

namespace fr {

// to[i] += c * from[i]; four at a time also where the compiler would not dare.
inline void gain(f64* __restrict to, const f64* __restrict from, f64 c, int n) {
  typedef f64 Four __attribute__((vector_size(32), aligned(8), may_alias));
  int i = 0;
  for (; i + 4 <= n; i += 4)
    *reinterpret_cast<Four*>(to + i) += c * *reinterpret_cast<const Four*>(from + i);
  for (; i < n; i++) to[i] += c * from[i];
}

// Slots of a table are mostly told by this, so it looks at four numbers at a time.
inline bool all_zero(const f64* from, int n) {
  typedef u64 Four __attribute__((vector_size(32), aligned(8), may_alias));
  Four any = {};
  u64 rest = 0;
  int i = 0;
  for (; i + 4 <= n; i += 4) any |= *reinterpret_cast<const Four*>(from + i);
  for (; i < n; i++) rest |= bits_of(from[i]);
  return ((any[0] | any[1] | any[2] | any[3] | rest) & ~(u64(1) << 63)) == 0;  // -0 is zero, too
}

template <u64 M> struct Cofactor {
  static constexpr int n = __builtin_popcountll(M);
  static constexpr int size = 1 + n + n * (n + 1) / 2;
  f64 v[size];  // the count, the sums, the products

  f64* sums() { return v + 1; }
  const f64* sums() const { return v + 1; }
  // The row of a variable in the triangle, as if it began with the first variable.
  f64* row(int i) { return v + 1 + n + i * n - i * (i - 1) / 2 - i; }
  const f64* row(int i) const { return v + 1 + n + i * n - i * (i - 1) / 2 - i; }

  bool operator==(int) const { return v[0] == 0 && all_zero(v + 1, size - 1); }
  bool operator!=(int zero) const { return !(*this == zero); }
};

// Where the variables of A are among those of M, and the runs of them with no other one between.
template <u64 A, u64 M> struct Among {
  static_assert((A & ~M) == 0, "a payload has all the variables of its parts");
  struct Run { int from, to, size; };
  int of[__builtin_popcountll(A) + 1] = {};
  Run run[__builtin_popcountll(A) + 1] = {};
  int runs = 0;
  constexpr Among() {
    int k = 0;
    for (int bit = 0; bit < 64; bit++) {
      if (!(A >> bit & 1)) continue;
      of[k] = __builtin_popcountll(M & ((u64(1) << bit) - 1));
      if (k == 0 || of[k] != of[k - 1] + 1) run[runs++] = Run{k, of[k], 0};
      run[runs - 1].size++;
      k++;
    }
  }
};
template <u64 A, u64 M> constexpr Among<A, M> among{};

// A product that is not multiplied yet: it may be added to something right away.
template <u64 A, u64 B> struct Product {
  const Cofactor<A>& a;
  const Cofactor<B>& b;
  operator Cofactor<A | B>() const {
    Cofactor<A | B> out{};
    gain(out, *this);
    return out;
  }
};

template <u64 A, u64 B> Product<A, B> mul(const Cofactor<A>& a, const Cofactor<B>& b) {
  return {a, b};
}
template <u64 A, u64 B> Cofactor<A | B> whole(const Product<A, B>& x) { return x; }

template <u64 M> Cofactor<M> scale(const Cofactor<M>& a, f64 by) {
  Cofactor<M> out{};
  gain(out.v, a.v, by, out.size);
  return out;
}

// The value of a variable in a row.
template <u64 X> struct Lifted { f64 x; };

// A row, so many times, in which some variables have these values: the product of their liftings.
template <u64... X> Cofactor<(X | ... | 0)> row(f64 n, Lifted<X>... values) {
  constexpr u64 M = (X | ... | 0);
  Cofactor<M> out{};
  f64 x[Cofactor<M>::n + 1];
  ((x[__builtin_popcountll(M & (X - 1))] = values.x), ...);
  out.v[0] = n;
  gain(out.sums(), x, n, out.n);
  for (int i = 0; i < out.n; i++) gain(out.row(i) + i, x + i, n * x[i], out.n - i);
  return out;
}

// The sums and products of `a`, so many times.
template <u64 M, u64 A> inline void gain_part(Cofactor<M>& to, const Cofactor<A>& a, f64 times) {
  constexpr auto& at = among<A, M>;
  for (int r = 0; r < at.runs; r++) {
    const auto& run = at.run[r];
    gain(to.sums() + run.to, a.sums() + run.from, times, run.size);
    for (int k = run.from; k < run.from + run.size; k++) {
      f64* row = to.row(at.of[k]);
      gain(row + at.of[k], a.row(k) + k, times, run.from + run.size - k);
      for (int q = r + 1; q < at.runs; q++)
        gain(row + at.run[q].to, a.row(k) + at.run[q].from, times, at.run[q].size);
    }
  }
}

template <u64 M, u64 A> inline void gain(Cofactor<M>& to, const Cofactor<A>& a) {
  if constexpr (A == M) {
    gain(to.v, a.v, 1, to.size);
  } else {
    to.v[0] += a.v[0];
    gain_part(to, a, 1);
  }
}

// The products of a variable of `a` and a later one of `b`.
template <u64 M, u64 A, u64 B>
inline void gain_pairs(Cofactor<M>& to, const Cofactor<A>& a, const Cofactor<B>& b) {
  constexpr auto &first = among<A, M>, &second = among<B, M>;
  for (int k = 0; k < a.n; k++) {
    f64* row = to.row(first.of[k]);
    for (int r = 0; r < second.runs; r++) {
      const auto& run = second.run[r];
      if (run.to > first.of[k]) gain(row + run.to, b.sums() + run.from, a.sums()[k], run.size);
    }
  }
}

// (c, s, Q) * (d, t, P) = (c*d, d*s + c*t, d*Q + c*P + s*t' + t*s').
template <u64 M, u64 A, u64 B> inline void gain(Cofactor<M>& to, const Product<A, B>& p) {
  to.v[0] += p.a.v[0] * p.b.v[0];
  gain_part(to, p.a, p.b.v[0]);
  gain_part(to, p.b, p.a.v[0]);
  if constexpr ((A & B) == 0) {
    gain_pairs(to, p.a, p.b);
    gain_pairs(to, p.b, p.a);
  } else {
    constexpr auto &first = among<A, M>, &second = among<B, M>;
    for (int k = 0; k < p.a.n; k++) {
      for (int l = 0; l < p.b.n; l++) {
        int i = first.of[k], j = second.of[l];
        f64 x = p.a.sums()[k] * p.b.sums()[l];
        to.row(i < j ? i : j)[i < j ? j : i] += i == j ? 2 * x : x;
      }
    }
  }
}

}  // namespace fr
