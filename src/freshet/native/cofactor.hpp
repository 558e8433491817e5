// The cofactor ring: how many rows, the sum of each variable, the sum of each product of two.
//
// The variables of a program are numbered, and a payload is of the type of its set of them: bit i of
// M says whether variable i is in it. So sizes and places are known to the compiler, and a view at
// the leaves holds few numbers. All of them are doubles; of the matrix one triangle is kept, row by
// row. Variables of one view are numbered together, so that most loops run through memory in order.
#pragma once

#include "value.hpp"

namespace fr {

template <u64 M> struct Cofactor {
  static constexpr int n = __builtin_popcountll(M);
  static constexpr int size = 1 + n + n * (n + 1) / 2;
  f64 v[size];  // the count, the sums, the products

  f64* sums() { return v + 1; }
  const f64* sums() const { return v + 1; }
  // The row of a variable in the triangle, as if it began with the first variable.
  f64* row(int i) { return v + 1 + n + i * n - i * (i - 1) / 2 - i; }
  const f64* row(int i) const { return v + 1 + n + i * n - i * (i - 1) / 2 - i; }

  bool operator==(int) const {  // with zero; mostly the count tells
    for (int i = 0; i < size; i++)
      if (v[i] != 0) return false;
    return true;
  }
  bool operator!=(int zero) const { return !(*this == zero); }
};

// Where the variables of A are among those of M.
template <u64 A, u64 M> struct Among {
  static_assert((A & ~M) == 0, "a payload has all the variables of its parts");
  int of[__builtin_popcountll(A) + 1] = {};
  bool together = true;  // whether no other one is between them
  constexpr Among() {
    int k = 0;
    for (int bit = 0; bit < 64; bit++)
      if (A >> bit & 1) of[k++] = __builtin_popcountll(M & ((u64(1) << bit) - 1));
    for (int i = 1; i < k; i++) together &= of[i] == of[i - 1] + 1;
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
  Cofactor<M> out;
  for (int i = 0; i < out.size; i++) out.v[i] = a.v[i] * by;
  return out;
}

// One row in which a variable has this value; and rows without variables.
template <u64 X> Cofactor<X> lifted(f64 x) { return {{1, x, x * x}}; }
inline Cofactor<0> rows_only(f64 n) { return {{n}}; }

// The sums and products of `a`, so many times.
template <u64 M, u64 A> inline void gain_part(Cofactor<M>& to, const Cofactor<A>& a, f64 times) {
  constexpr auto& at = among<A, M>;
  for (int k = 0; k < a.n; k++) {
    to.sums()[at.of[k]] += times * a.sums()[k];
    f64* row = to.row(at.of[k]);
    const f64* from = a.row(k);
    if constexpr (at.together) {
      row += at.of[0];
      for (int l = k; l < a.n; l++) row[l] += times * from[l];
    } else {
      for (int l = k; l < a.n; l++) row[at.of[l]] += times * from[l];
    }
  }
}

template <u64 M, u64 A> inline void gain(Cofactor<M>& to, const Cofactor<A>& a) {
  if constexpr (A == M) {
    for (int i = 0; i < to.size; i++) to.v[i] += a.v[i];
  } else {
    to.v[0] += a.v[0];
    gain_part(to, a, 1);
  }
}

// The products of a variable of `a` and one of `b`, where those of `a` come first.
template <u64 M, u64 A, u64 B>
inline void gain_pairs(Cofactor<M>& to, const Cofactor<A>& a, const Cofactor<B>& b) {
  constexpr auto &first = among<A, M>, &second = among<B, M>;
  for (int k = 0; k < a.n; k++) {
    f64 x = a.sums()[k], *row = to.row(first.of[k]) + second.of[0];
    for (int l = 0; l < b.n; l++) row[l] += x * b.sums()[l];
  }
}

// (c, s, Q) * (d, t, P) = (c*d, d*s + c*t, d*Q + c*P + s*t' + t*s').
template <u64 M, u64 A, u64 B> inline void gain(Cofactor<M>& to, const Product<A, B>& p) {
  const Cofactor<A>& a = p.a;
  const Cofactor<B>& b = p.b;
  to.v[0] += a.v[0] * b.v[0];
  gain_part(to, a, b.v[0]);
  gain_part(to, b, a.v[0]);
  if constexpr (a.n > 0 && b.n > 0) {
    constexpr auto &first = among<A, M>, &second = among<B, M>;
    if constexpr (second.together && first.of[a.n - 1] < second.of[0]) {
      gain_pairs(to, a, b);
    } else if constexpr (first.together && second.of[b.n - 1] < first.of[0]) {
      gain_pairs(to, b, a);
    } else {
      for (int k = 0; k < a.n; k++) {
        for (int l = 0; l < b.n; l++) {
          int i = first.of[k], j = second.of[l];
          f64 x = a.sums()[k] * b.sums()[l];
          to.row(i < j ? i : j)[i < j ? j : i] += i == j ? 2 * x : x;
        }
      }
    }
  }
}

}  // namespace fr
