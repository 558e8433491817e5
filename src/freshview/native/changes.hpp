// Changes on their way in: one row a call, rows in a list, Arrow tables and streams of them.
#pragma once

#include "arrow_in.hpp"
#include "instance.hpp"

namespace fr {
namespace edge {

const char* const ENTRY = "freshview.entry";

// One row, one call: the entry that a relation and a sign have.
struct Entry {
  Instance* x;
  PyObject* owner;
  PyObject* instead;  // called with the values while the instance is diverted; may be null
  PyObject* chain;    // a list, where the row goes on to other kernels; may be null
  int relation;
  i64 sign;
};

inline PyObject* tuple_of(PyObject* const* args, intptr_t n) {
  PyObject* out = PyTuple_New(n);
  for (intptr_t i = 0; out && i < n; i++) {
    Py_IncRef(args[i]);
    PyTuple_SetItem(out, i, args[i]);
  }
  return out;
}

// The row at the first kernel of a chain; the lists of chains begin with the lock and what undoes.
enum : intptr_t { Acquire, Release, Undo, Then };

inline PyObject* go_elsewhere(const Entry& entry, PyObject* row) {
  return row ? PyObject_CallObject(entry.instead, row) : nullptr;
}

// A row on its way through several kernels, under the lock of their owner: all of them take it, or
// what was done is undone, and the row goes elsewhere, where somebody finds out what is wrong.
inline PyObject* chained_row(const Entry& entry, Part& part, PyObject* const* args, intptr_t n) {
  PyObject* const chain = entry.chain;
  Own row(tuple_of(args, n));
  if (!row || PyList_Size(chain) < Then) return go_elsewhere(entry, row);
  Instance& x = *entry.x;
  Own release(PyList_GetItem(chain, Release));
  Py_IncRef(release);
  Own lock(PyObject_CallObject(PyList_GetItem(chain, Acquire), nullptr));
  if (!lock) return nullptr;
  const intptr_t length = PyList_Size(chain);  // whoever had the lock may have changed the chain
  bool well = length >= Then;
  if (well) {
    Locked own(x);
    Fault fault;
    well = !(x.diverted >> entry.relation & 1) &&
           run(x, x.env.kernel->relation[entry.relation], &part, entry.sign, fault) == Done::Well;
    x.singles[entry.relation] += well;
    fault.free_texts();
  }
  intptr_t next = Then;
  while (well && next < length) {
    Own done(PyObject_CallObject(PyList_GetItem(chain, next), row));
    if (done) next++;
    else break;
  }
  const bool whole = well && next == length;
  if (well && !whole) {
    PyErr_Clear();
    x.singles[entry.relation]--;
    Own count(PyLong_FromLongLong(next - Then));
    Own undone(PyObject_CallFunctionObjArgs(PyList_GetItem(chain, Undo), count.object, row.object,
                                            nullptr));
    if (!undone) PyErr_Clear();
  }
  Own released(PyObject_CallObject(release, nullptr));
  if (!released) return nullptr;
  return whole ? none() : go_elsewhere(entry, row);
}

inline PyObject* one_row(PyObject* self, PyObject* const* args, intptr_t n);

// A row with values of other types, as Python converts them; it refuses those that cannot be.
inline PyObject* converted_row(PyObject* self, const Entry& entry, int at, PyObject* const* args, intptr_t n) {
  Own row(raise_kernel_error(*entry.x, entry.relation, "row", 0, at, tuple_of(args, n)));
  if (!row) return nullptr;
  if (entry.instead) return PyObject_CallObject(entry.instead, row);
  PyObject** values = static_cast<PyObject**>(__builtin_alloca(size_t(n + 1) * sizeof(PyObject*)));
  for (intptr_t i = 0; i < n; i++) values[i] = PyTuple_GetItem(row, i);
  return one_row(self, values, n);
}

inline PyObject* one_row(PyObject* self, PyObject* const* args, intptr_t n) {
  Entry* entry = static_cast<Entry*>(PyCapsule_GetPointer(self, ENTRY));
  if (!entry) return nullptr;
  Instance& x = *entry->x;
  const Relation& r = x.env.kernel->relation[entry->relation];
  if (n != r.width) return raise_kernel_error(x, entry->relation, "row", 0, 0, tuple_of(args, n));
  struct alignas(16) Cell { u8 bytes[16]; };
  Cell* cells = static_cast<Cell*>(__builtin_alloca(size_t(n + 1) * sizeof(Cell)));
  const void** column = static_cast<const void**>(__builtin_alloca(size_t(n + 1) * sizeof(void*)));
  for (intptr_t i = 0; i < n; i++) {
    column[i] = nullptr;
    if (!r.columns[i].used) continue;
    column[i] = &cells[i];
    if (__builtin_expect(!take(args[i], r.columns[i], &cells[i]), 0))
      return converted_row(self, *entry, int(i), args, n);
  }
  Part part{1, column, &entry->sign, nullptr, nullptr};
  if (entry->chain) return chained_row(*entry, part, args, n);
  Done done = Done::Well;
  Fault fault;
  bool elsewhere;
  {
    Locked lock(x);
    elsewhere = entry->instead && (x.diverted >> entry->relation & 1);
    if (__builtin_expect(!elsewhere, 1)) {
      done = run(x, r, &part, entry->sign, fault);
      if (entry->instead && done == Done::Well) x.singles[entry->relation]++;
    }
  }
  if (__builtin_expect(!elsewhere, 1)) return finish(x, entry->relation, done, fault);
  Own row(tuple_of(args, n));
  return row ? PyObject_CallObject(entry->instead, row) : nullptr;
}

inline PyMethodDef row_method = {"row", one_row, FastCall, "One row more, or one less."};

inline void drop_entry(PyObject* capsule) {
  Entry* entry = static_cast<Entry*>(PyCapsule_GetPointer(capsule, ENTRY));
  Py_DecRef(entry->owner);
  if (entry->instead) Py_DecRef(entry->instead);
  if (entry->chain) Py_DecRef(entry->chain);
  free(entry);
}

// entry(instance, relation, sign, instead or None, chain or None): a function that takes the values
// of one row.
inline PyObject* entry(PyObject*, PyObject* const* args, intptr_t n) {
  i64 relation, sign;
  Instance* x = arity(n, 5) ? instance_in(args[0]) : nullptr;
  if (!x || !number(args[1], 0, x->env.kernel->relations, relation) || !number(args[2], -1, 2, sign))
    return nullptr;
  Entry* row_entry = static_cast<Entry*>(malloc(sizeof(Entry)));
  if (!row_entry) return PyErr_NoMemory();
  PyObject* instead = args[3] == &_Py_NoneStruct ? nullptr : args[3];
  PyObject* chain = args[4] == &_Py_NoneStruct ? nullptr : args[4];
  *row_entry = Entry{x, args[0], instead, chain, int(relation), sign};
  Own capsule(PyCapsule_New(row_entry, ENTRY, drop_entry));
  if (!capsule) return free(row_entry), nullptr;
  Py_IncRef(args[0]);
  if (instead) Py_IncRef(instead);
  if (chain) Py_IncRef(chain);
  return PyCFunction_NewEx(&row_method, capsule, nullptr);
}

// divert(instance, relation, on): how many single rows of the relation were taken since the last
// call; from now on they go elsewhere, or come here again: so for the first 64 relations only.
inline PyObject* divert(PyObject*, PyObject* const* args, intptr_t n) {
  i64 relation, on;
  Instance* x = arity(n, 3) ? instance_in(args[0]) : nullptr;
  if (!x || !number(args[1], 0, x->env.kernel->relations < 64 ? x->env.kernel->relations : 64, relation) ||
      !number(args[2], 0, 2, on))
    return nullptr;
  u64 singles;
  {
    Locked lock(*x);
    singles = x->singles[relation];
    x->singles[relation] = 0;
    u64 bit = u64(1) << relation;
    x->diverted = on ? x->diverted | bit : x->diverted & ~bit;
  }
  return PyLong_FromUnsignedLongLong(singles);
}

// How often each row of a batch counts: null for once each, as the batch's sign says.
struct Counts {
  i64* at = nullptr;
  bool zeros = false;  // whether some rows count 0 times
};

// Counts that lie in memory, and the hold on them that keeps them there.
struct Lying {
  Py_buffer view;
  const i64* at = nullptr;  // null where there are none, or not as 64 bits each, one for every row
  bool held = false;

  Lying(PyObject* values, i64 rows) {
    if (values == &_Py_NoneStruct || values->type == &PyList_Type) return;
    held = !PyObject_GetBuffer(values, &view, WithFormat | 0x8);
    if (!held) PyErr_Clear();
    else if (view.ndim == 1 && view.itemsize == 8 && view.format && view.len == rows * 8 &&
        (!strcmp(view.format, "l") || !strcmp(view.format, "q")))
      at = static_cast<const i64*>(view.buf);
  }
  Lying(const Lying&) = delete;
  ~Lying() { if (held) PyBuffer_Release(&view); }

  // Copies them, since whoever has them may change them later; false where one is not a count.
  bool copy(i64 rows, i64 sign, Counts& out) const {
    return copy_counts(out.at, at, rows, sign, out.zeros);
  }
  // The first row whose count is none.
  i64 bad(i64 rows) const {
    i64 i = 0;
    while (i + 1 < rows && at[i] != INT64_MIN) i++;
    return i;
  }
};

inline PyObject* bad_count(Instance& x, int relation, i64 row) {
  return raise_kernel_error(x, relation, "count", row, 0, PyLong_FromLongLong(INT64_MIN));
}

inline bool counts_in(Instance& x, int relation, Room& room, PyObject* values, i64 rows, i64 sign,
                      Counts& out) {
  if (values == &_Py_NoneStruct) return true;
  out.at = room.array<i64>(rows);
  Own other(nullptr);
  for (bool odd = false;; odd = true) {
    const Lying lying(values, rows);
    if (lying.at) return lying.copy(rows, sign, out) || (bad_count(x, relation, lying.bad(rows)), false);
    if (odd || values->type == &PyList_Type) break;
    Py_IncRef(values);
    other.object = raise_kernel_error(x, relation, "odd counts", 0, 0, values);
    if (!other) return false;
    values = other;
  }
  Own counts(PySequence_Tuple(values));
  if (!counts) return false;
  i64 length = PyTuple_Size(counts);
  if (length != rows)
    return raise_kernel_error(x, relation, "counts", rows, 0, PyLong_FromLongLong(length)), false;
  for (i64 i = 0; i < rows; i++) {
    PyObject* count = PyTuple_GetItem(counts, i);
    if (!take_int(count, out.at[i])) {
      Py_IncRef(count);
      return raise_kernel_error(x, relation, "count", i, 0, count), false;
    }
    out.at[i] *= sign;
    out.zeros |= !out.at[i];
  }
  return true;
}

// Gives the parts of a batch their counts, and leaves out the rows that count 0 times.
inline void add_counts(const Relation& r, Room& room, Counts counts, Part* first) {
  for (Part* part = counts.at ? first : nullptr; part; part = part->next) {
    part->count = counts.at;
    counts.at += part->size;
    if (counts.zeros) drop_zeros(room, r, *part);
  }
}

// A row as a tuple that nobody can change: itself, or a new one that `kept` holds.
inline PyObject* row_in(Instance& x, int relation, i64 i, PyObject* row, PyObject* kept) {
  int width = x.env.kernel->relation[relation].width;
  if (row->type == &PyTuple_Type && PyTuple_Size(row) == width) return row;
  Own tuple(nullptr);
  if (row->type == &PyList_Type && PyList_Size(row) == width) {
    tuple.object = PyList_AsTuple(row);
  } else {
    Py_IncRef(row);
    tuple.object = raise_kernel_error(x, relation, "odd", i, 0, row);  // mappings and such; raises for others
  }
  if (!tuple || PyList_Append(kept, tuple)) return nullptr;
  return tuple;
}

// Where the values of a column go.
struct Filled { int column; char* at; size_t step; };

// Takes the values of a row; those of other types as Python converts them, which `kept` holds.
inline bool take_row(Instance& x, int relation, i64 i, PyObject* row, Filled* filled, int used, PyObject* kept) {
  const Relation& r = x.env.kernel->relation[relation];
  for (int k = 0; k < used; k++) {
    Filled& f = filled[k];
    if (__builtin_expect(!take(PyTuple_GetItem(row, f.column), r.columns[f.column], f.at), 0)) {
      Py_IncRef(row);
      Own other(raise_kernel_error(x, relation, "row", i, f.column, row));
      return other && !PyList_Append(kept, other) && take_row(x, relation, i, other, filled, used, kept);
    }
  }
  return true;
}

// apply_rows(instance, relation, rows, counts or None, sign)
inline PyObject* apply_rows(PyObject*, PyObject* const* args, intptr_t n) {
  i64 relation, sign;
  Instance* x = arity(n, 5) ? instance_in(args[0]) : nullptr;
  if (!x || !number(args[1], 0, x->env.kernel->relations, relation) || !number(args[4], -1, 2, sign))
    return nullptr;
  const Relation& r = x->env.kernel->relation[relation];
  // A copy, since another thread may change the list while this one does not have Python's lock.
  Own rows(PySequence_Tuple(args[2])), kept(PyList_New(0));
  if (!rows || !kept) return nullptr;
  Rooms own;
  i64 size = PyTuple_Size(rows);
  const void** column = own.room->array<const void*>(r.width + 1);
  Filled* filled = own.room->array<Filled>(r.width + 1);
  int used = 0;
  for (int c = 0; c < r.width; c++) {
    column[c] = nullptr;
    if (!r.columns[c].used) continue;
    size_t step = size_in(r.columns[c].kind);
    filled[used] = Filled{c, static_cast<char*>(own.room->take(size_t(size) * step)), step};
    column[c] = filled[used++].at;
  }
  for (i64 i = 0; i < size; i++) {
    PyObject* row = row_in(*x, int(relation), i, PyTuple_GetItem(rows, i), kept);
    if (!row) return nullptr;
    if (!take_row(*x, int(relation), i, row, filled, used, kept)) return nullptr;
    for (int k = 0; k < used; k++) filled[k].at += filled[k].step;
  }
  Part part{size, column, nullptr, nullptr, nullptr};
  Counts counts;
  if (!counts_in(*x, int(relation), *own.room, args[3], size, sign, counts))
    return nullptr;
  add_counts(r, *own.room, counts, &part);
  return commit(*x, int(relation), &part, part.size, sign);
}

// Where the columns of a relation stand in tables of a schema. It is looked up once for tables that
// come with the same capsule; holding that keeps its address from becoming another one's.
inline const int* where_in(Instance& x, i64 relation, PyObject* capsule, Problem& p) {
  auto* schema = static_cast<ArrowSchema*>(PyCapsule_GetPointer(capsule, "arrow_schema"));
  if (!schema) return nullptr;
  const Relation& r = x.env.kernel->relation[relation];
  Known& known = x.known[relation];
  if (known.schema == capsule && schema->release) return known.where;
  if (!known.where) known.where = static_cast<int*>(malloc(size_t(r.width + 1) * sizeof(int)));
  if (!known.where) return PyErr_NoMemory(), nullptr;
  if (known.schema) Py_DecRef(known.schema);
  known.schema = nullptr;
  if (!match(r, *schema, known.where, p)) return raise_kernel_error(x, int(relation), p), nullptr;
  Py_IncRef(capsule);
  known.schema = capsule;
  return known.where;
}

inline PyObject* apply_table(Instance& x, i64 relation, PyObject* schema, const ArrowArray& array,
                             PyObject* row_counts, i64 sign) {
  Rooms own;
  Problem problem;
  const int* where = where_in(x, relation, schema, problem);
  if (!where) return nullptr;
  auto* fields = static_cast<ArrowSchema*>(PyCapsule_GetPointer(schema, "arrow_schema"));
  if (!fields || !is_whole(*fields, array, problem)) return fields ? raise_kernel_error(x, int(relation), problem) : nullptr;
  const Relation& r = x.env.kernel->relation[relation];
  int* kept = own.room->array<int>(r.width + 1);  // another thread may bring another schema
  memcpy(kept, where, size_t(r.width) * sizeof(int));
  // What describes each column lies somewhere, too: all of it is asked for at once.
  for (int i = 0; i < r.width; i++)
    if (r.columns[i].used) __builtin_prefetch(array.children[kept[i]]);
  for (int i = 0; i < r.width; i++)
    if (r.columns[i].used) __builtin_prefetch(array.children[kept[i]]->buffers);
  touch_pages(r, kept, array);
  Counts counts;
  const Lying lying(row_counts, array.length);
  if (!lying.at && !counts_in(x, int(relation), *own.room, row_counts, array.length, sign, counts))
    return nullptr;
  Part* part = nullptr;
  bool whole, counted = true;
  Done done = Done::Well;
  Fault fault;
  {
    // The global lock is given up once, for the table and for the change. Counts are read last: while
    // the columns are, theirs are on the way.
    Unlocked others(array.length > SMALL);
    whole = attempt([&] {
      part = table_in(*own.room, r, *fields, kept, array, problem, lying.at);
      if (part && lying.at) {
        counts.at = own.room->array<i64>(array.length);
        counted = lying.copy(array.length, sign, counts);
      }
      if (part && counted) add_counts(r, *own.room, counts, part);
    });
    if (whole && part && counted) {
      Locked lock(x, true, !others.state);
      done = run(x, r, part, sign, fault);
    }
  }
  if (!whole) return raise_kernel_error(x, int(relation), "full", 0, 0, nullptr);
  if (!part) return raise_kernel_error(x, int(relation), problem);
  if (!counted) return bad_count(x, int(relation), lying.bad(array.length));
  return finish(x, int(relation), done, fault);
}

// apply_array(instance, relation, schema, array, counts or None, sign): one Arrow table.
inline PyObject* apply_array(PyObject*, PyObject* const* args, intptr_t n) {
  i64 relation, sign;
  Instance* x = arity(n, 6) ? instance_in(args[0]) : nullptr;
  if (!x || !number(args[1], 0, x->env.kernel->relations, relation) || !number(args[5], -1, 2, sign))
    return nullptr;
  auto* array = static_cast<ArrowArray*>(PyCapsule_GetPointer(args[3], "arrow_array"));
  return array ? apply_table(*x, relation, args[2], *array, args[4], sign) : nullptr;
}

// apply_exported(instance, relation, schema, export, counts or None, sign): the same from a
// function that writes an array to an address; its schema is known from an earlier table.
inline PyObject* apply_exported(PyObject*, PyObject* const* args, intptr_t n) {
  i64 relation, sign;
  Instance* x = arity(n, 6) ? instance_in(args[0]) : nullptr;
  if (!x || !number(args[1], 0, x->env.kernel->relations, relation) || !number(args[5], -1, 2, sign))
    return nullptr;
  struct Array : ArrowArray {
    ~Array() { if (release) release(this); }
  } array{};
  Own address(Py_BuildValue("(L)", static_cast<long long>(reinterpret_cast<intptr_t>(&array))));
  Own done(address ? PyObject_CallObject(args[3], address) : nullptr);
  if (!done) return nullptr;
  return apply_table(*x, relation, args[2], array, args[4], sign);
}

// What a stream brought; its tables are held until all of them are applied.
struct Held {
  ArrowSchema schema = {};
  ArrowArray** tables = nullptr;
  i64 size = 0;
  ~Held() {
    for (i64 i = 0; i < size; i++)
      if (tables[i]->release) tables[i]->release(tables[i]);
    if (schema.release) schema.release(&schema);
  }
};

// Pulls the tables of a stream and converts them; false with an error code or a problem.
inline bool stream_in(Room& room, const Relation& r, ArrowArrayStream& stream, Held& held,
                      Part*& first, i64& rows, int& code, Problem& p) {
  if ((code = stream.get_schema(&stream, &held.schema))) return false;
  int* where = room.array<int>(r.width + 1);
  if (!match(r, held.schema, where, p)) return false;  // also where there is no table
  i64 space = 0;
  Part* last = nullptr;
  for (;;) {
    ArrowArray* table = room.array<ArrowArray>(1);
    *table = ArrowArray{};
    if ((code = stream.get_next(&stream, table))) return false;
    if (!table->release) return true;
    if (held.size == space) {
      ArrowArray** more = room.array<ArrowArray*>(space = space * 2 + 16);
      if (held.size) memcpy(more, held.tables, size_t(held.size) * sizeof(ArrowArray*));
      held.tables = more;
    }
    held.tables[held.size++] = table;
    Part* part = table_in(room, r, held.schema, where, *table, p);
    if (!part) {
      if (p.row >= 0) p.row += rows;
      return false;
    }
    rows += part->size;
    part->previous = last;
    (last ? last->next : first) = part;
    last = part;
  }
}

// apply_stream(instance, relation, stream, counts or None, sign): Arrow tables, as one change.
inline PyObject* apply_stream(PyObject*, PyObject* const* args, intptr_t n) {
  i64 relation, sign;
  Instance* x = arity(n, 5) ? instance_in(args[0]) : nullptr;
  if (!x || !number(args[1], 0, x->env.kernel->relations, relation) || !number(args[4], -1, 2, sign))
    return nullptr;
  void* pointer = PyCapsule_GetPointer(args[2], "arrow_array_stream");
  if (!pointer) return nullptr;
  auto* stream = static_cast<ArrowArrayStream*>(pointer);
  const Relation& r = x->env.kernel->relation[relation];
  Rooms own;
  Held held;
  Problem problem;
  Part* first = nullptr;
  i64 rows = 0;
  int code = 0;
  bool good = false, whole;
  {
    Unlocked others;
    whole = attempt(
        [&] { good = stream_in(*own.room, r, *stream, held, first, rows, code, problem); });
  }
  if (!whole) return raise_kernel_error(*x, int(relation), "full", 0, 0, nullptr);
  if (!good && code) {
    const char* said = stream->get_last_error(stream);
    PyObject* why = Py_BuildValue("s", said ? said : "it does not say why");
    return raise_kernel_error(*x, int(relation), "stream", 0, 0, why);
  }
  if (!good) return raise_kernel_error(*x, int(relation), problem);
  Counts counts;
  if (!counts_in(*x, int(relation), *own.room, args[3], rows, sign, counts))
    return nullptr;
  add_counts(r, *own.room, counts, first);
  return commit(*x, int(relation), first, rows, sign);
}

}  // namespace edge
}  // namespace fr
