// Rows of a view in order: by ORDER BY, ties by the other columns as they stand, NULL smallest.
#pragma once

#include "arrow.hpp"
#include "script.hpp"

namespace fr {
namespace edge {

template <class T> int compare_values(T a, T b) { return (b < a) - (a < b); }

// Negative, zero or positive; `null_last` places NULL behind all the values.
template <class T, class Compare>
int compare_nullable(T a, T b, bool null_last, bool descending, Compare compare) {
  if (is_null(a) || is_null(b)) {
    const int order = int(is_null(b)) - int(is_null(a));
    return null_last ? -order : order;
  }
  const int order = compare(a, b);
  return descending ? -order : order;
}

struct RowOrder {
  Env& env;
  const Output& out;
  const ViewOrder& order;
  bool* first;  // columns that the order names

  int compare(i64 a, i64 b) const {
    for (int i = 0; i < order.size; i++) {
      const SortColumn& by = order.column[i];
      if (int c = column(by.column, a, b, !by.nulls_first, by.descending)) return c;
    }
    for (int i = 0; i < out.width; i++) {
      if (first[i]) continue;
      if (int c = column(i, a, b, false, false)) return c;
    }
    return 0;
  }

 private:
  template <class T> int plain(int c, i64 a, i64 b, bool null_last, bool descending) const {
    const T* at = static_cast<const T*>(out.column[c]);
    return compare_nullable(at[a], at[b], null_last, descending, compare_values<T>);
  }
  int column(int c, i64 a, i64 b, bool null_last, bool descending) const {
    switch (out.columns[c].kind) {
      case Decimal128: return plain<i128>(c, a, b, null_last, descending);
      case Double: return plain<f64>(c, a, b, null_last, descending);
      case Date: return plain<i32>(c, a, b, null_last, descending);
      case Bool: return plain<i8>(c, a, b, null_last, descending);
      case Text: break;
      default: return plain<i64>(c, a, b, null_last, descending);
    }
    const Sym* at = static_cast<const Sym*>(out.column[c]);
    auto texts = [&](Sym x, Sym y) {
      if (x == y) return 0;
      return text_sorts(env.arena, x, y) ? -1 : 1;
    };
    return compare_nullable(at[a], at[b], null_last, descending, texts);
  }
};

inline void permute(void* column, size_t each, const i64* from, i64 size, char* room) {
  const char* old = static_cast<const char*>(column);
  for (i64 i = 0; i < size; i++) memcpy(room + size_t(i) * each, old + size_t(from[i]) * each, each);
  memcpy(column, room, size_t(size) * each);
}

// Puts the rows of an output in order: a merge sort of their numbers, then every column once.
inline void sort_rows(Env& env, Output& out, const ViewOrder& order) {
  const i64 n = out.size;
  if (n < 2) return;
  Rooms own;
  bool* first = own.room->array<bool>(out.width + 1);
  memset(first, 0, size_t(out.width) + 1);
  for (int i = 0; i < order.size; i++) first[order.column[i].column] = true;
  const RowOrder rows{env, out, order, first};
  i64 *list = own.room->array<i64>(n), *other = own.room->array<i64>(n);
  for (i64 i = 0; i < n; i++) list[i] = i;
  for (i64 width = 1; width < n; width *= 2) {
    for (i64 from = 0; from < n; from += 2 * width) {
      const i64 mid = from + width < n ? from + width : n, to = mid + width < n ? mid + width : n;
      for (i64 i = from, a = from, b = mid; i < to; i++)
        other[i] = b >= to || (a < mid && rows.compare(list[b], list[a]) >= 0) ? list[a++] : list[b++];
    }
    i64* swap = list;
    list = other;
    other = swap;
  }
  char* room = own.room->array<char>(n * i64(sizeof(i128)));
  for (int i = 0; i < out.width; i++)
    permute(out.column[i], size_out(out.columns[i].kind), list, n, room);
  permute(out.count, sizeof(i64), list, n, room);
}

}  // namespace edge
}  // namespace fr
