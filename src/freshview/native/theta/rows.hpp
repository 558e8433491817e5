// Rows of a join as they are on both sides of the boundary: parallel arrays, those of NumPy.
//
// First the columns, each as values and as bytes that say where it is not NULL, then what a joiner
// knows of each row, in the order of `Tuples.arrays`. The arrays of a store are reserved by Python
// and never move while they grow.
#pragma once

#include "../python.hpp"

namespace fr {
namespace py {

extern "C" {
int PyObject_RichCompareBool(PyObject*, PyObject*, int);
intptr_t PyUnicode_GetLength(PyObject*);
}
enum Operator : int { Less, AtMost, Equal, Unequal, Greater, AtLeast };  // Py_LT and so on

}  // namespace py

namespace theta {

constexpr int MOST_ARRAYS = 160;
enum Known : int { Key, Hash, Time, Position, Seen, Weight, Number, Size, KNOWN };
enum Side : int { R, S };
inline Side across(int side) { return side == R ? S : R; }

// What the rows of a side look like: 'i' integers, 'd' doubles, 'b' truth values, 'o' objects of
// Python, and on the way in and out also 't' texts, 'D' dates and 'T' timestamps.
struct Form {
  int columns, arrays;
  char kind[MOST_ARRAYS];
  bool nullable[MOST_ARRAYS];
  enum Cell : u8 { Word, Byte, Object } cell[MOST_ARRAYS];

  void lay_out() {
    arrays = 2 * columns + KNOWN;
    for (int a = 0; a < arrays; a++) {
      cell[a] = Word;
      if (a >= 2 * columns) continue;
      const char of = kind[a / 2];
      if (a % 2 || of == 'b') cell[a] = Byte;
      else if (of == 'o' || of == 't') cell[a] = Object;
    }
  }

  int known(Known which) const { return 2 * columns + which; }
  bool is_object(int column) const { return cell[2 * column] == Object; }
};

struct Rows {
  u8* at[MOST_ARRAYS];

  template <class T> T* as(int array) const { return reinterpret_cast<T*>(at[array]); }
  bool is_valid(int column, i64 i) const { return at[2 * column + 1][i]; }
};

inline void copy_cell(const Form& form, int array, const Rows& from, i64 i, const Rows& to, i64 j) {
  if (form.cell[array] == Form::Byte) {
    to.at[array][j] = from.at[array][i];
    return;
  }
  if (__builtin_expect(form.cell[array] == Form::Object, 0)) {
    py::PyObject* value = from.as<py::PyObject*>(array)[i];
    py::PyObject* old = to.as<py::PyObject*>(array)[j];
    if (value) py::Py_IncRef(value);
    if (old) py::Py_DecRef(old);
  }
  to.as<u64>(array)[j] = from.as<u64>(array)[i];
}

// Whether two rows have equal values in all columns, NULL being equal to NULL.
inline bool same_row(const Form& form, const Rows& one, i64 i, const Rows& two, i64 j) {
  for (int c = 0; c < form.columns; c++) {
    if (one.is_valid(c, i) != two.is_valid(c, j)) return false;
    if (!one.is_valid(c, i)) continue;
    bool same;
    switch (form.kind[c]) {
      case 'b': same = one.at[2 * c][i] == two.at[2 * c][j]; break;
      case 'd': same = one.as<f64>(2 * c)[i] == two.as<f64>(2 * c)[j]; break;
      case 'o':
      case 't': {
        py::PyObject *a = one.as<py::PyObject*>(2 * c)[i], *b = two.as<py::PyObject*>(2 * c)[j];
        same = a == b || py::PyObject_RichCompareBool(a, b, py::Equal) == 1;
        break;
      }
      default: same = one.as<i64>(2 * c)[i] == two.as<i64>(2 * c)[j];
    }
    if (!same) return false;
  }
  return true;
}

// Numbers that grow: what a call gives back.
struct Numbers {
  i64* at = nullptr;
  i64 count = 0, room = 0;

  void add(i64 x) {
    if (__builtin_expect(count == room, 0)) widen();
    at[count++] = x;
  }
  __attribute__((noinline)) void widen() {
    room = room ? 2 * room : 1024;
    at = static_cast<i64*>(realloc(at, size_t(room) * 8));
    if (!at) fail("freshview: not enough memory for the pairs of a batch.\n");
  }
  void close() { free(at); }
};

// splitmix64, by which keys are made of numbers and hashes of values; see `theta/keys.py`.
inline u64 scatter(u64 x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}
constexpr u64 GOLDEN = 0x9E3779B97F4A7C15ull;
inline u64 combine(u64 left, u64 right) { return scatter(left * GOLDEN + right); }

// `x + by`, at the end of the range where it would leave it.
inline i64 shift(i64 x, i64 by) {
  i64 sum;
  if (!__builtin_add_overflow(x, by, &sum)) return sum;
  return by < 0 ? INT64_MIN : INT64_MAX;
}
// How far `x + by` may be from where `- x` gives `by`.
inline f64 rounding(f64 x, f64 by) {
  return 4 * 2.220446049250313e-16 * ((x < 0 ? -x : x) + (by - by == 0 ? (by < 0 ? -by : by) : 0));
}
template <class T> bool lies(T x, T low, T high) { return low <= x && x <= high; }
inline i64 least(i64 a, i64 b) { return a < b ? a : b; }
inline i64 greatest(i64 a, i64 b) { return a < b ? b : a; }
inline i64 floor_div(i64 a, i64 b) {
  const i64 q = a / b;
  return q - (a % b != 0 && (a % b < 0) != (b < 0));
}

}  // namespace theta
}  // namespace fr
