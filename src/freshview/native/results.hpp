// Results on their way out: as Python rows, or as Arrow columns.
#pragma once

#include "arrow_out.hpp"
#include "instance.hpp"

namespace fr {
namespace edge {

const char* const FRAME = "freshview.frame";

// What `take` takes out of the state, with nobody else there; null with an error, which calls
// what was asked for a `kind`.
template <class Take> Table* table_from_state(Instance* x, i64 index, const char* kind, Take take) {
  Table* table = nullptr;
  bool overflow = false;
  Fault fault;
  Done done;
  {
    Locked lock(*x);
    Unlocked others;
    done = make_ready(*x, fault);
    if (done == Done::Well) {
      table = take(x->env);
      empty_scratch(x->env);
      overflow = x->env.overflow;
      fault = take_fault(x->env);
    }
  }
  if (!overflow && table) return table;
  if (!table && done == Done::Well) {
    Own refused(raise_kernel_error(*x, int(index), "unread", 0, 0, nullptr));
    return nullptr;
  }
  if (table) table->room->let_go();
  if (table && fault.fn) {
    Own raised(raise_kernel_error(*x, int(index), kind, fault));
    return nullptr;
  }
  Own raised(table ? raise_kernel_error(*x, int(index), kind, 0, 0, nullptr) : finish(*x, 0, done, fault));
  return nullptr;
}

// What the query (which = 0) or map (1) of a number holds now; null with an error.
inline Table* read_table(PyObject* const* args, intptr_t n) {
  i64 which, index;
  Instance* x = arity(n, 3) ? instance_in(args[0]) : nullptr;
  if (!x || !number(args[1], 0, 2, which)) return nullptr;
  const Kernel& k = *x->env.kernel;
  if (!number(args[2], 0, which ? k.maps : k.queries, index)) return nullptr;
  return table_from_state(x, index, which ? "map" : "query", [&](Env& env) {
    return which ? table_of(env, k.map[index], k.map[index].read)
                 : table_of(env, k.query[index], k.query[index].read);
  });
}

inline PyObject* value_at(const Table& t, int c, i64 i) {
  const void* column = t.column[c];
  int scale = t.columns[c].scale;
  auto at = [&](auto sample) { return static_cast<const decltype(sample)*>(column)[i]; };
  switch (t.columns[c].kind) {
    case Int: return is_null(at(i64())) ? none() : PyLong_FromLongLong(at(i64()));
    case Decimal64: return is_null(at(i64())) ? none() : give_decimal(at(i64()), scale);
    case Decimal128: return is_null(at(i128())) ? none() : give_decimal(at(i128()), scale);
    case Double: return is_null(at(f64())) ? none() : PyFloat_FromDouble(at(f64()));
    case Date: return is_null(at(i32())) ? none() : give_date(at(i32()));
    case Timestamp: return is_null(at(i64())) ? none() : give_time(at(i64()));
    case Bool: {
      if (is_null(at(i8()))) return none();
      PyObject* out = at(i8()) ? &_Py_TrueStruct : &_Py_FalseStruct;
      return Py_IncRef(out), out;
    }
    case Text: {
      if (is_null(at(Sym()))) return none();
      Str s = t.text_at(c, i);
      return PyUnicode_FromStringAndSize(s.at, s.size);
    }
  }
  return none();
}

inline PyObject* rows_of(Table* t) {
  if (!t) return nullptr;
  NoSearch held;
  Own out(PyList_New(t->size));
  for (i64 i = 0; out && i < t->size; i++) {
    Own row(PyTuple_New(t->width)), count(PyLong_FromLongLong(t->count[i])), pair(PyTuple_New(2));
    bool good = row && count && pair;
    for (int c = 0; good && c < t->width; c++) {
      PyObject* value = value_at(*t, c, i);
      good = value && PyTuple_SetItem(row, c, value) == 0;
    }
    if (!good) {
      t->room->let_go();
      return nullptr;
    }
    PyTuple_SetItem(pair, 0, row.give());
    PyTuple_SetItem(pair, 1, count.give());
    PyList_SetItem(out, i, pair.give());
  }
  t->room->let_go();
  return out.give();
}

// read_rows(instance, which, index): a list of (row, count).
inline PyObject* read_rows(PyObject*, PyObject* const* args, intptr_t n) {
  return rows_of(read_table(args, n));
}

// find_rows(instance, query, values): the same of the rows whose key columns have these values, one
// value for each of them in order; None where a value does not belong to its column.
inline PyObject* find_rows(PyObject*, PyObject* const* args, intptr_t n) {
  i64 index;
  Instance* x = arity(n, 3) ? instance_in(args[0]) : nullptr;
  if (!x || !number(args[1], 0, x->env.kernel->queries, index)) return nullptr;
  const Query& q = x->env.kernel->query[index];
  Own values(PySequence_Tuple(args[2]));
  if (!values) return nullptr;
  Rooms own;
  const void** column = own.room->array<const void*>(q.width + 1);
  intptr_t next = 0;
  for (int c = 0; c < q.width; c++) {
    column[c] = nullptr;
    if (!q.key || !q.key[c]) continue;
    void* at = own.room->take(size_in(q.columns[c].kind));
    if (next == PyTuple_Size(values) || !take(PyTuple_GetItem(values, next++), q.columns[c], at))
      return none();
    column[c] = at;
  }
  const i64 once = 1;
  Batch wanted{1, &once, column};
  return rows_of(table_from_state(x, index, "query", [&](Env& env) {
    return table_of(env, q, [&](Env& e, Output& out) { q.find(e, wanted, out); });
  }));
}

inline void drop_frame(PyObject* capsule) {
  static_cast<Frame*>(PyCapsule_GetPointer(capsule, FRAME))->room->let_go();
}

// A table as Arrow columns, for `export_frame`; `args` are the instance, and what it was read from.
inline PyObject* frame_object(Table* t, PyObject* const* args, intptr_t n) {
  if (!t) return nullptr;
  i128 rows = 0;
  for (i64 i = 0; i < t->size; i++) rows += t->count[i];
  if (__builtin_expect(rows > INT32_MAX, 0)) {
    t->room->let_go();
    char text[64];
    *write_decimal(rows, 0, text) = 0;
    i64 index = PyLong_AsLongLong(args[n - 1]);
    return raise_kernel_error(*instance_in(args[0]), int(index), "copies", 0, 0,
                    PyLong_FromString(text, nullptr, 10));
  }
  Frame* frame = nullptr;
  bool whole;
  {
    Unlocked others;
    whole = attempt([&] { frame = frame_of(*t); });
    t->room->let_go();
  }
  if (!whole) return raise_kernel_error(*instance_in(args[0]), 0, "full", 0, 0, nullptr);
  PyObject* out = PyCapsule_New(frame, FRAME, drop_frame);
  if (!out) frame->room->let_go();
  return out;
}

// read_frame(instance, which, index): the rows of `read_rows`, each as often as it counts.
inline PyObject* read_frame(PyObject*, PyObject* const* args, intptr_t n) {
  return frame_object(read_table(args, n), args, n);
}

template <class Arrow> void drop_arrow(PyObject* capsule) {
  const char* name = sizeof(Arrow) == sizeof(ArrowSchema) ? "arrow_schema" : "arrow_array";
  Arrow* a = static_cast<Arrow*>(PyCapsule_GetPointer(capsule, name));
  if (a->release) a->release(a);  // unless somebody took it out
  free(a);
}

// export_frame(frame): its schema and its columns, as often as wanted.
inline PyObject* export_frame(PyObject*, PyObject* const* args, intptr_t n) {
  static_assert(sizeof(ArrowSchema) != sizeof(ArrowArray), "told apart by size");
  Frame* frame = arity(n, 1) ? static_cast<Frame*>(PyCapsule_GetPointer(args[0], FRAME)) : nullptr;
  if (!frame) return nullptr;
  auto* schema = static_cast<ArrowSchema*>(malloc(sizeof(ArrowSchema)));
  auto* array = static_cast<ArrowArray*>(malloc(sizeof(ArrowArray)));
  if (!schema || !array) return free(schema), free(array), PyErr_NoMemory();
  export_schema(*frame, *schema);
  export_array(*frame, *array);
  Own first(PyCapsule_New(schema, "arrow_schema", drop_arrow<ArrowSchema>));
  Own second(PyCapsule_New(array, "arrow_array", drop_arrow<ArrowArray>));
  if (!first || !second) return nullptr;
  return Py_BuildValue("(OO)", first.object, second.object);
}

}  // namespace edge
}  // namespace fr
