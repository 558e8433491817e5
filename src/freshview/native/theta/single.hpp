// Rows one by one: a function that takes the values of a row and gives the rows it makes.
//
// Whatever is not simple goes to Python, which joins it as a batch of one row: values that need a
// conversion or are refused, rows while state moves, and a row now and then so that the scheme hears
// of what came.
#pragma once

#include "join.hpp"

namespace fr {
namespace theta {

using py::Own;
using py::PyObject;

inline PyObject* tuple_of(PyObject* const* args, intptr_t n) {
  PyObject* out = py::PyTuple_New(n);
  for (intptr_t i = 0; out && i < n; i++) {
    py::Py_IncRef(args[i]);
    py::PyTuple_SetItem(out, i, args[i]);
  }
  return out;
}

inline PyObject* give(const Form& form, const Rows& rows, int c, i64 i) {
  if (!rows.is_valid(c, i)) return py::none();
  switch (form.kind[c]) {
    case 'i': return py::PyLong_FromLongLong(rows.as<i64>(2 * c)[i]);
    case 'd': return py::PyFloat_FromDouble(rows.as<f64>(2 * c)[i]);
    case 'D': return py::give_date(rows.as<i64>(2 * c)[i]);
    case 'T': return py::give_time(rows.as<i64>(2 * c)[i]);
    case 'b': {
      PyObject* truth = rows.at[2 * c][i] ? &py::_Py_TrueStruct : &py::_Py_FalseStruct;
      py::Py_IncRef(truth);
      return truth;
    }
    default: {
      PyObject* value = rows.as<PyObject*>(2 * c)[i];
      py::Py_IncRef(value);
      return value;
    }
  }
}

// One row of a batch on the stack.
struct Cells {
  Rows rows;
  alignas(8) u64 cell[MOST_ARRAYS];

  Cells() {
    for (int a = 0; a < MOST_ARRAYS; a++) rows.at[a] = reinterpret_cast<u8*>(&cell[a]);
  }

  // Writes a value; false where Python has to look at it.
  bool take(const Form& form, int c, PyObject* value) {
    const bool missing = value == &py::_Py_NoneStruct;
    cell[2 * c + 1] = !missing;
    cell[2 * c] = 0;
    if (missing) return form.nullable[c] && !form.is_object(c);
    i32 day;
    switch (form.kind[c]) {
      case 'i': return value->type == &py::PyLong_Type && py::take_int(value, *rows.as<i64>(2 * c));
      case 'd': return py::take_double(value, *rows.as<f64>(2 * c));
      case 'b': return cell[2 * c] = value == &py::_Py_TrueStruct, value->type == &py::PyBool_Type;
      case 'D': return py::take_date(value, day) && (*rows.as<i64>(2 * c) = day, true);
      case 'T': return value->type == py::types.datetime && py::take_time(value, *rows.as<i64>(2 * c));
      case 't': {
        Str text;
        *rows.as<PyObject*>(2 * c) = value;
        return value->type == &py::PyUnicode_Type && py::take_text(value, text);
      }
      default: return false;
    }
  }
};

template <class Theta> struct Writer {
  using Env = typename Theta::Env;

  Join<Theta>* join;
  PyObject *owner, *instead;
  int side;

  PyObject* slow(PyObject* const* args, intptr_t n) {
    Own row(tuple_of(args, n));
    return row ? py::PyObject_CallFunctionObjArgs(instead, row.object, nullptr) : nullptr;
  }

  // What a joiner knows of the row, after its values.
  void know(Cells& cells) {
    Join<Theta>& j = *join;
    const Form& form = j.env.form[side];
    u64* known = &cells.cell[2 * form.columns];
    const i64 number = j.counts[side];
    const int time = j.env.time[side];
    i64 size = 8 * form.columns;
    for (int c = 0; c < form.columns; c++)
      if (form.kind[c] == 't') size += py::PyUnicode_GetLength(cells.rows.template as<PyObject*>(2 * c)[0]);
    known[Key] = scatter(u64(j.seed[side]) * GOLDEN + u64(number + 1) * GOLDEN);
    known[Hash] = Theta::hash_of(side, cells.rows, 0);
    known[Time] = time < 0 ? 0 : cells.cell[2 * time];
    known[Position] = known[Number] = u64(number);
    known[Seen] = u64(j.counts[across(side)]);
    known[Weight] = 1;
    known[Size] = u64(size);
  }

  bool has_room(const Addresses& all, i64 address) {
    for (i64 h = all.start[address]; h < all.visited[address]; h++) {
      const Totals& totals = join->stores[2 * all.host[h] + side]->totals;
      if (totals.length >= totals.room) return false;
    }
    return true;
  }

  bool add_pair(PyObject*& list, Cells& cells, const Rows& stored, u32 slot) {
    if (!list && !(list = py::PyList_New(0))) return false;
    const Env& env = join->env;
    const Rows &r = side == R ? cells.rows : stored, &s = side == R ? stored : cells.rows;
    const i64 i = side == R ? 0 : slot, k = side == R ? slot : 0;
    const int wide = env.form[R].columns;
    Own row(py::PyTuple_New(wide + env.form[S].columns));
    if (!row) return false;
    for (int c = 0; c < wide; c++) py::PyTuple_SetItem(row, c, give(env.form[R], r, c, i));
    for (int c = 0; c < env.form[S].columns; c++)
      py::PyTuple_SetItem(row, wide + c, give(env.form[S], s, c, k));
    return py::PyList_Append(list, row) == 0;
  }

  PyObject* one(PyObject* const* args, intptr_t n) {
    Join<Theta>& j = *join;
    const Form& form = j.env.form[side];
    if (__builtin_expect(j.is_diverted || !j.quota || n != form.columns, 0)) return slow(args, n);
    Cells cells;
    for (int c = 0; c < form.columns; c++)
      if (__builtin_expect(!cells.take(form, c, args[c]), 0)) return slow(args, n);
    if (__builtin_expect(!Theta::is_joinable(side, cells.rows, 0), 0)) return slow(args, n);
    know(cells);
    const u64 key = cells.cell[form.known(Key)], hash = cells.cell[form.known(Hash)];
    const Addresses& all = j.routing.side[side];
    const i64 address = j.routing.address(side, key, hash);
    if (__builtin_expect(!has_room(all, address), 0)) return slow(args, n);
    PyObject* list = nullptr;
    bool well = true;
    const i64 end = all.start[address + 1];
    // Of the first hosts, where partners and places are is fetched before it is needed.
    constexpr i64 AHEAD = 64;
    u32 leaf[AHEAD], place[AHEAD];
    for (i64 h = all.start[address]; h < end && h < all.start[address] + AHEAD; h++)
      leaf[h - all.start[address]] = j.store(all.host[h], across(side)).fetch_for(cells.rows, 0);
    for (i64 h = all.start[address]; h < all.visited[address] && h < all.start[address] + AHEAD; h++)
      place[h - all.start[address]] = j.store(all.host[h], side).fetch_place(cells.rows, 0);
    for (i64 h = all.start[address]; h < end; h++) {
      auto store = j.store(all.host[h], across(side));
      if (store.s.totals.length == store.s.totals.empty) continue;
      const i64 k = h - all.start[address];
      store.each_partner(cells.rows, 0, k < AHEAD ? leaf[k] : store.leaf_of(cells.rows, 0), [&](u32 slot) {
        for (i64 left = store.weight(slot); left > 0; left--, j.pairs++)
          well = well && add_pair(list, cells, store.s.rows, slot);
      });
    }
    Own pairs(list);
    if (__builtin_expect(!well, 0)) return nullptr;
    for (i64 h = all.start[address]; h < all.visited[address]; h++) {
      const i64 k = h - all.start[address];
      j.store(all.host[h], side).append(cells.rows, 0, k < AHEAD ? place[k] : 0);
    }
    j.heard[side].add(i64(key)), j.heard[side].add(i64(hash)), j.heard[side].add(i64(cells.cell[form.known(Size)]));
    j.received += (end - all.start[address]) * i64(cells.cell[form.known(Size)]);
    j.counts[side]++;
    j.quota--;
    return list ? pairs.give() : py::PyTuple_New(0);
  }
};

}  // namespace theta
}  // namespace fr
