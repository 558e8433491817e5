// Cofactors with categorical variables: one 0/1 variable for each value, and only the ones kept.
//
// What has to do with continuous variables alone is a `Cofactor`; the rest are entries of a table
// inside the payload: how many rows have X = x, the sum of a continuous B over them, and how many
// have X = x and Y = y. Of X alone nothing more is kept: "X is x" times itself is itself, and no row
// has two values of X. So the factors of a product have no categorical variable in common.
#pragma once

#include "cofactor.hpp"
#include "flat.hpp"

namespace fr {

// The value of a categorical variable, which has a number from 1 on.
struct Category {
  u64 variable, value;
};

// Two variables in a word; a continuous one is its bit and this, none is 0.
constexpr u64 continuous = 128;
constexpr u64 pair_of(u64 first, u64 second) { return first << 8 | second; }

struct Entry {
  struct Key { u64 k0, k1, k2; };  // the values, and whose they are
  u64 k0, k1, k2;
  f64 p0;
  static u64 hash(const Key& k) { return mix(mix(k.k0, k.k2), k.k1); }
  u64 hash() const { return hash(Key{k0, k1, k2}); }
  bool is(const Key& k) const { return k0 == k.k0 && k1 == k.k1 && k2 == k.k2; }
  void set(const Key& k) { k0 = k.k0, k1 = k.k1, k2 = k.k2; }
  bool empty() const { return p0 == 0; }
  bool alone() const { return (k2 & 255) == 0; }  // of one variable
};

template <u64 M> struct Mixed {
  Cofactor<M> dense;
  Flat<Entry> sparse;
  bool operator==(int) const { return sparse.size() == 0 && dense == 0; }
  bool operator!=(int zero) const { return !(*this == zero); }
};

// An element, wherever it is: entries lie in an arena, and not all elements have any.
template <u64 M> struct Seen {
  const Cofactor<M>& dense;
  const Flat<Entry>* sparse;
  Arena* arena;
  template <class F> void each(F&& f) const {
    if (sparse) sparse->each(*arena, f);
  }
  bool operator!=(int zero) const { return (sparse && sparse->size()) || dense != zero; }
};

// An element of its own, which takes its entries away with it.
template <u64 M> struct Materialized {
  Arena& arena;
  Mixed<M> x{};
  explicit Materialized(Arena& arena) : arena(arena) {}
  Materialized(Materialized&& from) : arena(from.arena), x(from.x) { from.x.sparse = {}; }
  ~Materialized() { x.sparse.clear(arena); }
  bool operator!=(int) const { return x != 0; }
};

template <u64 M> Seen<M> see(Arena& arena, const Mixed<M>& x) { return {x.dense, &x.sparse, &arena}; }
template <u64 M> Seen<M> see(const Materialized<M>& x) { return see(x.arena, x.x); }
template <u64 M> Seen<M> see(const Cofactor<M>& x) { return {x, nullptr, nullptr}; }
template <u64 M> Seen<M> see(const Seen<M>& x) { return x; }

inline void gain(Arena& arena, Flat<Entry>& to, u64 x, u64 y, u64 variables, f64 by) {
  if (by == 0) return;
  Entry* entry = to.at(arena, Entry::Key{x, y, variables});
  entry->p0 += by;
  if (entry->empty()) to.drop(arena, entry);
}

// Entries of two categories stand under the one with the smaller number.
inline void gain(Arena& arena, Flat<Entry>& to, Category a, Category b, f64 by) {
  if (a.variable > b.variable) gain(arena, to, b, a, by);
  else gain(arena, to, a.value, b.value, pair_of(a.variable, b.variable), by);
}

// A category with each of the continuous variables of M.
template <u64 M> void gain(Arena& arena, Flat<Entry>& to, Category a, const f64* sums, f64 by) {
  int i = 0;
  for (u64 rest = M; rest; rest &= rest - 1) {
    u64 b = continuous + u64(__builtin_ctzll(rest));
    gain(arena, to, a.value, 0, pair_of(a.variable, b), by * sums[i++]);
  }
}

// A product that is not multiplied yet.
template <u64 A, u64 B> struct Joined {
  Seen<A> a;
  Seen<B> b;
};
template <class L, class R> auto join(const L& l, const R& r) {
  return joined(see(l), see(r));
}
template <u64 A, u64 B> Joined<A, B> joined(Seen<A> a, Seen<B> b) { return {a, b}; }

// So that no memory is held by a record that goes when it is empty.
template <u64 M> void tidy(Arena& arena, Mixed<M>& x) {
  if (x.sparse.size() == 0) x.sparse.clear(arena);
}

template <u64 M, u64 A> void gain(Arena& arena, Mixed<M>& to, const Seen<A>& from) {
  gain(to.dense, from.dense);
  from.each([&](const Entry& t) { gain(arena, to.sparse, t.k0, t.k1, t.k2, t.p0); });
  tidy(arena, to);
}

template <u64 M, u64 A, u64 B> void gain(Arena& arena, Mixed<M>& to, const Joined<A, B>& p) {
  f64 c = p.a.dense.v[0], d = p.b.dense.v[0];
  gain(to.dense, mul(p.a.dense, p.b.dense));
  p.a.each([&](const Entry& t) {
    gain(arena, to.sparse, t.k0, t.k1, t.k2, d * t.p0);
    if (!t.alone()) return;
    Category x{t.k2 >> 8, t.k0};
    gain<B>(arena, to.sparse, x, p.b.dense.sums(), t.p0);
    p.b.each([&](const Entry& u) {
      if (u.alone()) gain(arena, to.sparse, x, Category{u.k2 >> 8, u.k0}, t.p0 * u.p0);
    });
  });
  p.b.each([&](const Entry& u) {
    gain(arena, to.sparse, u.k0, u.k1, u.k2, c * u.p0);
    if (u.alone()) gain<A>(arena, to.sparse, Category{u.k2 >> 8, u.k0}, p.a.dense.sums(), u.p0);
  });
  tidy(arena, to);
}

template <u64 M, u64 A> void gain(Arena& arena, Mixed<M>& to, const Materialized<A>& from) {
  gain(arena, to, see(from));
}
template <u64 M, u64 A> void gain(Arena&, Mixed<M>& to, const Cofactor<A>& from) {
  gain(to.dense, from);
}
template <u64 M, class T> void gain(Materialized<M>& to, const T& from) { gain(to.arena, to.x, from); }

template <u64 A, u64 B> Materialized<A | B> materialized(Arena& scratch, const Joined<A, B>& p) {
  Materialized<A | B> out(scratch);
  gain(out, p);
  return out;
}

// A row, so many times, with the values of its variables, continuous and categorical.
template <u64... X, class... C> auto marked(Arena& scratch, const Row<X...>& row, C... categories) {
  constexpr u64 M = Row<X...>::M;
  Materialized<M> out(scratch);
  put<true>(out.x.dense, row);
  const Category all[] = {categories...};
  for (size_t i = 0; i < sizeof...(C); i++) {
    gain(scratch, out.x.sparse, all[i].value, 0, pair_of(all[i].variable, 0), row.n);
    gain<M>(scratch, out.x.sparse, all[i], row.x, row.n);
    for (size_t j = i + 1; j < sizeof...(C); j++)
      gain(scratch, out.x.sparse, all[i], all[j], row.n);
  }
  return out;
}

// What `word` was made of.
template <class T> T value_of(u64 word) { return T(word); }
template <> inline f64 value_of<f64>(u64 word) { return double_of(word); }
template <> inline Sym value_of<Sym>(u64 word) { return Sym{word}; }

// The value of a categorical variable in an entry, if it is one of its variables.
template <class T> T value_in(const Entry& x, u64 variable) {
  if (x.k2 >> 8 == variable) return value_of<T>(x.k0);
  return (x.k2 & 255) == variable ? value_of<T>(x.k1) : null<T>();
}

// Which of the continuous variables of M stands in an entry, from 1 on; 0: none.
template <u64 M> i64 continuous_in(const Entry& x) {
  u64 second = x.k2 & 255;
  if (second < continuous) return 0;
  return 1 + __builtin_popcountll(M & ((u64(1) << (second - continuous)) - 1));
}

template <u64 M, class T> void assign(Arena& arena, Mixed<M>& to, const T& from) {
  to.sparse.clear(arena);
  to.dense = {};
  gain(arena, to, from);
}

}  // namespace fr
