// What Python can call in a kernel; `codegen/library/load.py` is the other side. It knows a kernel only by
// its table (`kernel.hpp`), so that it is compiled once and linked to every kernel.
#include "changes.hpp"
#include "results.hpp"
#include "touched.hpp"

namespace fr {

extern const char program[];  // see boundary.hpp

void Output::grow() { edge::grow_arrays(*this); }

void note_rows(Env& e, int query, const void* const* key) {
  const Query& q = kernel.query[query];
  Touched& t = e.touched[query];
  if (const u8* added = t.add(key)) edge::look_up(e, q, t, added, t.before, false);
}

bool call_host(Env& e, const char* fn, const Column& result, const Arg* args, int count, void* out) {
  const int state = py::PyGILState_Ensure();
  bool full = false;
  const bool good = edge::host_answer(e, fn, result, args, count, out, full);
  if (!good) py::PyErr_Clear();
  py::PyGILState_Release(state);
  if (good) return true;
  if (full) out_of_memory("freshview: not enough memory for a text.\n");
  e.overflow = true;
  if (!e.fault.fn) e.fault.fn = fn;
  return false;
}

Arena& column_arena(Env& e) {
  if (!e.columns.is_open() && !Arena::open(e.columns)) out_of_memory("freshview: not enough memory for a column.\n");
  return e.columns;
}

void call_host_rows(Env& e, const char* fn, const Column& result, const Arg* args, int count, i64 rows,
                    void* out, u64 size, bool* known) {
  bool full = false;
  memset(known, 0, size_t(rows));
  if (rows == 0) return;
  const int state = py::PyGILState_Ensure();
  edge::host_answers(e, fn, result, args, count, rows, static_cast<u8*>(out), size, known, full);
  py::PyErr_Clear();
  py::PyGILState_Release(state);
  if (full) out_of_memory("freshview: not enough memory for a column.\n");
}

namespace edge {

void drop_state(Instance& x) {
  if (!x.open) return;
  x.open = false;
  collect_nothing(x.env);
  x.env.arena.close();
  x.env.scratch.close();
  x.env.spare.close();
  x.env.columns.close();
}

void free_instance(Instance* x) {
  drop_state(*x);
  free(x->env.touched);
  pthread_mutex_destroy(&x->mutex);
  free(x->same[0]);
  free(x->same[1]);
  for (int i = 0; i < x->env.kernel->relations; i++) {
    if (x->known[i].schema) Py_DecRef(x->known[i].schema);
    free(x->known[i].where);
  }
  free(x->known);
  Py_DecRef(x->raise);
  Py_DecRef(static_cast<PyObject*>(x->env.host));
  x->~Instance();
  free(x);
}

void drop_instance(PyObject* capsule) { free_instance(instance_in(capsule)); }

// The kernel of a library for a relation whose columns come as tuples of name, kind, scale, whether
// there are NULLs, whether it is of the key, and its size; null with an error.
const Kernel* kernel_of(PyObject* descriptions) {
  Own columns(PySequence_Tuple(descriptions));
  if (!columns || !kernel.of_columns) return columns ? PyErr_NoMemory() : nullptr, nullptr;
  Rooms own;
  const int width = int(PyTuple_Size(columns));
  Column* out = own.room->array<Column>(width + 1);
  bool* key = own.room->array<bool>(width + 1);
  for (int i = 0; i < width; i++) {
    PyObject* one = PyTuple_GetItem(columns, i);
    i64 kind, scale, nullable, in_key, size;
    const char* name = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(one, 0), nullptr);
    if (!name || !number(PyTuple_GetItem(one, 1), 0, Text + 1, kind) ||
        !number(PyTuple_GetItem(one, 2), 0, 256, scale) ||
        !number(PyTuple_GetItem(one, 3), 0, 2, nullable) ||
        !number(PyTuple_GetItem(one, 4), 0, 2, in_key) ||
        !number(PyTuple_GetItem(one, 5), 0, INT32_MAX, size))
      return nullptr;
    out[i] = Column{name, Kind(kind), u8(scale), bool(nullable), true, false, u32(size)};
    key[i] = in_key;
  }
  const Kernel* of_relation = kernel.of_columns(width, out, key);
  return of_relation ? of_relation : (PyErr_NoMemory(), nullptr);
}

// open(raise, fd, columns or None, functions): a running kernel with empty maps, or, with a file, with
// what that holds; for a relation of these columns, where the library is for any. The functions are
// those that have no C++, by name.
PyObject* open(PyObject*, PyObject* const* args, intptr_t n) {
  i64 fd;
  if (!arity(n, 4) || !number(args[1], -1, INT32_MAX, fd)) return nullptr;
  const Kernel* own = args[2] == &_Py_NoneStruct ? &kernel : kernel_of(args[2]);
  if (!own) return nullptr;
  void* place = malloc(sizeof(Instance));
  if (!place) return PyErr_NoMemory();
  Instance* x = new (Here(), place) Instance();
  x->env.kernel = own;
  x->known = static_cast<Known*>(calloc(size_t(own->relations) + 1, sizeof(Known)));
  if (!x->known) return free(x), PyErr_NoMemory();
  int file = fd < 0 ? -1 : dup(int(fd));
  bool room = Arena::open(x->env.arena, file);
  if (room && !Arena::open(x->env.scratch)) x->env.arena.close(), room = false;
  if (!room) return free(x->known), free(x), PyErr_NoMemory();
  bool fresh = x->env.arena.used() == Arena::start;
  if (fresh && !attempt([&] { make_state(x->env); })) {
    x->env.arena.close(), x->env.scratch.close();
    return free(x->known), free(x), PyErr_NoMemory();
  }
  if (!fresh) x->env.state = x->env.arena.at<State>(Arena::start);
  pthread_mutex_init(&x->mutex, nullptr);
  x->ready = x->env.arena.mark();
  x->open = true;
  Py_IncRef(args[0]);
  x->raise = args[0];
  Py_IncRef(args[3]);
  x->env.host = args[3];
  PyObject* out = PyCapsule_New(x, INSTANCE, drop_instance);
  if (!out) free_instance(x);
  return out;
}

// close(instance): gives the memory back; a thread that is at work in it ends first. The file of a
// shared state may be cut by now: to read it would be a bus error.
PyObject* close(PyObject*, PyObject* const* args, intptr_t n) {
  Instance* x = arity(n, 1) ? instance_in(args[0]) : nullptr;
  if (!x) return nullptr;
  Locked lock(*x, false);
  drop_state(*x);
  return none();
}

// ready(instance): the static tables are complete.
PyObject* ready(PyObject*, PyObject* const* args, intptr_t n) {
  Instance* x = arity(n, 1) ? instance_in(args[0]) : nullptr;
  if (!x) return nullptr;
  Done done;
  Fault fault;
  {
    Locked lock(*x);
    Unlocked others;
    done = make_ready(*x, fault);
  }
  return finish(*x, 0, done, fault);
}

// save(instance, fd, head, head): 0, or the number of the system's error. The first head is written
// where the static tables are not complete, the second where they are.
PyObject* save(PyObject*, PyObject* const* args, intptr_t n) {
  i64 fd;
  char* head[2];
  intptr_t size[2];
  Instance* x = arity(n, 4) ? instance_in(args[0]) : nullptr;
  if (!x || !number(args[1], 0, INT32_MAX, fd)) return nullptr;
  for (int i = 0; i < 2; i++)
    if (PyBytes_AsStringAndSize(args[2 + i], &head[i], &size[i])) return nullptr;
  int code = 0;
  bool open;
  {
    Locked lock(*x);
    Unlocked others;
    errno = 0;
    open = x->open;
    intptr_t bytes = size[x->ready];
    bool written = open && ::write(int(fd), head[x->ready], size_t(bytes)) == bytes;
    if (!written || !x->env.arena.save(int(fd))) code = errno ? errno : ENOSPC;
  }
  return open ? Py_BuildValue("i", code) : finish(*x, 0, Done::Closed);
}

// restore(instance, fd, ready): whether the file holds a whole state; if not, nothing changes, but
// that a state in a file is empty then.
PyObject* restore(PyObject*, PyObject* const* args, intptr_t n) {
  i64 fd, is_ready;
  Instance* x = arity(n, 3) ? instance_in(args[0]) : nullptr;
  if (!x || !number(args[1], 0, INT32_MAX, fd) || !number(args[2], 0, 2, is_ready)) return nullptr;
  bool good, open;
  {
    Locked lock(*x);
    Unlocked others;
    Arena arena;
    char more;
    open = x->open;
    bool shared = open && x->env.arena.is_shared();
    if (shared) arena = x->env.arena;
    good = open && (shared || Arena::open(arena)) && arena.load(int(fd)) && ::read(int(fd), &more, 1) == 0 &&
           arena.used() >= Arena::start + x->env.kernel->state_size;
    if (good) {
      Arena old = x->env.arena;
      x->env.arena = arena;
      arena = old;
      x->env.state = x->env.arena.at<State>(Arena::start);
      x->ready = x->env.arena.mark() = is_ready;
      x->lost = false;
      collect_nothing(x->env);
    } else if (shared) {
      x->env.arena = arena;
      make_state(x->env);
    }
    if (!shared) arena.close();
  }
  return open ? Py_BuildValue("i", int(good)) : finish(*x, 0, Done::Closed);
}

// stats(instance): bytes of the state, rows looked at, rows written, then the sizes of the maps.
PyObject* stats(PyObject*, PyObject* const* args, intptr_t n) {
  Instance* x = arity(n, 1) ? instance_in(args[0]) : nullptr;
  if (!x) return nullptr;
  Rooms own;
  u64* size = own.room->array<u64>(x->env.kernel->maps + 1);
  u64 bytes, visits, writes;
  const int maps = x->env.kernel->maps;
  bool open;
  {
    Locked lock(*x);
    open = x->open;
    bytes = open ? x->env.arena.used() : 0, visits = x->env.visits, writes = x->env.writes;
    for (int i = 0; open && i < maps; i++) size[i] = x->env.kernel->map[i].size(x->env);
  }
  if (!open) return finish(*x, 0, Done::Closed);
  Own sizes(PyTuple_New(maps));
  for (int i = 0; sizes && i < maps; i++)
    PyTuple_SetItem(sizes, i, PyLong_FromUnsignedLongLong(size[i]));
  if (!sizes) return nullptr;
  return Py_BuildValue("(KKKO)", (unsigned long long)bytes, (unsigned long long)visits,
                       (unsigned long long)writes, sizes.object);
}

// wrapping(instance, on): from now on, numbers may leave their range on the way to where they are in
// it again, as the caller knows; or every change that takes one out of it is refused. Gives whether
// any has left it since the last call.
PyObject* wrapping(PyObject*, PyObject* const* args, intptr_t n) {
  i64 on;
  Instance* x = arity(n, 2) ? instance_in(args[0]) : nullptr;
  if (!x || !number(args[1], 0, 2, on)) return nullptr;
  Locked lock(*x);
  x->wraps = on;
  const bool wrapped = x->wrapped;
  x->wrapped = false;
  return Py_BuildValue("i", int(wrapped));
}

// watch(instance): how many rows were deleted, and of every continuous variable of cofactors the
// centre and the ends of its values.
PyObject* watch(PyObject*, PyObject* const* args, intptr_t n) {
  Instance* x = arity(n, 1) ? instance_in(args[0]) : nullptr;
  if (!x) return nullptr;
  Own out(PyTuple_New(kernel.slots));
  if (!out) return nullptr;
  Locked lock(*x);
  if (!x->open) return finish(*x, 0, Done::Closed);
  const Watch all = kernel.watch(*x->env.state);
  for (int i = 0; i < kernel.slots; i++)
    PyTuple_SetItem(out, i, Py_BuildValue("(ddd)", all.centre[i], all.low[i], all.high[i]));
  const f64* gone = kernel.gone(*x->env.state);  // none where nothing is lifted
  return Py_BuildValue("(dO)", gone ? *gone : 0.0, out.object);
}

// put_centre(instance, variable, centre): what is taken from its values; before there are any.
PyObject* put_centre(PyObject*, PyObject* const* args, intptr_t n) {
  i64 at;
  Instance* x = arity(n, 3) ? instance_in(args[0]) : nullptr;
  if (!x || !number(args[1], 0, kernel.slots, at)) return nullptr;
  f64 centre = PyFloat_AsDouble(args[2]);
  if (PyErr_Occurred()) return nullptr;
  Locked lock(*x);
  if (!x->open) return finish(*x, 0, Done::Closed);
  kernel.watch(*x->env.state).centre[at] = centre;
  return none();
}

PyObject* columns_of(int width, const Column* columns) {
  PyObject* out = PyTuple_New(width);
  for (int i = 0; out && i < width; i++) {
    const Column& c = columns[i];
    PyTuple_SetItem(out, i, Py_BuildValue("(siiii)", c.name, int(c.kind), int(c.scale),
                                          int(c.nullable), int(c.used)));
  }
  return out;
}

// describe(): the hash of the program, then relations, queries and maps with their columns, and the
// names of the continuous variables of cofactors.
PyObject* describe(PyObject*, PyObject* const*, intptr_t) {
  Own relations(PyTuple_New(kernel.relations)), queries(PyTuple_New(kernel.queries));
  Own maps(PyTuple_New(kernel.maps));
  if (!relations || !queries || !maps) return nullptr;
  for (int i = 0; i < kernel.relations; i++) {
    const Relation& r = kernel.relation[i];
    PyObject* columns = columns_of(r.width, r.columns);
    PyTuple_SetItem(relations, i, Py_BuildValue("(sNi)", r.name, columns, int(r.is_static)));
  }
  for (int i = 0; i < kernel.queries; i++) {
    const Query& q = kernel.query[i];
    Own key(PyList_New(0));
    for (int c = 0; q.key && key && c < q.width; c++) {
      Own column(q.key[c] ? PyLong_FromLongLong(c) : nullptr);
      if (column) PyList_Append(key, column);
    }
    PyObject* columns = columns_of(q.width, q.columns);
    PyTuple_SetItem(queries, i, Py_BuildValue("(sNOi)", q.name, columns, key.object,
                                              int(q.collected)));
  }
  for (int i = 0; i < kernel.maps; i++) {
    const Map& m = kernel.map[i];
    PyTuple_SetItem(maps, i, Py_BuildValue("(sN)", m.name, columns_of(m.width, m.columns)));
  }
  Own slots(PyTuple_New(kernel.slots));
  if (!slots) return nullptr;
  for (int i = 0; i < kernel.slots; i++)
    PyTuple_SetItem(slots, i, Py_BuildValue("s", kernel.slot[i]));
  return Py_BuildValue("(sOOOO)", program, relations.object, queries.object, maps.object,
                       slots.object);
}

// A call that takes memory before it touches the state, or after: without any it is refused, and
// what it had taken is given back.
template <PyObject* (*call)(PyObject*, PyObject* const*, intptr_t)>
PyObject* guarded(PyObject* self, PyObject* const* args, intptr_t n) {
  PyObject* out = nullptr;
  Room* const outer = rooms;
  if (attempt([&] { out = call(self, args, n); })) return out;
  while (rooms != outer) {
    Room* room = rooms;
    rooms = room->outer;
    room->let_go();
  }
  Instance* x = instance_in(args[0]);
  return x ? raise_kernel_error(*x, 0, "full", 0, 0, nullptr) : nullptr;
}

PyMethodDef methods[] = {
    {"describe", describe, FastCall, nullptr},
    {"open", open, FastCall, nullptr},
    {"close", close, FastCall, nullptr},
    {"entry", entry, FastCall, nullptr},
    {"divert", divert, FastCall, nullptr},
    {"apply_rows", guarded<apply_rows>, FastCall, nullptr},
    {"apply_array", guarded<apply_array>, FastCall, nullptr},
    {"apply_exported", guarded<apply_exported>, FastCall, nullptr},
    {"apply_stream", guarded<apply_stream>, FastCall, nullptr},
    {"read_rows", guarded<read_rows>, FastCall, nullptr},
    {"find_rows", guarded<find_rows>, FastCall, nullptr},
    {"read_frame", guarded<read_frame>, FastCall, nullptr},
    {"collect", guarded<collect>, FastCall, nullptr},
    {"changed_rows", guarded<changed_rows>, FastCall, nullptr},
    {"changed_frame", guarded<changed_frame>, FastCall, nullptr},
    {"export_frame", export_frame, FastCall, nullptr},
    {"ready", ready, FastCall, nullptr},
    {"wrapping", wrapping, FastCall, nullptr},
    {"save", save, FastCall, nullptr},
    {"restore", restore, FastCall, nullptr},
    {"stats", stats, FastCall, nullptr},
    {"watch", watch, FastCall, nullptr},
    {"put_centre", put_centre, FastCall, nullptr},
};

}  // namespace edge
}  // namespace fr

// The only name that the library shows: a tuple of all its functions. Their definitions lie in the
// library, which is never unloaded, so the functions stay good as long as the process.
extern "C" __attribute__((visibility("default"))) fr::py::PyObject* freshview_functions() {
  using namespace fr::py;
  if (!learn()) return nullptr;
  const int size = sizeof(fr::edge::methods) / sizeof(PyMethodDef);
  PyObject* out = PyTuple_New(size);
  for (int i = 0; out && i < size; i++)
    PyTuple_SetItem(out, i, PyCFunction_NewEx(&fr::edge::methods[i], nullptr, nullptr));
  return out;
}
