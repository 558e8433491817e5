// CPython as kernels see it: the symbols of its stable ABI that the boundary calls, declared by
// hand so that a kernel compiles without Python's headers, and values on their way in and out.
//
// The symbols are found in the process that loads the library. Only two things are read from
// memory: the type in an object's head, which the stable ABI promises for builds with a global
// lock (`load.py` refuses the others), and the fields of dates, after a trial (see `learn`).
#pragma once

#include "decimal.hpp"
#include "kernel.hpp"
#include "scalar.hpp"
#include "sized.hpp"

namespace fr {
namespace py {

extern "C" {

struct PyTypeObject;
struct PyThreadState;

struct PyObject {
  intptr_t references;
  PyTypeObject* type;
};

struct PyMethodDef {
  const char* name;
  PyObject* (*call)(PyObject*, PyObject* const*, intptr_t);
  int flags;
  const char* doc;
};

struct Py_buffer {
  void* buf;
  PyObject* obj;
  intptr_t len, itemsize;
  int readonly, ndim;
  char* format;
  intptr_t *shape, *strides, *suboffsets;
  void* internal;
};

extern PyTypeObject PyLong_Type, PyFloat_Type, PyUnicode_Type, PyBool_Type, PyTuple_Type;
extern PyTypeObject PyList_Type;
extern PyObject _Py_NoneStruct, _Py_TrueStruct, _Py_FalseStruct;
extern PyObject* PyExc_ValueError;

void Py_IncRef(PyObject*);
void Py_DecRef(PyObject*);

PyThreadState* PyEval_SaveThread();
void PyEval_RestoreThread(PyThreadState*);
int PyGILState_Ensure();
void PyGILState_Release(int);

int PyGC_Disable();
int PyGC_Enable();

PyObject* PyErr_Occurred();
void PyErr_Clear();
void PyErr_SetString(PyObject*, const char*);
PyObject* PyErr_NoMemory();

unsigned long PyType_GetFlags(PyTypeObject*);
int PyType_IsSubtype(PyTypeObject*, PyTypeObject*);

long long PyLong_AsLongLong(PyObject*);
double PyLong_AsDouble(PyObject*);
PyObject* PyLong_FromLongLong(long long);
PyObject* PyLong_FromUnsignedLongLong(unsigned long long);
PyObject* PyLong_FromString(const char*, char**, int);
double PyFloat_AsDouble(PyObject*);
PyObject* PyFloat_FromDouble(double);
const char* PyUnicode_AsUTF8AndSize(PyObject*, intptr_t*);
PyObject* PyUnicode_FromStringAndSize(const char*, intptr_t);
PyObject* PyBytes_FromStringAndSize(const char*, intptr_t);
int PyBytes_AsStringAndSize(PyObject*, char**, intptr_t*);

PyObject* PyDict_GetItemString(PyObject*, const char*);

PyObject* PyTuple_New(intptr_t);
intptr_t PyTuple_Size(PyObject*);
PyObject* PyTuple_GetItem(PyObject*, intptr_t);
int PyTuple_SetItem(PyObject*, intptr_t, PyObject*);
PyObject* PyList_New(intptr_t);
intptr_t PyList_Size(PyObject*);
PyObject* PyList_GetItem(PyObject*, intptr_t);
int PyList_SetItem(PyObject*, intptr_t, PyObject*);
int PyList_Append(PyObject*, PyObject*);
PyObject* PyList_AsTuple(PyObject*);
PyObject* PySequence_Tuple(PyObject*);

PyObject* PyObject_Str(PyObject*);
PyObject* PyObject_GetAttrString(PyObject*, const char*);
PyObject* PyObject_CallObject(PyObject*, PyObject*);
PyObject* PyObject_CallFunctionObjArgs(PyObject*, ...);
PyObject* PyObject_CallFunction(PyObject*, const char*, ...);
PyObject* Py_BuildValue(const char*, ...);
PyObject* PyImport_ImportModule(const char*);

PyObject* PyCapsule_New(void*, const char*, void (*)(PyObject*));
void* PyCapsule_GetPointer(PyObject*, const char*);
PyObject* PyCFunction_NewEx(PyMethodDef*, PyObject*, PyObject*);

int PyObject_GetBuffer(PyObject*, Py_buffer*, int);
void PyBuffer_Release(Py_buffer*);

}  // extern "C"

enum : int { FastCall = 0x80, WithFormat = 0x4 };                    // METH_FASTCALL, PyBUF_FORMAT
enum : unsigned long { IsLong = 1ul << 24, IsText = 1ul << 28 };  // Py_TPFLAGS_..._SUBCLASS

inline PyObject* none() { Py_IncRef(&_Py_NoneStruct); return &_Py_NoneStruct; }

// A reference that is given up where the scope ends.
struct Own {
  PyObject* object;
  explicit Own(PyObject* owned) : object(owned) {}
  Own(const Own&) = delete;
  Own& operator=(const Own&) = delete;
  ~Own() { if (object) Py_DecRef(object); }
  operator PyObject*() const { return object; }
  PyObject* give() { PyObject* out = object; object = nullptr; return out; }
};

// No search for garbage: many new objects would set it off again and again, in vain.
struct NoSearch {
  bool before = PyGC_Disable();
  ~NoSearch() { if (before) PyGC_Enable(); }
};

// The types that are not symbols, looked up once and kept as long as the process.
struct Types {
  PyTypeObject *decimal, *date, *datetime;
  bool fields;  // dates keep their fields where we look for them
};

inline Types types;

// Where CPython has kept year, month, day, ... of dates since 3.0: behind head and hash come a
// byte that says whether there is a time zone, then the fields, most significant byte first.
inline const u8* fields_of(PyObject* date) { return reinterpret_cast<const u8*>(date) + 25; }
inline bool has_zone(PyObject* date) { return fields_of(date)[-1] != 0; }

inline PyTypeObject* type_named(const char* module, const char* name) {
  Own holder(PyImport_ImportModule(module));
  if (!holder) return nullptr;
  return reinterpret_cast<PyTypeObject*>(PyObject_GetAttrString(holder, name));
}

// Finds the types, and tries on known dates whether their fields lie where we expect them.
inline bool learn() {
  if (types.datetime) return true;
  types.decimal = type_named("decimal", "Decimal");
  types.date = type_named("datetime", "date");
  types.datetime = type_named("datetime", "datetime");
  if (!types.decimal || !types.date || !types.datetime) return false;
  Own day(PyObject_CallFunction((PyObject*)types.date, "iii", 2021, 3, 4));
  PyObject* moment = (PyObject*)types.datetime;
  Own time(PyObject_CallFunction(moment, "iiiiiii", 2021, 3, 4, 5, 6, 7, 890123));
  if (!day || !time) return false;
  const u8 want[] = {0, 7, 229, 3, 4, 5, 6, 7, 13, 149, 11};
  types.fields = !memcmp(fields_of(day) - 1, want, 5) && !memcmp(fields_of(time) - 1, want, 11);
  return true;
}

inline bool failed() {
  if (!PyErr_Occurred()) return false;
  PyErr_Clear();
  return true;
}

inline bool is_int(PyObject* v) {
  if (v->type == &PyLong_Type) return true;
  return v->type != &PyBool_Type && (PyType_GetFlags(v->type) & IsLong);
}

inline bool take_int(PyObject* v, i64& out) {
  if (!is_int(v)) return false;
  out = PyLong_AsLongLong(v);
  return !(out == -1 && failed()) && out != null<i64>();
}

inline bool take_double(PyObject* v, f64& out) {
  if (v->type == &PyFloat_Type || PyType_IsSubtype(v->type, &PyFloat_Type)) {
    out = PyFloat_AsDouble(v);
  } else if (is_int(v)) {
    out = PyLong_AsDouble(v);
    if (out == -1 && failed()) return false;
  } else {
    return false;
  }
  out += 0.0;  // one zero
  return out - out == 0;
}

inline bool take_decimal(PyObject* v, int scale, i128& out) {
  if (is_int(v)) {
    long long small = PyLong_AsLongLong(v);
    if (!(small == -1 && failed())) return edge::rescale(small, scale, out);
  } else if (v->type != types.decimal && !PyType_IsSubtype(v->type, types.decimal)) {
    return false;
  }
  Own text(PyObject_Str(v));
  intptr_t size = 0;
  const char* at = text ? PyUnicode_AsUTF8AndSize(text, &size) : nullptr;
  if (!at) return !failed() && false;
  return edge::read_decimal(at, size, scale, out);
}

inline bool attribute(PyObject* v, const char* name, i64& out) {
  Own got(PyObject_GetAttrString(v, name));
  if (!got || got.object == &_Py_NoneStruct) return false;
  out = PyLong_AsLongLong(got);
  return !(out == -1 && failed());
}

// A subclass may say otherwise than its fields do: NaT and moments after 9999 of pandas have
// those of some other day.
inline bool take_day(PyObject* v, i64& out, bool plain) {
  if (types.fields && plain) {
    const u8* f = fields_of(v);
    out = days_of(f[0] << 8 | f[1], f[2], f[3]);
    return true;
  }
  i64 y, m, d;
  if (!attribute(v, "year", y) || !attribute(v, "month", m)) return false;
  if (!attribute(v, "day", d) || y < 1 || y > 9999) return false;
  out = days_of(y, int(m), int(d));
  return true;
}

inline bool take_date(PyObject* v, i32& out) {
  i64 days;
  bool plain = v->type == types.date;
  if (!plain) {
    if (!PyType_IsSubtype(v->type, types.date)) return false;
    if (PyType_IsSubtype(v->type, types.datetime)) return false;
  }
  if (!take_day(v, days, plain)) return failed() && false;
  out = i32(days);
  return true;
}

inline bool take_time(PyObject* v, i64& out) {
  bool plain = v->type == types.datetime;
  if (!plain && !PyType_IsSubtype(v->type, types.datetime)) return false;
  i64 days, h, m, s, us, ns = 0;
  if (!take_day(v, days, plain)) return failed() && false;
  if (types.fields && plain) {
    if (has_zone(v)) return false;
    const u8* f = fields_of(v);
    h = f[4], m = f[5], s = f[6], us = f[7] << 16 | f[8] << 8 | f[9];
  } else {
    Own zone(PyObject_GetAttrString(v, "tzinfo"));
    if (zone.object != &_Py_NoneStruct) return failed() && false;
    if (!attribute(v, "hour", h) || !attribute(v, "minute", m)) return failed() && false;
    if (!attribute(v, "second", s) || !attribute(v, "microsecond", us)) return failed() && false;
    if (!attribute(v, "nanosecond", ns)) failed();  // only pandas has some
    if (ns) return false;
  }
  out = days * DAY + ((h * 60 + m) * 60 + s) * 1000000 + us;
  return true;
}

// The text stays where Python keeps it, as long as the object lives.
inline bool take_text(PyObject* v, Str& out) {
  if (v->type != &PyUnicode_Type && !(PyType_GetFlags(v->type) & IsText)) return false;
  intptr_t size = 0;
  const char* at = PyUnicode_AsUTF8AndSize(v, &size);
  if (!at) return failed() && false;  // half of a surrogate pair
  out = Str{at, u32(size)};
  return size <= intptr_t(UINT32_MAX);
}

inline bool take_of_kind(PyObject* v, const Column& c, void* out);

// Writes a value where an array of its kind has it; false where the column does not hold it.
// No Python error is left behind: `calculus.rows` has the words.
inline bool take(PyObject* v, const Column& c, void* out) {
  return take_of_kind(v, c, out) && (!c.size || edge::has_size_at(c, out));
}

inline bool take_of_kind(PyObject* v, const Column& c, void* out) {
  bool missing = v == &_Py_NoneStruct;
  if (missing && !c.nullable) return false;
  i128 wide;
  switch (c.kind) {
    case Int:
      if (missing) { *(i64*)out = null<i64>(); return true; }
      return take_int(v, *(i64*)out);
    case Decimal64:
      if (missing) { *(i64*)out = null<i64>(); return true; }
      if (!take_decimal(v, c.scale, wide)) return false;
      *(i64*)out = i64(wide);
      return i64(wide) == wide && i64(wide) != null<i64>();
    case Decimal128:
      if (missing) { *(i128*)out = null<i128>(); return true; }
      return take_decimal(v, c.scale, *(i128*)out);
    case Double:
      if (missing) { *(f64*)out = null<f64>(); return true; }
      return take_double(v, *(f64*)out);
    case Date:
      if (missing) { *(i32*)out = null<i32>(); return true; }
      return take_date(v, *(i32*)out);
    case Timestamp:
      if (missing) { *(i64*)out = null<i64>(); return true; }
      return take_time(v, *(i64*)out);
    case Bool:
      if (missing) { *(i8*)out = null<i8>(); return true; }
      if (v->type != &PyBool_Type) return false;
      *(i8*)out = v == &_Py_TrueStruct;
      return true;
    case Text:
      if (missing) { *(Str*)out = null<Str>(); return true; }
      return take_text(v, *(Str*)out);
  }
  return false;
}

inline PyObject* give_decimal(i128 x, int scale) {
  char text[300];
  Own written(PyUnicode_FromStringAndSize(text, edge::write_decimal(x, scale, text) - text));
  if (!written) return nullptr;
  return PyObject_CallFunctionObjArgs((PyObject*)types.decimal, written.object, nullptr);
}

inline PyObject* give_date(i64 days) {
  Civil c = civil(days);
  return PyObject_CallFunction((PyObject*)types.date, "iii", int(c.year), c.month, c.day);
}

inline PyObject* give_time(i64 moment) {
  Civil c = civil(day_of(moment));
  i64 rest = time_of(moment);
  int second = int(rest / 1000000), micro = int(rest % 1000000);
  return PyObject_CallFunction((PyObject*)types.datetime, "iiiiiii", int(c.year), c.month, c.day,
                               second / 3600, second / 60 % 60, second % 60, micro);
}

}  // namespace py
}  // namespace fr
