// What Python calls: functions over the stores of one join. Arrays come as tuples of addresses, which
// `store.py` takes from NumPy; what varies in length goes back as bytes.
#pragma once

#include "single.hpp"

namespace fr {
namespace theta {

using TheJoin = Join<Theta>;
using TheWriter = Writer<Theta>;
inline const char* JOIN = "freshview.theta.join";
inline const char* WRITER = "freshview.theta.writer";

// The arguments of a call, one after the other.
struct Args {
  PyObject* const* at;
  TheJoin* join;

  explicit Args(PyObject* const* args) : at(args + 1) {
    join = static_cast<TheJoin*>(py::PyCapsule_GetPointer(args[0], JOIN));
  }
  i64 number() { return py::PyLong_AsLongLong(*at++); }
  template <class T> T* address() { return reinterpret_cast<T*>(number()); }

  Rows rows() {
    Rows out;
    PyObject* addresses = *at++;
    const intptr_t n = py::PyTuple_Size(addresses);
    for (intptr_t a = 0; a < n; a++)
      out.at[a] = reinterpret_cast<u8*>(py::PyLong_AsLongLong(py::PyTuple_GetItem(addresses, a)));
    return out;
  }

  // A copy of numbers that come as bytes; null for None.
  i64* numbers(i64* count = nullptr) {
    PyObject* bytes = *at++;
    if (bytes == &py::_Py_NoneStruct) return nullptr;
    char* from;
    intptr_t size;
    if (py::PyBytes_AsStringAndSize(bytes, &from, &size) < 0) return nullptr;
    i64* out = static_cast<i64*>(malloc(size_t(size) + 8));
    memcpy(out, from, size_t(size));
    if (count) *count = size / 8;
    return out;
  }

  auto store() {
    const i64 host = number();
    return join->store(host, int(number()));
  }
};

inline PyObject* bytes_of(Numbers& numbers) {
  PyObject* out = py::PyBytes_FromStringAndSize(reinterpret_cast<const char*>(numbers.at), numbers.count * 8);
  numbers.close();
  return out;
}

inline void drop_join(PyObject* capsule) {
  auto* join = static_cast<TheJoin*>(py::PyCapsule_GetPointer(capsule, JOIN));
  join->close();
  free(static_cast<void*>(join));
}

// open(kinds of R, of S, integers, doubles, merges R, S, seed of R, S, time column of R, S): kinds are a
// letter a column, large where it may be NULL for the second half of the text.
inline PyObject* open(PyObject*, PyObject* const* args, intptr_t) {
  auto* join = static_cast<TheJoin*>(calloc(1, sizeof(TheJoin)));
  if (!join || !Arena::open(join->arena)) return py::PyErr_NoMemory();
  Own capsule(py::PyCapsule_New(join, JOIN, drop_join));
  if (!capsule) return nullptr;
  PyObject* const* at = args;
  for (int side = R; side <= S; side++) {
    intptr_t size;
    const char* kinds = py::PyUnicode_AsUTF8AndSize(*at++, &size);
    if (!kinds) return nullptr;
    Form& form = join->env.form[side];
    form.columns = int(size / 2);
    for (int c = 0; c < form.columns; c++) {
      form.kind[c] = kinds[c];
      form.nullable[c] = kinds[form.columns + c] == '?';
    }
    form.lay_out();
  }
  for (i64& x : join->env.ints) x = 0;
  PyObject *ints = *at++, *doubles = *at++;
  for (intptr_t i = 0; i < py::PyTuple_Size(ints); i++)
    join->env.ints[i] = py::PyLong_AsLongLong(py::PyTuple_GetItem(ints, i));
  for (intptr_t i = 0; i < py::PyTuple_Size(doubles); i++)
    join->env.doubles[i] = py::PyFloat_AsDouble(py::PyTuple_GetItem(doubles, i));
  for (int side = R; side <= S; side++) join->merges[side] = py::PyLong_AsLongLong(*at++) != 0;
  for (int side = R; side <= S; side++) join->seed[side] = py::PyLong_AsLongLong(*at++);
  for (int side = R; side <= S; side++) join->env.time[side] = int(py::PyLong_AsLongLong(*at++));
  join->is_diverted = true;
  if (py::PyErr_Occurred()) return nullptr;
  return capsule.give();
}

inline PyObject* add_host(PyObject*, PyObject* const* args, intptr_t) {
  return py::PyLong_FromLongLong(Args(args).join->add_host());
}

inline PyObject* close(PyObject*, PyObject* const* args, intptr_t) {
  Args in(args);
  in.store().s.close(in.join->arena);
  return py::none();
}

// totals(join, host, side): where the numbers of a store are.
inline PyObject* totals(PyObject*, PyObject* const* args, intptr_t) {
  auto store = Args(args).store();
  return py::PyLong_FromLongLong(reinterpret_cast<i64>(&store.s.totals));
}

// attach(join, host, side, addresses, room): the arrays of a store.
inline PyObject* attach(PyObject*, PyObject* const* args, intptr_t) {
  Args in(args);
  auto store = in.store();
  store.s.rows = in.rows();
  store.s.totals.room = in.number();
  return py::none();
}

// add(join, host, side, addresses, count): stores rows.
inline PyObject* add(PyObject*, PyObject* const* args, intptr_t) {
  Args in(args);
  auto store = in.store();
  const Rows rows = in.rows();
  const i64 n = in.number();
  i64* all = static_cast<i64*>(malloc(size_t(2 * n + 1) * 8));
  for (i64 i = 0; i < n; i++) all[i] = i;
  store.add_all(rows, all, n, all + n);
  free(all);
  return py::none();
}

// restore(join, host, side, count, shadows, pinned, gone): the arrays have the slots already; they are
// entered. Free are those that `gone` lists, in their order, or for None all that are empty.
inline PyObject* restore(PyObject*, PyObject* const* args, intptr_t) {
  Args in(args);
  auto store = in.store();
  store.s.totals.length = in.number();
  for (i64 slot = store.s.totals.length; slot-- > 0;) {
    if (store.weight(slot)) {
      store.s.totals.bytes += store.size_at(slot);
      store.note(store.weight(slot));
    } else {
      store.s.totals.empty++;
    }
    store.enter(u32(slot));
  }
  store.s.shadows.at = in.numbers(&store.s.shadows.count);
  store.s.shadows.room = store.s.shadows.count;
  store.s.totals.pinned = in.number();
  Numbers& gone = store.s.gone;
  gone.close();
  gone = Numbers{};
  gone.at = in.numbers(&gone.count);
  gone.room = gone.count;
  if (gone.at) return py::none();
  for (i64 slot = store.s.totals.length; slot-- > 0;)
    if (!store.weight(slot)) gone.add(slot);
  return py::none();
}

// gone(join, host, side): slots that are used again, the last one first.
inline PyObject* gone(PyObject*, PyObject* const* args, intptr_t) {
  auto store = Args(args).store();
  return py::PyBytes_FromStringAndSize(reinterpret_cast<const char*>(store.s.gone.at), store.s.gone.count * 8);
}

// shadows(join, host, side): pairs of slots that will be one again.
inline PyObject* shadows(PyObject*, PyObject* const* args, intptr_t) {
  auto store = Args(args).store();
  return py::PyBytes_FromStringAndSize(reinterpret_cast<const char*>(store.s.shadows.at), store.s.shadows.count * 8);
}

// probe(join, host, side, addresses, rows, count, from, most): pairs of a row and a slot, and from
// which row to go on.
inline PyObject* probe(PyObject*, PyObject* const* args, intptr_t) {
  Args in(args);
  auto store = in.store();
  const Rows batch = in.rows();
  const i64* row = in.address<i64>();
  const i64 n = in.number(), from = in.number(), most = in.number();
  Numbers rows, slots;
  const i64 next = from + in.join->probe(store, batch, row + from, n - from, most, rows, slots, [](u32) { return true; });
  Own all(bytes_of(rows)), where(bytes_of(slots));
  return all && where ? py::Py_BuildValue("(OOL)", all.object, where.object, (long long)next) : nullptr;
}

inline PyObject* drop(PyObject*, PyObject* const* args, intptr_t) {
  Args in(args);
  auto store = in.store();
  const i64* slots = in.address<i64>();
  store.drop(slots, in.number());
  return py::none();
}

inline PyObject* unpin(PyObject*, PyObject* const* args, intptr_t) {
  Args(args).store().unpin();
  return py::none();
}

// The tables of a routing.
inline void read_routing(Args& in, Routing& to) {
  for (Addresses& side : to.side) {
    side.start = in.numbers(&side.count);
    side.count--;
    side.visited = in.numbers();
    side.host = in.numbers();
  }
  to.bucket = in.numbers();
  to.grids = reinterpret_cast<Grids*>(in.numbers());
  to.group_end = in.numbers(&to.groups);
}

// route(join, start, visited, hosts of R, the same of S, buckets or None, grids, ends of groups).
inline PyObject* route(PyObject*, PyObject* const* args, intptr_t) {
  Args in(args);
  Routing& to = in.join->routing;
  to.close();
  read_routing(in, to);
  return py::none();
}

// begin(join, the same, then parts of the old addresses, first senders and senders of R, and of S): enters
// an epoch: what is stored now has to be settled.
inline PyObject* begin(PyObject*, PyObject* const* args, intptr_t) {
  Args in(args);
  TheJoin& j = *in.join;
  j.epoch.before = j.routing;
  j.routing = Routing{};
  read_routing(in, j.routing);
  for (int side = R; side <= S; side++) {
    j.epoch.part[side] = in.numbers();
    j.epoch.first[side] = in.numbers();
    j.epoch.from[side] = in.numbers();
  }
  for (i64 i = 0; i < 2 * j.hosts; i++) {
    Totals& totals = j.stores[i]->totals;
    totals.pinned = totals.end = totals.length;
    totals.passed = 0;
  }
  return py::none();
}

// settle(join, host, side, budget): a piece of the state; the bytes that went to others.
inline PyObject* settle(PyObject*, PyObject* const* args, intptr_t) {
  Args in(args);
  const i64 host = in.number(), side = in.number();
  return py::PyLong_FromLongLong(in.join->settle(host, int(side), py::PyFloat_AsDouble(*in.at)));
}

// end(join): nothing is on its way any more.
inline PyObject* end(PyObject*, PyObject* const* args, intptr_t) {
  Args(args).join->epoch.close();
  return py::none();
}

// run(join, side, addresses, count, order): joins and stores rows of a side; the hosts with their
// numbers of pairs, the rows and slots of these, and the bytes that each host received.
inline PyObject* run(PyObject*, PyObject* const* args, intptr_t) {
  Args in(args);
  TheJoin& j = *in.join;
  Numbers hosts, rows, slots, received;
  for (i64 host = 0; host < j.hosts; host++) received.add(0);
  const int side = int(in.number());
  const Rows batch = in.rows();
  const i64 n = in.number();
  const i64* order = in.address<i64>();
  j.enter(side, batch, order, n, hosts, rows, slots, received.at);
  Own out(py::PyTuple_New(4));
  if (!out) return nullptr;
  Numbers* all[] = {&hosts, &rows, &slots, &received};
  for (int i = 0; i < 4; i++) py::PyTuple_SetItem(out, i, bytes_of(*all[i]));
  return out.give();
}

// size(join): bytes of the indexes.
inline PyObject* size(PyObject*, PyObject* const* args, intptr_t) {
  TheJoin& j = *Args(args).join;
  u64 bytes = 0;
  for (i64 host = 0; host < 2 * j.hosts; host++) bytes += j.stores[host]->bytes();
  return py::PyLong_FromUnsignedLongLong(bytes);
}

// collect(join): what single rows did since the last call: rows of both sides, keys, hashes and sizes of
// each, pairs, and bytes that joiners received. Until `start`, single rows go to Python.
inline PyObject* collect(PyObject*, PyObject* const* args, intptr_t) {
  TheJoin& j = *Args(args).join;
  j.is_diverted = true;
  PyObject* heard[2];
  for (int side = R; side <= S; side++) {
    heard[side] = bytes_of(j.heard[side]);
    j.heard[side] = Numbers{};
  }
  PyObject* out = py::Py_BuildValue("(NNLL)", heard[R], heard[S], (long long)j.pairs, (long long)j.received);
  j.pairs = j.received = 0;
  return out;
}

// start(join, rows of R, of S, quota): from now on single rows are joined here, up to so many.
inline PyObject* start(PyObject*, PyObject* const* args, intptr_t) {
  Args in(args);
  for (int side = R; side <= S; side++) in.join->counts[side] = in.number();
  in.join->quota = in.number();
  in.join->is_diverted = false;
  return py::none();
}

// left(join): how many more single rows are joined here.
inline PyObject* left(PyObject*, PyObject* const* args, intptr_t) {
  return py::PyLong_FromLongLong(Args(args).join->quota);
}

inline PyObject* one_row(PyObject* self, PyObject* const* args, intptr_t n) {
  auto* writer = static_cast<TheWriter*>(py::PyCapsule_GetPointer(self, WRITER));
  return writer ? writer->one(args, n) : nullptr;
}

inline py::PyMethodDef row_method = {"insert", one_row, py::FastCall, "Inserts one row; the rows it makes."};

inline void drop_writer(PyObject* capsule) {
  auto* writer = static_cast<TheWriter*>(py::PyCapsule_GetPointer(capsule, WRITER));
  py::Py_DecRef(writer->owner);
  py::Py_DecRef(writer->instead);
  free(writer);
}

// writer(join, side, instead): a function that takes the values of a row; `instead` takes a tuple of them.
inline PyObject* writer(PyObject*, PyObject* const* args, intptr_t) {
  Args in(args);
  auto* writer = static_cast<TheWriter*>(malloc(sizeof(TheWriter)));
  if (!writer) return py::PyErr_NoMemory();
  const int side = int(in.number());
  *writer = TheWriter{in.join, args[0], *in.at, side};
  Own capsule(py::PyCapsule_New(writer, WRITER, drop_writer));
  if (!capsule) return free(writer), nullptr;
  py::Py_IncRef(writer->owner);
  py::Py_IncRef(writer->instead);
  return py::PyCFunction_NewEx(&row_method, capsule, nullptr);
}

#define FR_CALL(name) {#name, name, py::FastCall, nullptr}
inline py::PyMethodDef methods[] = {
    FR_CALL(open),  FR_CALL(add_host), FR_CALL(close), FR_CALL(totals), FR_CALL(attach),
    FR_CALL(add),   FR_CALL(restore),  FR_CALL(probe),     FR_CALL(drop),   FR_CALL(unpin),
    FR_CALL(route), FR_CALL(run),      FR_CALL(size),      FR_CALL(collect), FR_CALL(start),
    FR_CALL(left),  FR_CALL(writer),   FR_CALL(shadows),   FR_CALL(gone), FR_CALL(begin),  FR_CALL(settle),
    FR_CALL(end),
};
#undef FR_CALL

}  // namespace theta
}  // namespace fr

extern "C" __attribute__((visibility("default"))) fr::py::PyObject* freshview_functions() {
  using namespace fr::py;
  if (!learn()) return nullptr;
  const int size = sizeof(fr::theta::methods) / sizeof(PyMethodDef);
  PyObject* out = PyTuple_New(size);
  for (int i = 0; out && i < size; i++)
    PyTuple_SetItem(out, i, PyCFunction_NewEx(&fr::theta::methods[i], nullptr, nullptr));
  return out;
}
