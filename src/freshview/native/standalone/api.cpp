// The functions of `freshview.h` over a kernel, which is linked to this file.
#include "freshview.h"

#include "arrow_out.hpp"
#include "transaction.hpp"

#include "script.hpp"
#include "sort.hpp"
#include "values_in.hpp"

using namespace fr;
using namespace fr::edge;

struct freshview : Running {
  char words[400];
};

struct freshview_rows {
  Table* table;
};

void Output::grow() { grow_arrays(*this); }

void fr::note_rows(Env&, int, const void* const*) {}  // nobody collects changes here

namespace {

// Calls f with memory that may end; what it had opened for the call is given back.
template <class F> bool guard(F&& f) {
  Room* const outer = rooms;
  const bool whole = attempt(f);
  while (rooms != outer) {
    Room* room = rooms;
    rooms = room->outer;
    room->let_go();
  }
  return whole;
}

int refuse(freshview& x, freshview_code code, const char* words) {
  snprintf(x.words, sizeof x.words, "%s", words);
  return code;
}

const char* kind_words(const Column& c) {
  switch (c.kind) {
    case Int: return "a 64-bit integer";
    case Decimal64:
    case Decimal128: return "a decimal of this scale";
    case Double: return "a finite number";
    case Date: return "a day of the years 1 to 9999";
    case Timestamp: return "a moment of the years 1 to 9999";
    case Bool: return "0 or 1";
    case Text: return "a UTF-8 text";
  }
  return "";
}

int refuse_value(freshview& x, const Relation& r, int column, i64 row) {
  const Column& c = r.columns[column];
  snprintf(x.words, sizeof x.words, "row %lld of '%s': %s cannot hold this value; expected %s%s",
           (long long)row + 1, r.name, c.name, kind_words(c), c.nullable ? " or NULL" : "");
  return FRESHVIEW_BAD_VALUE;
}

int refuse_table(freshview& x, const Relation& r, const Problem& p) {
  const char* column = r.columns[p.column].name;
  auto say = [&](const char* form, const char* word) {
    snprintf(x.words, sizeof x.words, form, r.name, word);
    return FRESHVIEW_BAD_VALUE;
  };
  switch (p.what) {
    case Problem::NotTable: return say("rows of '%s' cannot come as one column (%s)", p.name);
    case Problem::Missing: return say("the table for '%s' has no column '%s'", column);
    case Problem::Extra: return say("'%s' has no column '%s'", p.name);
    case Problem::WrongType: return say("a column of '%s' cannot hold Arrow's format '%s'", p.name);
    case Problem::Damaged: return say("a column for '%s' is damaged: %s", p.name);
    case Problem::NullRow: return say("a row of '%s' is NULL%s", "");
    default: return refuse_value(x, r, p.column, p.row);
  }
}

int finish(freshview& x, Done done, Fault& fault) {
  const bool no_answer = fault.fn;
  if (no_answer) snprintf(x.words, sizeof x.words, "%s has no answer for a row", fault.fn);
  fault.free_texts();
  if (no_answer) return FRESHVIEW_BAD_VALUE;
  switch (done) {
    case Done::Well: return FRESHVIEW_OK;
    case Done::Closed: return refuse(x, FRESHVIEW_BAD_CALL, "the handle is closed");
    case Done::Late:
      return refuse(x, FRESHVIEW_LATE, "static tables come before the first change of a stream");
    case Done::Static:
      return refuse(x, FRESHVIEW_RANGE, "the static tables take a number out of its range");
    case Done::Overflow:
      return refuse(x, FRESHVIEW_RANGE, "the change takes a number of a view out of its range");
    case Done::Many:
      return refuse(x, FRESHVIEW_RANGE, "a row comes more often than its trigger can run");
    case Done::Full: return refuse(x, FRESHVIEW_MEMORY, "not enough memory for this change");
    case Done::Refused:  // only a store of base rows does so
    case Done::Lost: break;
  }
  return refuse(x, FRESHVIEW_LOST, "ran out of memory during a change, and the views are lost");
}

int commit(freshview& x, const Relation& r, Part& part) {
  Fault fault;
  const Done done = run(x, r, &part, 1, fault);
  return finish(x, done, fault);
}

bool are_counts(const int64_t* counts, i64 size) {
  bool good = size >= 0;
  for (i64 i = 0; good && counts && i < size; i++) good = counts[i] != INT64_MIN;
  return good;
}

template <class T> const T* entry(const T* all, int size, int at) {
  return at >= 0 && at < size ? all + at : nullptr;
}
const Relation* relation_at(int i) { return entry(kernel.relation, kernel.relations, i); }
const Query* view_at(int i) { return entry(kernel.query, kernel.queries, i); }

template <class T> int find_name(const T* all, int size, const char* name) {
  for (int i = 0; i < size; i++)
    if (!strcasecmp(all[i].name, name)) return i;
  return -1;
}

template <class T> int column_at(const T* table, int column, freshview_column* out) {
  if (!table || column < 0 || column >= table->width) return FRESHVIEW_BAD_CALL;
  const Column& c = table->columns[column];
  const freshview_kind kinds[] = {FRESHVIEW_INT,    FRESHVIEW_DECIMAL, FRESHVIEW_DECIMAL,
                                  FRESHVIEW_DOUBLE, FRESHVIEW_DATE,    FRESHVIEW_TIMESTAMP,
                                  FRESHVIEW_BOOL,   FRESHVIEW_TEXT};
  *out = freshview_column{c.name, kinds[c.kind], c.scale, c.nullable};
  return FRESHVIEW_OK;
}

// What a view has now, sorted if `sorted` or if it has an order; null with a code.
Table* table_at(freshview& x, int view, bool sorted, int& code) {
  const Query* q = view_at(view);
  if (!q) return code = refuse(x, FRESHVIEW_BAD_CALL, "there is no view of this number"), nullptr;
  Fault fault;
  const Done done = make_ready(x, fault);
  if (done != Done::Well) return code = finish(x, done, fault), nullptr;
  Table* table = nullptr;
  const ViewOrder& order = script.order[view];
  const bool whole = guard([&] {
    table = table_of(x.env, *q, [&](Env& env, Output& out) {
      q->read(env, out);
      if (sorted || order.size) sort_rows(env, out, order);
    });
  });
  empty_scratch(x.env);
  const bool overflow = x.env.overflow;
  fault = take_fault(x.env);
  if (whole && table && !overflow) return table;
  if (whole && table) table->room->let_go();
  if (!whole || !table) return code = finish(x, Done::Full, fault), nullptr;
  code = finish(x, Done::Well, fault);
  if (!code) code = refuse(x, FRESHVIEW_RANGE, "a number leaves its range when the view is read");
  return nullptr;
}

void put_number(freshview_value* out, i128 x, bool is_null) {
  out->is_null = is_null;
  if (is_null) return;
  out->number = int64_t(x);
  out->high = int64_t(x >> 64);
}

}  // namespace

extern "C" {

int freshview_relations(void) { return kernel.relations; }
int freshview_find_relation(const char* name) {
  return find_name(kernel.relation, kernel.relations, name);
}
const char* freshview_relation_name(int i) { return relation_at(i) ? relation_at(i)->name : nullptr; }
int freshview_relation_is_static(int i) { return relation_at(i) && relation_at(i)->is_static; }
int freshview_relation_width(int i) { return relation_at(i) ? relation_at(i)->width : -1; }
int freshview_relation_column(int i, int column, freshview_column* out) {
  return column_at(relation_at(i), column, out);
}
int freshview_views(void) { return kernel.queries; }
int freshview_find_view(const char* name) { return find_name(kernel.query, kernel.queries, name); }
const char* freshview_view_name(int i) { return view_at(i) ? view_at(i)->name : nullptr; }
int freshview_view_width(int i) { return view_at(i) ? view_at(i)->width : -1; }
int freshview_view_column(int i, int column, freshview_column* out) {
  return column_at(view_at(i), column, out);
}

freshview* freshview_open(void) {
  void* place = malloc(sizeof(freshview));
  if (!place) return nullptr;
  freshview* x = new (Here(), place) freshview();
  x->env.kernel = &kernel;
  const bool state = Arena::open(x->env.arena), scratch = state && Arena::open(x->env.scratch);
  x->open = scratch && attempt([&] { make_state(x->env); });
  if (x->open) return x;
  if (state) x->env.arena.close();
  if (scratch) x->env.scratch.close();
  free(x);
  return nullptr;
}

void freshview_close(freshview* x) {
  if (!x) return;
  x->env.arena.close();
  x->env.scratch.close();
  free(x->same[0]);
  free(x->same[1]);
  free(x);
}

const char* freshview_error(const freshview* x) { return x->words; }

int freshview_apply_row(freshview* x, int relation, const freshview_value* row, int64_t count) {
  return freshview_apply_rows(x, relation, row, 1, &count);
}

int freshview_apply_rows(freshview* x, int relation, const freshview_value* rows_in, int64_t size,
                         const int64_t* counts) {
  const Relation* r = relation_at(relation);
  if (!r) return refuse(*x, FRESHVIEW_BAD_CALL, "there is no relation of this number");
  if (!are_counts(counts, size)) return refuse(*x, FRESHVIEW_BAD_CALL, "a count is out of range");
  int code = FRESHVIEW_OK;
  const bool whole = guard([&] {
    Rooms own;
    Part part{0, nullptr, nullptr, nullptr, nullptr};
    int bad = 0;
    const i64 row = columns_in(*own.room, *r, rows_in, size, part, bad);
    if (row >= 0) {
      code = refuse_value(*x, *r, bad, row);
      return;
    }
    add_counts(*own.room, *r, counts, part);
    code = commit(*x, *r, part);
  });
  return whole ? code : refuse(*x, FRESHVIEW_MEMORY, "not enough memory for these rows");
}

int freshview_apply_arrow(freshview* x, int relation, const struct ::ArrowSchema* schema,
                          const struct ::ArrowArray* array, const int64_t* counts) {
  const auto& fields = *reinterpret_cast<const edge::ArrowSchema*>(schema);
  const auto& table = *reinterpret_cast<const edge::ArrowArray*>(array);
  const Relation* r = relation_at(relation);
  if (!r) return refuse(*x, FRESHVIEW_BAD_CALL, "there is no relation of this number");
  if (!are_counts(counts, table.length))
    return refuse(*x, FRESHVIEW_BAD_CALL, "a count is out of range");
  int code = FRESHVIEW_OK;
  const bool whole = guard([&] {
    Rooms own;
    Problem problem;
    int* where = own.room->array<int>(r->width + 1);
    Part* part = nullptr;
    if (match(*r, fields, where, problem))
      part = table_in(*own.room, *r, fields, where, table, problem);
    if (!part) {
      code = refuse_table(*x, *r, problem);
      return;
    }
    add_counts(*own.room, *r, counts, *part);
    code = commit(*x, *r, *part);
  });
  return whole ? code : refuse(*x, FRESHVIEW_MEMORY, "not enough memory for this table");
}

freshview_rows* freshview_read(freshview* x, int view) {
  int code;
  Table* table = table_at(*x, view, true, code);
  if (!table) return nullptr;
  auto* out = static_cast<freshview_rows*>(malloc(sizeof(freshview_rows)));
  if (out) out->table = table;
  else table->room->let_go();
  return out;
}

int64_t freshview_rows_size(const freshview_rows* rows) { return rows->table->size; }
int64_t freshview_rows_count(const freshview_rows* rows, int64_t row) {
  return row >= 0 && row < rows->table->size ? rows->table->count[row] : 0;
}

int freshview_rows_value(const freshview_rows* rows, int64_t row, int column, freshview_value* out) {
  const Table& t = *rows->table;
  if (row < 0 || row >= t.size || column < 0 || column >= t.width) return FRESHVIEW_BAD_CALL;
  *out = freshview_value{};
  auto at = [&](auto sample) { return static_cast<const decltype(sample)*>(t.column[column])[row]; };
  switch (t.columns[column].kind) {
    case Decimal128: put_number(out, at(i128()), is_null(at(i128()))); break;
    case Date: put_number(out, at(i32()), is_null(at(i32()))); break;
    case Bool: put_number(out, at(i8()), is_null(at(i8()))); break;
    case Double:
      out->is_null = is_null(at(f64()));
      if (!out->is_null) out->real = at(f64());
      break;
    case Text: {
      out->is_null = is_null(at(Sym()));
      const Str text = t.text_at(column, row);
      out->text = text.at;
      out->size = text.size;
      break;
    }
    default: put_number(out, at(i64()), is_null(at(i64())));
  }
  return FRESHVIEW_OK;
}

void freshview_rows_free(freshview_rows* rows) {
  if (!rows) return;
  rows->table->room->let_go();
  free(rows);
}

int freshview_read_arrow(freshview* x, int view, struct ::ArrowSchema* schema,
                         struct ::ArrowArray* array) {
  int code = FRESHVIEW_OK;
  Table* table = table_at(*x, view, false, code);
  if (!table) return code;
  i128 rows = 0;
  for (i64 i = 0; i < table->size; i++) rows += table->count[i];
  const bool whole = rows <= INT32_MAX && guard([&] {
    Frame* frame = frame_of(*table);
    export_schema(*frame, *reinterpret_cast<edge::ArrowSchema*>(schema));
    export_array(*frame, *reinterpret_cast<edge::ArrowArray*>(array));
    frame->room->let_go();
  });
  table->room->let_go();
  return whole ? code : refuse(*x, FRESHVIEW_MEMORY, "not enough memory for a table");
}

uint64_t freshview_bytes(const freshview* x) { return x->env.arena.used(); }

}  // extern "C"
