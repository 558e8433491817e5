// A running kernel in Python: its lock, and its errors.
//
// Whoever waits for the lock gives up Python's global lock first, so the one that has it can always
// go on, and may call Python: a function that has no C++ runs while the lock is held.
#pragma once

#include <pthread.h>

#include "python.hpp"
#include "transaction.hpp"

namespace fr {
namespace edge {

using namespace py;

const i64 SMALL = 64;  // batches of up to so many rows are done sooner than the global lock changes
const char* const INSTANCE = "freshview.instance";

struct Known {  // the schema that tables of a relation had last, and where its columns stand in it
  PyObject* schema;
  int* where;
};

struct Instance : Running {
  pthread_mutex_t mutex;
  u64 diverted;        // relations, as bits, whose single rows go to Python, which wants to know
  u64 singles[64];     // single rows of each relation taken since somebody asked
  PyObject* raise;     // raises the error that a problem deserves; belongs to the library
  Known* known;        // one for each relation
};

struct Unlocked {  // Python's global lock, given up for a while
  PyThreadState* state;
  explicit Unlocked(bool wanted = true) : state(wanted ? PyEval_SaveThread() : nullptr) {}
  ~Unlocked() { if (state) PyEval_RestoreThread(state); }
};

struct Locked {  // the kernel's lock; who only lets go of a state does not look into it
  Instance& x;
  // `global` says whether the caller has Python's lock, which it does not keep while it waits.
  explicit Locked(Instance& instance, bool look = true, bool global = true) : x(instance) {
    if (__builtin_expect(pthread_mutex_trylock(&x.mutex) != 0, 0)) {
      Unlocked others(global);
      pthread_mutex_lock(&x.mutex);
    }
    if (__builtin_expect(look && x.env.arena.is_shared(), 0)) {
      x.env.arena.refresh();
      x.ready = x.env.arena.mark();
    }
  }
  ~Locked() { pthread_mutex_unlock(&x.mutex); }
};

inline Instance* instance_in(PyObject* capsule) {
  return static_cast<Instance*>(PyCapsule_GetPointer(capsule, INSTANCE));
}

// Lets Python raise: what is wrong with which row (from 0) and column, and the value.
inline PyObject* raise_kernel_error(Instance& x, int relation, const char* what, i64 row, int column,
                          PyObject* value) {
  Own held(value ? value : none());
  return PyObject_CallFunction(x.raise, "isLiO", relation, what, (long long)row, column,
                               held.object);
}

inline PyObject* raise_kernel_error(Instance& x, int relation, const Problem& p) {
  const char* what = "value";
  PyObject* value = nullptr;
  switch (p.what) {
    case Problem::NotTable: what = "table", value = Py_BuildValue("s", p.name); break;
    case Problem::Missing: what = "missing"; break;
    case Problem::Extra: what = "extra", value = Py_BuildValue("s", p.name); break;
    case Problem::WrongType: what = "type", value = Py_BuildValue("s", p.name); break;
    case Problem::NotUtf8: value = PyBytes_FromStringAndSize(p.text.at, p.text.size); break;
    case Problem::TooLong: value = PyUnicode_FromStringAndSize(p.text.at, p.text.size); break;
    case Problem::NullRow: what = "whole"; break;
    case Problem::Damaged: what = "damaged", value = Py_BuildValue("s", p.name); break;
    case Problem::Nothing:
    case Problem::IsNull: break;
    case Problem::Outside: {
      if (p.real != 0) {
        value = PyFloat_FromDouble(p.real);
        break;
      }
      char text[300];
      *write_decimal(p.value, 0, text) = 0;
      value = p.scale > 0 ? give_decimal(p.value, p.scale) : PyLong_FromString(text, nullptr, 10);
      break;
    }
  }
  if (!value && PyErr_Occurred()) return nullptr;
  return raise_kernel_error(x, relation, what, p.row, p.column, value);
}

inline PyObject* object_of(const Arg& a) {
  if (!a.is_set) return none();
  switch (a.kind) {
    case Int: return PyLong_FromLongLong((long long)a.number);
    case Decimal64:
    case Decimal128: return give_decimal(a.number, a.scale);
    case Double: return PyFloat_FromDouble(a.real);
    case Date: return give_date(i32(a.number));
    case Timestamp: return give_time(i64(a.number));
    case Bool: return Py_BuildValue("O", a.number ? &_Py_TrueStruct : &_Py_FalseStruct);
    case Text: break;
  }
  return PyUnicode_FromStringAndSize(a.text.at, a.text.size);
}

// A text of Python's, copied to where it lasts; `full` says that there is no memory: whoever calls has
// Python's lock, and may not jump from here.
inline bool keep_text(Arena& arena, Str& text, bool& full) {
  u64 room = 0;
  if (!attempt([&] { room = arena.take(text.size + 1); })) return full = true, false;
  char* at = arena.at<char>(room);
  memcpy(at, text.at, text.size);
  text.at = at;
  return true;
}

inline PyObject* tuple_of(const Arg* args, int count) {
  Own values(PyTuple_New(count));
  for (int i = 0; values && i < count; i++) {
    PyObject* part = object_of(args[i]);
    if (!part || PyTuple_SetItem(values, i, part) != 0) return nullptr;
  }
  return values.give();
}

inline bool take_answer(PyObject* answer, const Column& result, void* out, Arena& arena, bool& full) {
  if (!take(answer, result, out)) return false;
  if (result.kind != Text || answer == &_Py_NoneStruct) return true;
  return keep_text(arena, *static_cast<Str*>(out), full);
}

// The answer of a Python function; its error, if there is one, is kept on Python's side.
inline bool host_answer(Env& e, const char* fn, const Column& result, const Arg* args, int count,
                        void* out, bool& full) {
  PyObject* function = PyDict_GetItemString(static_cast<PyObject*>(e.host), fn);
  Own values(tuple_of(args, count));
  Own answer(function && values ? PyObject_CallObject(function, values) : nullptr);
  return answer && take_answer(answer, result, out, e.scratch, full);
}

// The answers for many rows: what no column of this kind holds is none.
inline void host_answers(Env& e, const char* fn, const Column& result, const Arg* args, int count,
                         i64 rows, u8* out, u64 size, bool* known, bool& full) {
  PyObject* every = PyDict_GetItemString(static_cast<PyObject*>(e.host), "*");
  Own list(PyList_New(rows));
  for (i64 i = 0; list && i < rows; i++) {
    PyObject* row = tuple_of(args + i * count, count);
    if (!row) return;
    PyList_SetItem(list, i, row);
  }
  Own name(Py_BuildValue("s", fn));
  if (!every || !list || !name) return;
  Own answers(PyObject_CallFunctionObjArgs(every, name.object, list.object, nullptr));
  if (!answers || PyList_Size(answers) != rows) return;
  for (i64 i = 0; i < rows && !full; i++)
    known[i] = take_answer(PyList_GetItem(answers, i), result, out + u64(i) * size, e.columns, full);
}

// Lets Python raise what a function without an answer deserves: its name, then its arguments.
inline PyObject* raise_kernel_error(Instance& x, int number, const char* what, Fault& fault) {
  int count = 0;
  while (count < FAULT_ARGS && fault.args[count].is_set) count++;
  Own call(PyTuple_New(count + 1));
  bool good = call;
  for (int i = 0; good && i <= count; i++) {
    PyObject* part = i ? object_of(fault.args[i - 1]) : Py_BuildValue("s", fault.fn);
    good = part && PyTuple_SetItem(call, i, part) == 0;
  }
  fault.free_texts();
  return good ? raise_kernel_error(x, number, what, 0, 0, call.give()) : nullptr;
}

inline PyObject* finish(Instance& x, int relation, Done done, Fault fault = Fault()) {
  const char* const words[] = {"", "closed", "late", "static", "overflow", "many", "full", "lost", "refused"};
  if (__builtin_expect(done == Done::Well, 1)) return none();
  if (fault.fn) return raise_kernel_error(x, relation, "fault", fault);
  return raise_kernel_error(x, relation, words[int(done)], 0, 0, nullptr);
}

inline PyObject* commit(Instance& x, int relation, Part* first, i64 rows, i64 sign) {
  Done done;
  Fault fault;
  {
    Locked lock(x);
    Unlocked others(rows > SMALL);
    done = run(x, x.env.kernel->relation[relation], first, sign, fault);
  }
  return finish(x, relation, done, fault);
}

// Arguments that Python's side always gives right; these only keep a mistake there from crashing.
inline bool number(PyObject* value, i64 low, i64 high, i64& out) {
  out = PyLong_AsLongLong(value);
  if (out == -1 && PyErr_Occurred()) return false;
  if (low <= out && out < high) return true;
  PyErr_SetString(PyExc_ValueError, "the kernel has nothing of this number");
  return false;
}

inline bool arity(intptr_t count, intptr_t wanted) {
  if (count != wanted) PyErr_SetString(PyExc_ValueError, "wrong number of arguments");
  return count == wanted;
}

}  // namespace edge
}  // namespace fr
