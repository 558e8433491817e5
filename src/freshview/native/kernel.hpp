// What a generated kernel tells about itself, and what it is given: the contract between
// generated code (above this header) and the boundary to Python and Arrow (below it).
#pragma once

#include "arena.hpp"
#include "lines.hpp"
#include "strings.hpp"
#include "value.hpp"

namespace fr {

// How a column is held: int -> i64, decimal -> i64 or i128 (scaled), double -> f64, date -> i32
// (days since 1970), timestamp -> i64 (microseconds since 1970), bool -> i8, string -> Str on the
// way in and Sym on the way out.
enum Kind : u8 { Int, Decimal64, Decimal128, Double, Date, Timestamp, Bool, Text };

struct Column {
  const char* name;
  Kind kind;
  u8 scale;
  bool nullable;
  bool used;  // on the way in: whether any statement reads it; the others are not converted
  bool as_it_lies = false;  // on the way in: whether its taker knows the forms below
  u32 size = 0;  // bits of an integer, digits of a decimal, characters of a text; 0: no limit
};

// How the values of a column lie in a batch. `Plain` are arrays as `Batch` says; the other forms are
// what Arrow brings anyway, and go only to those who take columns as they lie: a copy less.
enum Form : u8 {
  Plain,
  Narrow,       // decimals of 128 bits that fit into 64, as an array of i64
  Joined32,     // texts behind each other, as `JoinedTexts`, none of them NULL
  Joined64,
};

// Text i is what lies from offset i to offset i + 1.
struct JoinedTexts {
  const void* offsets;  // of i32 or i64
  const char* bytes;

  template <class T> Str at(i64 i) const {
    const T* from = static_cast<const T*>(offsets) + i;
    return Str{bytes + from[0], u32(from[1] - from[0])};
  }
};

// Rows on their way in, column by column; NULL is the sentinel of `value.hpp`.
struct Batch {
  i64 size;
  const i64* count;           // how often each row is inserted (negative: deleted), never 0
  const void* const* column;  // arrays of i64, i128, f64, i32, i8 or Str; null where not used
  const Form* form = nullptr;  // of each column; null where all are plain

  Form form_of(int c) const { return form ? form[c] : Plain; }
};

// The texts of a column of a batch, or those from a row on, in whatever form they lie.
struct Texts {
  Texts(const Batch& b, int c) : form(b.form_of(c)), at(b.column[c]) {
    if (form == Plain || !at) return;
    const JoinedTexts& joined = *static_cast<const JoinedTexts*>(at);
    at = joined.offsets;
    bytes = joined.bytes;
  }

  Str operator[](i64 i) const {
    if (form == Plain) return static_cast<const Str*>(at)[i];
    const JoinedTexts joined{at, bytes};
    return form == Joined32 ? joined.at<i32>(i) : joined.at<i64>(i);
  }

  Texts operator+(i64 rows) const {
    const size_t size = form == Plain ? sizeof(Str) : form == Joined32 ? sizeof(i32) : sizeof(i64);
    Texts rest = *this;
    rest.at = static_cast<const char*>(at) + rows * i64(size);
    return rest;
  }

  // Gives where each text begins, and the next, to a taker of either width; false where nothing tells.
  template <class Take> bool offsets(Take take) const {
    if (form == Plain) return false;
    if (form == Joined32) take(static_cast<const i32*>(at));
    else take(static_cast<const i64*>(at));
    return true;
  }

  // The bytes of so many texts that have one byte each, side by side; null where they do not.
  const u8* flags(i64 rows) const {
    if (form == Joined32) return side_by_side(static_cast<const i32*>(at), rows);
    return form == Joined64 ? side_by_side(static_cast<const i64*>(at), rows) : nullptr;
  }

 private:
  Form form;
  const void* at;  // `Str`s, or offsets
  const char* bytes = nullptr;

  template <class T> const u8* side_by_side(const T* offset, i64 rows) const {
    using Offsets = Line<T>;
    typename Offsets::Vector wanted = {}, others = {};
    for (int k = 0; k < Offsets::SIZE; k++) wanted[k] = offset[0] + T(k);
    i64 i = 0;
    for (; i + Offsets::SIZE <= rows; i += Offsets::SIZE, wanted += T(Offsets::SIZE))
      others |= Offsets::load(offset + i) ^ wanted;
    T some = 0;
    for (int k = 0; k < Offsets::SIZE; k++) some |= others[k];
    for (; i <= rows; i++) some |= offset[i] ^ T(offset[0] + T(i));
    return some ? nullptr : reinterpret_cast<const u8*>(bytes + offset[0]);
  }
};

// Rows on their way out, column by column; the arrays grow by doubling.
struct Output {
  i64 size = 0, room = 0;
  int width = 0;
  const Column* columns = nullptr;
  void** column = nullptr;  // arrays of i64, i128, f64, i32, i8 or Sym
  i64* count = nullptr;     // multiplicity of each row, always positive
  // Makes room for one more row and gives its place.
  i64 next() {
    if (size == room) grow();
    return size++;
  }
  void grow();
};

struct State;  // generated: the text store and all the maps, at the start of the arena

// An argument of a function, on its way to Python's words.
struct Arg {
  Kind kind = Int;
  u8 scale = 0;
  bool is_set = false;
  i128 number = 0;
  f64 real = 0;
  Str text = Str{nullptr, 0};

  Arg() = default;
  template <class T> Arg(Kind k, u8 s, T x) : kind(k), scale(s), is_set(true), number(x) {}
  Arg(Kind k, u8, f64 x) : kind(k), is_set(true), real(x) {}
  Arg(Kind k, u8, Str x) : kind(k), is_set(true), text(x) {}
};

constexpr int FAULT_ARGS = 4;

// The first call of a batch that had no answer: which function, and its arguments. Texts are copies.
struct Fault {
  const char* fn = nullptr;
  Arg args[FAULT_ARGS];

  void free_texts();
};

struct Kernel;
struct Touched;  // of one query: the keys that changes have touched, and the rows that they had

// One running kernel. `state` lies in `arena`; `scratch` is emptied after every batch.
struct Env {
  const Kernel* kernel = nullptr;
  Arena arena;
  Arena scratch;
  State* state = nullptr;
  bool overflow = false;  // sticky: some integer or decimal left its range; results are wrapped
  bool many = false;      // sticky: a row came more often than its trigger can run
  bool refused = false;   // sticky: rows that the relation does not admit; they left no trace
  bool full = false;      // sticky: there is no memory for a batch, which left no trace
  Fault fault;            // why it is set, where no number left its range
  u64 visits = 0;         // rows looked at, counted when compiled with FRESHVIEW_COUNT
  u64 writes = 0;         // rows written
  u64 collecting = 0;     // queries, as bits, whose changes somebody collects
  Touched* touched = nullptr;  // one for each query, once anybody does
  Arena spare;            // the scratch memory of look-ups in the middle of a change
  Arena columns;          // columns that functions of the host have computed for a batch
  void* host = nullptr;   // what `call_host` finds functions in; it belongs to the boundary
};

// The rows of a query with these values in its key columns may change now: notes what they are, the
// first time since the changes were asked for. Called for queries whose changes are collected.
void note_rows(Env& e, int query, const void* const* key);

// Calls a function of the host's language, which has no C++; an argument that is not set is NULL.
// False where it has no answer, and the fault is noted. A text lies in the scratch memory. The boundary
// to Python defines it; a kernel that stands alone has no functions of this kind.
bool call_host(Env& e, const char* fn, const Column& result, const Arg* args, int count, void* out);

// The same for many rows, their arguments side by side; `known` says which rows have an answer, and
// texts lie in the arena of columns.
void call_host_rows(Env& e, const char* fn, const Column& result, const Arg* args, int count, i64 rows,
                    void* out, u64 size, bool* known);
Arena& column_arena(Env& e);

struct Relation {
  const char* name;
  int width;
  const Column* columns;
  bool is_static;
  void (*apply)(Env&, const Batch&);  // a change of a stream, or rows of a static table
};

struct Query {
  const char* name;
  int width;
  const Column* columns;
  void (*read)(Env&, Output&);
  const bool* key;  // which columns `find` needs; null where rows cannot be found without a scan
  void (*find)(Env&, const Batch&, Output&);  // the rows with these values, of a batch of one row
  bool collected;   // whether writes call `note_rows`: so its changes can be collected
};

// The contents of a map, for statistics and tests: its keys, then its payload as last column.
struct Map {
  const char* name;
  int width;
  const Column* columns;
  void (*read)(Env&, Output&);
  u64 (*size)(Env&);
};

// What was lifted of the continuous variables of cofactors: their ends, and the centres that were
// taken from all the values. A centre is set while nothing has been lifted yet.
struct Watch {
  f64 *centre, *low, *high;
};

struct Kernel {
  int relations, queries, maps;
  const Relation* relation;
  const Query* query;
  const Map* map;
  size_t state_size;
  Strings& (*strings)(State&);
  void (*create)(Env&);  // a fresh State at env.state
  void (*ready)(Env&);   // after the static tables are loaded
  int slots;             // the continuous variables of cofactors
  const char* const* slot;
  Watch (*watch)(State&);
  f64* (*gone)(State&);  // how many rows were deleted
  // A kernel for a relation of these columns, where the library is for any relation, and null with
  // no memory for it; it lasts as long as the process. Null in libraries that are for a program.
  const Kernel* (*of_columns)(int width, const Column* columns, const bool* key);
};

extern const Kernel kernel;  // generated, or that of `row_store.cpp`

}  // namespace fr
