// A running kernel: its lock, its changes as all or nothing, its errors for Python.
//
// Whoever waits for the lock gives up Python's global lock first, so the one that has it can always
// go on; no Python code runs while it is held.
#pragma once

#include <pthread.h>

#include "arrow_in.hpp"
#include "python.hpp"

namespace fr {
namespace edge {

using namespace py;

const i64 SMALL = 64;  // batches of up to so many rows are done sooner than the global lock changes
const char* const INSTANCE = "freshview.instance";

struct Known {  // the schema that tables of a relation had last, and where its columns stand in it
  PyObject* schema;
  int* where;
};

struct Instance {
  Env env;
  pthread_mutex_t mutex;
  bool open, ready;
  bool wraps;          // a number may leave its range on the way: all of them are in it at the end
  bool wrapped;        // one has, since it may
  bool lost;           // memory ended in the middle of a change: there is no state any more
  u64 diverted;        // relations, as bits, whose single rows go to Python, which wants to know
  u64 singles;         // single rows taken since somebody asked
  PyObject* raise;     // raises the error that a problem deserves; belongs to the library
  i64* same[2];        // 1s and -1s, for batches without counts
  i64 same_size[2];
  Known* known;        // one for each relation
};

struct Here {};  // placement without the C++ library

}  // namespace edge
}  // namespace fr

inline void* operator new(size_t, fr::edge::Here, void* at) { return at; }

namespace fr {

inline void Fault::free_texts() {
  for (Arg& a : args) free(const_cast<char*>(a.text.at)), a.text = Str{nullptr, 0};
}

namespace edge {

struct Unlocked {  // Python's global lock, given up for a while
  PyThreadState* state;
  explicit Unlocked(bool wanted = true) : state(wanted ? PyEval_SaveThread() : nullptr) {}
  ~Unlocked() { if (state) PyEval_RestoreThread(state); }
};

struct Locked {  // the kernel's lock; who only lets go of a state does not look into it
  Instance& x;
  explicit Locked(Instance& instance, bool look = true) : x(instance) {
    if (__builtin_expect(pthread_mutex_trylock(&x.mutex) != 0, 0)) {
      Unlocked others;
      pthread_mutex_lock(&x.mutex);
    }
    if (__builtin_expect(look && x.env.arena.is_shared(), 0)) {
      x.env.arena.refresh();
      x.ready = x.env.arena.mark();
    }
  }
  ~Locked() { pthread_mutex_unlock(&x.mutex); }
};

inline thread_local Room* rooms = nullptr;  // the last one that was opened for a call

struct Rooms {  // a room for the length of a call
  Room* room;
  Rooms() : room(Room::open()) {
    room->outer = rooms;
    rooms = room;
  }
  ~Rooms() {
    rooms = room->outer;
    room->let_go();
  }
};

inline void empty_scratch(Env& env) {
  if (env.scratch.used() != Arena::start) env.scratch.reset();
}

inline void make_state(Env& env) {
  env.state = env.arena.at<State>(env.arena.take(env.kernel->state_size));
  env.overflow = false;
  env.kernel->create(env);
}

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

// As many counts of 1 or -1 as wanted; the caller has the lock.
inline const i64* same_counts(Instance& x, i64 size, i64 sign) {
  const int s = sign < 0;
  if (__builtin_expect(size > x.same_size[s], 0)) {
    const i64 room = size < 1024 ? 1024 : size;
    free(x.same[s]);
    x.same_size[s] = 0;
    x.same[s] = static_cast<i64*>(malloc(size_t(room) * sizeof(i64)));
    if (!x.same[s]) out_of_memory("freshview: there is no memory left for a batch.\n");
    for (i64 i = 0; i < room; i++) x.same[s][i] = s ? -1 : 1;
    x.same_size[s] = room;
  }
  return x.same[s];
}

// A batch without rows is one, too: statements may read other things beside it.
inline void apply_part(Instance& x, const Relation& r, const Part& part, i64 sign) {
  Batch batch{part.size, part.count ? part.count : same_counts(x, part.size, sign), part.column};
  r.apply(x.env, batch);
  empty_scratch(x.env);
}

// A part that left the range of some number, applied the other way round: wrapped integers are a
// ring, so it is gone without a trace.
inline void take_back(Instance& x, const Relation& r, Part part, i64 sign) {
  Rooms own;
  if (part.count) {
    i64* negated = own.room->array<i64>(part.size);
    for (i64 i = 0; i < part.size; i++) negated[i] = -part.count[i];
    part.count = negated;
  }
  apply_part(x, r, part, -sign);
}

enum class Done { Well, Closed, Late, Static, Overflow, Many, Full, Lost, Refused };

// Memory has ended in the middle of a change, which cannot be taken back then.
inline Done lose(Instance& x) {
  x.lost = true;
  x.ready = x.env.overflow = x.env.many = false;
  x.env.scratch.reset();
  x.env.arena.reset();
  attempt([&] { make_state(x.env); });  // an empty one: what asks for its size finds something
  return Done::Lost;
}

// What went wrong in a batch, taken from the kernel before anybody else runs it.
inline Fault take_fault(Env& env) {
  Fault out = env.fault;
  env.fault = Fault();
  env.overflow = false;
  return out;
}

// The static tables are complete. Where they take a number out of its range, which cannot be taken
// back, nothing is left of them.
inline Done make_ready(Instance& x, Fault& fault) {
  if (!x.open) return Done::Closed;
  if (x.lost) return Done::Lost;
  if (x.ready) return Done::Well;
  if (!attempt([&] { x.env.kernel->ready(x.env); })) return lose(x);
  empty_scratch(x.env);
  if (x.wraps) {
    x.wrapped |= x.env.overflow;
    x.env.overflow = false;
  }
  x.ready = !x.env.overflow;
  x.env.arena.mark() = x.ready;
  if (x.ready) return Done::Well;
  fault = take_fault(x.env);
  x.env.arena.reset();
  make_state(x.env);
  return Done::Static;
}

const u64 PER_ROW = 512;      // bytes of state that a row may take, with what tables grow by
const i64 PIECE = 1024;       // rows that are applied at once where there is little memory
const u64 SPARE = 1024 * 1024;

// The rows of a part from one on, as many as are applied at once.
inline void choose_piece(const Relation& r, const Part& part, i64 from, Part& piece) {
  piece.size = part.size - from < PIECE ? part.size - from : PIECE;
  piece.count = part.count ? part.count + from : nullptr;
  for (int i = 0; i < r.width; i++) {
    const char* column = static_cast<const char*>(part.column[i]);
    piece.column[i] = column ? column + size_t(from) * size_in(r.columns[i].kind) : nullptr;
  }
}

// Whether there is room for the change of a part: for its rows and their texts, and for what tables
// may grow by, which follows their size. With `only_new`, rows that go need
// next to nothing: a state that is full can be made smaller.
inline bool has_room(Instance& x, const Relation& r, const Part& part, i64 sign, bool only_new) {
  auto comes = [&](i64 i) { return !only_new || (part.count ? part.count[i] : sign) > 0; };
  u64 wanted = 0;
  if (!only_new) wanted = u64(part.size) * PER_ROW;
  else for (i64 i = 0; i < part.size; i++) wanted += comes(i) ? PER_ROW : 0;
  for (int c = 0; c < r.width; c++) {
    if (r.columns[c].kind != Text || !part.column[c]) continue;
    const Str* texts = static_cast<const Str*>(part.column[c]);
    for (i64 i = 0; i < part.size; i++) wanted += comes(i) ? 2 * u64(texts[i].size) : 0;
  }
  wanted += only_new && !wanted ? SPARE / 16 : SPARE + x.env.arena.used() / 16;
  return x.env.arena.prepare(wanted) && x.env.scratch.prepare(wanted);
}

// The ones of a batch without counts, before anything is changed; false without memory for them.
inline bool has_counts(Instance& x, const Part& part, i64 sign) {
  if (part.count || part.size <= x.same_size[sign < 0]) return true;
  return attempt([&] { same_counts(x, part.size, sign); });
}

// Applies a part in pieces, as long as there is room for them, and takes them back if there is
// none for all.
__attribute__((noinline, cold)) inline Done apply_pieces(Instance& x, const Relation& r,
                                                         const Part& part, i64 sign) {
  Rooms own;
  Part piece{0, own.room->array<const void*>(r.width + 1), nullptr, nullptr, nullptr};
  same_counts(x, PIECE, sign);
  i64 done = 0;
  for (; done < part.size; done += PIECE) {
    choose_piece(r, part, done, piece);
    if (!has_room(x, r, piece, sign, true)) break;
    apply_part(x, r, piece, sign);
    if (x.env.refused || x.env.full) break;
  }
  if (done >= part.size) return Done::Well;
  const Done why = x.env.refused ? Done::Refused : Done::Full;
  x.env.refused = x.env.full = false;
  while ((done -= PIECE) >= 0) {
    choose_piece(r, part, done, piece);
    take_back(x, r, piece, sign);
  }
  return why;
}

// Applies a batch as one change: all of it or, where a number leaves its range or memory ends,
// nothing. Static tables come before everything else; the first change of a stream says that they
// are complete.
inline Done run(Instance& x, const Relation& r, Part* first, i64 sign, Fault& fault) {
  if (__builtin_expect(!x.ready || !x.open || r.is_static, 0)) {
    if (x.lost && x.open) return Done::Lost;
    if (r.is_static && x.open && x.ready) return Done::Late;
    Done done = r.is_static && x.open ? Done::Well : make_ready(x, fault);
    if (done != Done::Well) return done;
  }
  for (Part* part = first; part; part = part->next) {
    Done done = Done::Well;
    const bool whole = attempt([&] {
      if (__builtin_expect(has_room(x, r, *part, sign, false) && has_counts(x, *part, sign), 1))
        apply_part(x, r, *part, sign);
      else
        done = apply_pieces(x, r, *part, sign);
    });
    if (__builtin_expect(!whole, 0)) return lose(x);
    if (__builtin_expect(x.env.refused || x.env.full, 0)) {
      done = x.env.full ? Done::Full : Done::Refused;
      x.env.refused = x.env.full = false;
    }
    if (__builtin_expect(done == Done::Well && !x.env.overflow && !x.env.many, 1)) continue;
    if (done == Done::Well && x.wraps && !x.env.many && !x.env.fault.fn) {
      x.env.overflow = false;
      x.wrapped = true;
      continue;
    }
    if (done == Done::Well) done = x.env.many ? Done::Many : Done::Overflow;
    else part = part->previous;  // it is taken back already
    const bool back = attempt([&] {
      for (; part; part = part->previous) take_back(x, r, *part, sign);
    });
    if (!back) return lose(x);
    x.env.many = false;
    fault = take_fault(x.env);
    return done;
  }
  return Done::Well;
}

inline PyObject* object_of(const Arg& a) {
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

// Lets Python raise what a function without an answer deserves: its name, then its arguments.
inline PyObject* raise_kernel_error(Instance& x, int number, const char* what, Fault& fault) {
  int count = 0;
  while (count < 3 && fault.args[count].given) count++;
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
inline bool number(PyObject* given, i64 low, i64 high, i64& out) {
  out = PyLong_AsLongLong(given);
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
