// What generated code calls besides maps and arithmetic; included after `State` is defined.
#pragma once

#include "casts.hpp"
#include "flat.hpp"
#include "functions.hpp"
#include "host.hpp"
#include "kernel.hpp"
#include "ordered.hpp"
#include "rows.hpp"
#include "scalar.hpp"
#include "select.hpp"

#ifdef FRESHVIEW_COUNT
#define FR_VISIT(n) (e.visits += (n))
#define FR_WRITE (e.writes++)
#else
#define FR_VISIT(n) ((void)0)
#define FR_WRITE ((void)0)
#endif

namespace fr {

// The characters of a symbol; those of a short one lie in the symbol itself, so it must stay.
inline Str text(Env& e, const Sym& x) {
  u64 size = x.bits >> 56;
  if (size <= 7) return Str{reinterpret_cast<const char*>(&x), u32(size)};
  if (is_null(x)) return null<Str>();
  char room[8];
  return e.state->strings.get(e.arena, x, room);
}
// The same of a symbol that does not stay: its text is put where it lasts as long as the batch.
inline Str kept_text(Env& e, Sym x) {
  if (is_null(x) || x.bits >> 56 > 7) return text(e, x);
  u64* room = e.scratch.at<u64>(e.scratch.take(8));
  *room = x.bits;
  return Str{reinterpret_cast<const char*>(room), u32(x.bits >> 56)};
}
inline bool find_text(Env& e, Str x, Sym& out) {
  if (is_null(x)) { out = null<Sym>(); return true; }
  return e.state->strings.find(e.arena, x, out);
}
// The symbol of a text; of one that no row ever brought, a symbol that no row has.
inline Sym look_text(Env& e, Str x) {
  Sym out;
  return find_text(e, x, out) ? out : Strings::unknown;
}
inline Sym put_text(Env& e, Str x) { return e.state->strings.put(e.arena, x); }
inline bool text_same(Str a, Str b) {
  if (is_null(a) || is_null(b)) return is_null(a) && is_null(b);
  return text_equal(a, b);
}

// The rows of a query with these values in its key columns may change now, and somebody collects its
// changes.
template <class... Key> __attribute__((noinline, cold)) void touch(Env& e, int query, Key... key) {
  const void* const cells[] = {&key..., nullptr};
  note_rows(e, query, cells);
}

// A function without an answer: the batch will be taken back. What it gives instead is the same
// every time, so that nothing is left of the batch.
__attribute__((noinline, cold)) inline void note_fault(Env& e, const char* fn, const Arg* args) {
  e.overflow = true;
  if (e.fault.fn) return;
  e.fault.fn = fn;
  for (int i = 0; i < FAULT_ARGS; i++) {
    Arg& kept = e.fault.args[i] = args[i];
    if (!kept.is_set || kept.kind != Text) continue;
    char* copy = static_cast<char*>(malloc(kept.text.size + 1));
    if (copy) memcpy(copy, kept.text.at, kept.text.size);
    kept.text = Str{copy, copy ? kept.text.size : 0};
  }
}
template <class T>
__attribute__((noinline, cold)) T fault(Env& e, const char* fn, Arg a, Arg b = Arg(), Arg c = Arg(), Arg d = Arg()) {
  const Arg args[FAULT_ARGS] = {a, b, c, d};
  note_fault(e, fn, args);
  return T();
}
template <>
__attribute__((noinline, cold)) inline Str fault(Env& e, const char* fn, Arg a, Arg b, Arg c, Arg d) {
  fault<i64>(e, fn, a, b, c, d);
  return Str{"", 0};
}

// Texts one after the other, in memory that lasts as long as the batch.
template <int N> inline Str concat(Env& e, const Str (&parts)[N]) {
  u32 size = 0;
  for (const Str& p : parts) size += p.size;
  char* at = e.scratch.at<char>(e.scratch.take(size + 1));
  u32 end = 0;
  for (const Str& p : parts) memcpy(at + end, p.at, p.size), end += p.size;
  return Str{at, size};
}

// A sum that was kept in 128 bits, as the map declares it.
template <class T> inline T narrow(bool& o, i128 x) {
  if (i128(T(x)) != x) o = true;
  return T(x);
}

// The same of a value that may be NULL, which no number becomes.
template <class T> inline T narrow_n(bool& o, i128 x) {
  if (is_null(x)) return null<T>();
  T out = narrow<T>(o, x);
  if (is_null(out)) o = true;
  return out;
}

// The first entry of every group of an ordered index; `later` orders entries by their group.
template <class Key, class Val, class Before, class Upto, class Later, class F>
inline void each_group(Arena& arena, const Ordered<Key, Val>& index, Before before, Upto upto,
                       Later later, F f) {
  Key key;
  Val val;
  bool more = index.first(arena, before, key, val);
  while (more && upto(key)) {
    f(key);
    const Key last = key;
    more = index.first(arena, [&](const Key& k) { return !later(last, k); }, key, val);
  }
}

// Whether NULL stands where an index has it, or the other entries come first, or it does.
enum Nulls { as_sorted, last, first };

// The first rows of a group of an ordered index (with `back` the last ones, the last first), until
// `limit` of them are counted: f(key, n) of n rows. `sorts_before(key, in)` tells whether an
// entry stands before the group, `in` if it is in it; `count(key, val)` how many rows an entry
// is, none if negative.
template <bool back, Nulls nulls, class Key, class Val, class Before, class IsAbsent, class Count,
          class F>
inline void first_rows(Arena& arena, const Ordered<Key, Val>& index, i64 limit,
                       Before sorts_before, IsAbsent is_absent, Count count, F f) {
  i64 left = limit;
  auto take = [&](const Key& key, const Val& val) {
    const i128 n = count(key, val);
    if (n <= 0) return true;
    const i64 copies = n < left ? i64(n) : left;
    left -= copies;
    f(key, copies);
    return left > 0;
  };
  auto walk = [&](auto before, auto upto) {
    if (left <= 0) return;
    if constexpr (back) index.each_back(arena, before, upto, take);
    else index.each(arena, before, upto, take);
  };
  auto before = [&](const Key& k) { return sorts_before(k, false); };
  auto upto = [&](const Key& k) { return sorts_before(k, true); };
  if constexpr (nulls == as_sorted) {
    walk(before, upto);
  } else {
    auto upto_nulls = [&](const Key& k) { return sorts_before(k, is_absent(k)); };
    if (nulls == first) walk(before, upto_nulls);
    walk(upto_nulls, upto);
    if (nulls == last) walk(before, upto_nulls);
  }
}

// Remembers where a monotone condition turns, as far as it was asked: a condition may be a search
// of its own.
template <class T> struct Turn {
  T yes, no;
  bool some_yes = false, some_no = false;

  // Of a condition that holds from some x on.
  template <class F> bool from(T x, F holds) {
    if (some_yes && !sorts(x, yes)) return true;
    if (some_no && !sorts(no, x)) return false;
    return learn(x, holds());
  }
  // Of a condition that holds up to some x.
  template <class F> bool upto(T x, F holds) {
    if (some_yes && !sorts(yes, x)) return true;
    if (some_no && !sorts(x, no)) return false;
    return learn(x, holds());
  }

 private:
  bool learn(T x, bool held) {
    (held ? yes : no) = x;
    (held ? some_yes : some_no) = true;
    return held;
  }
};

// Per group, rows in order until `limit` of them are counted; of the last only as many as fit.
template <class Rec, class Less, class Same, class F>
inline void top(Arena& scratch, Rows<Rec>& rows, i64 limit, Less less, Same same_group, F f) {
  u64 room = rows.size();
  if (!room) return;
  const Rec** list = scratch.at<const Rec*>(scratch.take(room * sizeof(Rec*)));
  i64 n = 0;
  // A row with a negative multiplicity is not there.
  rows.each(scratch, [&](const Rec& r) { if (r.sum > 0) list[n++] = &r; });
  const Rec** other = n > 1 ? scratch.at<const Rec*>(scratch.take(room * sizeof(Rec*))) : nullptr;
  for (i64 width = 1; width < n; width *= 2) {  // merge sort, bottom up
    for (i64 from = 0; from < n; from += 2 * width) {
      i64 mid = from + width < n ? from + width : n, to = mid + width < n ? mid + width : n;
      for (i64 i = from, a = from, b = mid; i < to; i++)
        other[i] = b >= to || (a < mid && !less(*list[b], *list[a])) ? list[a++] : list[b++];
    }
    const Rec** swap = list; list = other; other = swap;
  }
  i64 left = limit;
  for (i64 i = 0; i < n; i++) {
    if (i && !same_group(*list[i - 1], *list[i])) left = limit;
    if (left <= 0) continue;
    i64 copies = list[i]->sum < left ? list[i]->sum : left;
    left -= copies;
    f(*list[i], copies);
  }
}

}  // namespace fr
