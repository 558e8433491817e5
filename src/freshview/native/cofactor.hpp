// The cofactor ring: how many rows, the sum of each variable, the sum of each product of two.
//
// The variables of a program are numbered, and a payload is of the type of its set of them: bit i of
// M says whether variable i is in it. So sizes and places are known to the compiler, and a view at
// the leaves holds few numbers. All of them are doubles; of the matrix one triangle is kept, row by
// row. Variables of one view are numbered together, so that most loops run through memory in order.
#pragma once

#include "kernel.hpp"
#include "libm.hpp"
#include "value.hpp"

// What is written for a variable or a run of numbers is a few instructions, and all its sizes and
// places are constants; the compiler would stop to believe that after some hundred of them.
#define FR_INLINE inline __attribute__((always_inline))

namespace fr {

#ifdef __AVX512F__
constexpr int widest = 8;  // numbers that the machine multiplies at once
#else
constexpr int widest = 4;
#endif

template <int size> struct Several {
  typedef f64 Type __attribute__((vector_size(8 * size), aligned(8), may_alias));
  typedef i64 Truth __attribute__((vector_size(8 * size)));
};

// to[i] += c * from[i], or just = where the place is fresh, for so many numbers.
template <bool fresh, int n> FR_INLINE void gain(f64* to, const f64* from, f64 c) {
  if constexpr (n >= 2) {
    constexpr int size = n >= widest ? widest : n >= 4 ? 4 : 2;
    typedef typename Several<size>::Type Part;
    Part x = c * *reinterpret_cast<const Part*>(from);
    if constexpr (!fresh) x += *reinterpret_cast<const Part*>(to);
    *reinterpret_cast<Part*>(to) = x;
    gain<fresh, n - size>(to + size, from + size, c);
  } else if constexpr (n == 1) {
    *to = fresh ? c * *from : *to + c * *from;
  }
}

template <bool fresh = false>
inline void gain(f64* __restrict to, const f64* __restrict from, f64 c, int n) {
  int i = 0;
  for (; i + 8 <= n; i += 8) gain<fresh, 8>(to + i, from + i, c);
  if (n & 4) gain<fresh, 4>(to + i, from + i, c), i += 4;
  if (n & 2) gain<fresh, 2>(to + i, from + i, c), i += 2;
  if (n & 1) gain<fresh, 1>(to + i, from + i, c);
}

// Slots of a table are mostly recognized by this, so it looks at four numbers at a time.
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
  operator Cofactor<A | B>() const;
};

template <u64 A, u64 B> Product<A, B> mul(const Cofactor<A>& a, const Cofactor<B>& b) {
  return {a, b};
}
template <u64 A, u64 B> Cofactor<A | B> whole(const Product<A, B>& x) { return x; }

template <u64 M> Cofactor<M> scale(const Cofactor<M>& a, f64 by) {
  Cofactor<M> out;
  gain<true>(out.v, a.v, by, out.size);
  return out;
}

// The value of a variable in a row.
template <u64 X> struct Value { f64 x; };

// Digits of a sum are lost to the largest number that was ever in it: so the ends of the values are
// kept, and a centre is taken from each. Most rows lie between the ends, and write nothing here.
template <int slots> struct Watched {
  f64 centre[slots], low[slots + widest], high[slots + widest];  // whole registers are read

  void init() {
    for (int i = 0; i < slots; i++) centre[i] = 0, low[i] = infinity, high[i] = -infinity;
  }
  Watch all() { return {centre, low, high}; }
};

typedef typename Several<widest>::Type Wide;
typedef typename Several<widest>::Truth Truth;

// The numbers from 0 up to n - 1, as those of std::make_integer_sequence.
template <int... i> struct Numbers {};
template <int n, int... i> constexpr auto numbers() {
  if constexpr (n == 0) return Numbers<i...>();
  else return numbers<n - 1, n - 1, i...>();
}

// Numbers side by side in a register: those that were written one by one and are read at once would
// wait until they have reached the memory. Those from n on are zeros.
template <int size, int n, int... i>
FR_INLINE typename Several<size>::Type together(const f64* x, Numbers<i...>) {
  return typename Several<size>::Type{(i < n ? x[i < n ? i : 0] : 0)...};
}
template <int size, int n> FR_INLINE typename Several<size>::Type together(const f64* x) {
  return together<size, n>(x, numbers<size>());
}

template <int n>
__attribute__((noinline, cold)) void widen(Wide x, f64* low, f64* high) {
  for (int i = 0; i < n && i < widest; i++) {
    low[i] = x[i] < low[i] ? x[i] : low[i];
    high[i] = x[i] > high[i] ? x[i] : high[i];
  }
}

template <int n, int... i> constexpr Truth first_of(Numbers<i...>) {
  return Truth{-(i < n)...};
}

FR_INLINE bool any(Truth x) {
#if defined(__AVX512F__)
  typedef long long Words __attribute__((vector_size(64)));
  return __builtin_ia32_cmpq512_mask(Words(x), Words{}, 4, 0xff);  // 4: not equal
#elif defined(__AVX__)
  typedef f64 Reals __attribute__((vector_size(32)));
  return __builtin_ia32_movmskpd256(Reals(x));
#else
  i64 out = 0;
  for (int i = 0; i < widest; i++) out |= x[i];
  return out;
#endif
}

// Look whether so many numbers are between their ends.
template <int n> FR_INLINE void see(const f64* from, f64* low, f64* high) {
  if constexpr (n > 0) {
    Wide x = together<widest, n>(from);
    Truth out = (x < *reinterpret_cast<const Wide*>(low)) | (x > *reinterpret_cast<const Wide*>(high));
    if constexpr (n < widest) out &= first_of<n>(numbers<widest>());
    if (__builtin_expect(any(out), 0)) widen<n>(x, low, high);
    see<n - widest>(from + widest, low + widest, high + widest);
  }
}

template <int n, int i = 0> FR_INLINE void less(f64* x, const f64* centre) {
  if constexpr (i < n) {
    x[i] -= centre[i];
    less<n, i + 1>(x, centre);
  }
}

// The values of variables from run r of them on, less their centres.
template <u64 M, int r = 0, int slots> FR_INLINE void centred(f64* x, Watched<slots>& watch) {
  constexpr auto& at = among<M, ~u64(0)>;
  if constexpr (r < at.runs) {
    constexpr auto run = at.run[r];
    see<run.size>(x + run.from, watch.low + run.to, watch.high + run.to);
    less<run.size>(x + run.from, watch.centre + run.to);
    centred<M, r + 1>(x, watch);
  }
}

inline void count_gone(f64& gone, const Batch& b) {
  for (i64 i = 0; i < b.size; i++) gone -= b.count[i] < 0 ? f64(b.count[i]) : 0;
}

// A row, so many times, in which some variables have these values: the product of their liftings.
template <u64... X> struct Row {
  static constexpr u64 M = (X | ... | 0);
  f64 n;
  f64 x[sizeof...(X) + 1];
  operator Cofactor<M>() const;
};

template <int slots, u64... X>
FR_INLINE Row<X...> row(Watched<slots>& watch, f64 n, Value<X>... values) {
  Row<X...> out;
  out.n = n;
  ((out.x[__builtin_popcountll(Row<X...>::M & (X - 1))] = values.x), ...);
  centred<Row<X...>::M>(out.x, watch);
  return out;
}
inline Row<> row(f64 n) { return {n, {}}; }
template <u64... X> Cofactor<Row<X...>::M> whole(const Row<X...>& x) { return x; }
template <u64 M> const Cofactor<M>& whole(const Cofactor<M>& x) { return x; }

// What `gain` does, for numbers in registers.
template <bool fresh, int n> FR_INLINE void put_from(f64* to, const f64* x, f64 c) {
  if constexpr (n >= 2) {
    constexpr int size = n >= widest ? widest : n >= 4 ? 4 : 2;
    typedef typename Several<size>::Type Part;
    Part sum = c * together<size, size>(x);
    if constexpr (!fresh) sum += *reinterpret_cast<const Part*>(to);
    *reinterpret_cast<Part*>(to) = sum;
    put_from<fresh, n - size>(to + size, x + size, c);
  } else if constexpr (n == 1) {
    *to = fresh ? c * *x : *to + c * *x;
  }
}

template <bool fresh, int i = 0, u64 M>
FR_INLINE void put_squares(Cofactor<M>& to, const f64* x, f64 times) {
  if constexpr (i < to.n) {
    put_from<fresh, to.n - i>(to.row(i) + i, x + i, times * x[i]);
    put_squares<fresh, i + 1>(to, x, times);
  }
}

template <bool fresh, u64... X>
FR_INLINE void put(Cofactor<Row<X...>::M>& to, const Row<X...>& row) {
  to.v[0] = fresh ? row.n : to.v[0] + row.n;
  put_from<fresh, to.n>(to.sums(), row.x, row.n);
  put_squares<fresh>(to, row.x, row.n);
}

// The numbers of variable k of `a` (its sums: k = -1) with the later ones, from run r of those on.
template <bool fresh, int k, int r, u64 M, u64 A>
FR_INLINE void put_row(Cofactor<M>& to, const Cofactor<A>& a, f64 times) {
  constexpr auto& at = among<A, M>;
  if constexpr (r < at.runs) {
    constexpr auto run = at.run[r];
    constexpr int first = k > run.from ? k : run.from, n = run.from + run.size - first;
    constexpr int place = run.to + first - run.from;
    if constexpr (n > 0) {
      if constexpr (k < 0) gain<fresh, n>(to.sums() + place, a.sums() + first, times);
      else gain<fresh, n>(to.row(at.of[k]) + place, a.row(k) + first, times);
    }
    put_row<fresh, k, r + 1>(to, a, times);
  }
}

// The sums and products of `a`, so many times.
template <bool fresh, int k = -1, u64 M, u64 A>
FR_INLINE void put_part(Cofactor<M>& to, const Cofactor<A>& a, f64 times) {
  if constexpr (k < a.n) {
    put_row<fresh, k, 0>(to, a, times);
    put_part<fresh, k + 1>(to, a, times);
  }
}

// The products of variable k of `a` and those of `b` from run r on that come later.
template <bool fresh, int k, int r, u64 M, u64 A, u64 B>
FR_INLINE void put_later(Cofactor<M>& to, const Cofactor<A>& a, const Cofactor<B>& b) {
  constexpr auto &first = among<A, M>, &second = among<B, M>;
  if constexpr (r < second.runs) {
    constexpr auto run = second.run[r];
    if constexpr (run.to > first.of[k])
      gain<fresh, run.size>(to.row(first.of[k]) + run.to, b.sums() + run.from, a.sums()[k]);
    put_later<fresh, k, r + 1>(to, a, b);
  }
}

// The products of a variable of `a` and a later one of `b`.
template <bool fresh, int k = 0, u64 M, u64 A, u64 B>
FR_INLINE void put_pairs(Cofactor<M>& to, const Cofactor<A>& a, const Cofactor<B>& b) {
  if constexpr (k < a.n) {
    put_later<fresh, k, 0>(to, a, b);
    put_pairs<fresh, k + 1>(to, a, b);
  }
}

// (c, s, Q) * (d, t, P) = (c*d, d*s + c*t, d*Q + c*P + s*t' + t*s'); added to what is there unless
// that is fresh: where the variables differ, every number of the product is written once.
template <bool fresh, u64 M, u64 A, u64 B>
inline void put(Cofactor<M>& to, const Product<A, B>& p) {
  static_assert(!fresh || M == (A | B), "no number of a fresh element is left out");
  f64 count = p.a.v[0] * p.b.v[0];
  to.v[0] = fresh ? count : to.v[0] + count;
  put_part<fresh>(to, p.a, p.b.v[0]);
  put_part<fresh>(to, p.b, p.a.v[0]);
  if constexpr ((A & B) == 0) {
    put_pairs<fresh>(to, p.a, p.b);
    put_pairs<fresh>(to, p.b, p.a);
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

template <u64 A, u64 B> Product<A, B>::operator Cofactor<A | B>() const {
  Cofactor<A | B> out;
  if constexpr ((A & B) != 0) out = {};
  put<(A & B) == 0>(out, *this);
  return out;
}

template <u64... X> Row<X...>::operator Cofactor<Row<X...>::M>() const {
  Cofactor<M> out;
  put<true>(out, *this);
  return out;
}

template <u64 M, u64 A> inline void gain(Cofactor<M>& to, const Cofactor<A>& a) {
  if constexpr (A == M) {
    gain(to.v, a.v, 1, to.size);
  } else {
    to.v[0] += a.v[0];
    put_part<false>(to, a, 1);
  }
}
template <u64 M, u64 A, u64 B> inline void gain(Cofactor<M>& to, const Product<A, B>& p) {
  put<false>(to, p);
}
template <u64 M, u64... X> inline void gain(Cofactor<M>& to, const Row<X...>& row) {
  if constexpr (M == Row<X...>::M) put<false>(to, row);
  else gain(to, whole(row));
}

}  // namespace fr
