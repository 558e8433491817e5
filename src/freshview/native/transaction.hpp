// Changes of a running kernel, each of them all or nothing. It knows neither Python nor anybody else
// who brings the rows: `instance.hpp` is Python's side, `standalone/api.cpp` that of C.
#pragma once

#include "arrow_in.hpp"

namespace fr {

inline void Fault::free_texts() {
  for (Arg& a : args) free(const_cast<char*>(a.text.at)), a.text = Str{nullptr, 0};
}

namespace edge {

// A kernel with its state; whoever calls it has seen to it that nobody else does.
struct Running {
  Env env;
  bool open, ready;
  bool wraps;    // a number may leave its range on the way: all of them are in it at the end
  bool wrapped;  // one has, since it may
  bool lost;     // memory ran out during a change: there is no state any more
  i64* same[2];  // 1s and -1s, for batches without counts
  i64 same_size[2];
};

struct Here {};  // placement without the C++ library

}  // namespace edge
}  // namespace fr

inline void* operator new(size_t, fr::edge::Here, void* at) { return at; }

namespace fr {
namespace edge {

inline thread_local Room* rooms = nullptr;  // the last one that was opened for a call

struct Rooms {  // a room for the length of a call
  Room* room;
  Rooms() : room(Room::open_for_call()) {
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

// As many counts of 1 or -1 as wanted.
inline const i64* same_counts(Running& x, i64 size, i64 sign) {
  const int s = sign < 0;
  if (__builtin_expect(size > x.same_size[s], 0)) {
    const i64 room = size < 1024 ? 1024 : size;
    free(x.same[s]);
    x.same_size[s] = 0;
    x.same[s] = static_cast<i64*>(malloc(size_t(room) * sizeof(i64)));
    if (!x.same[s]) out_of_memory("freshview: not enough memory for a batch.\n");
    for (i64 i = 0; i < room; i++) x.same[s][i] = s ? -1 : 1;
    x.same_size[s] = room;
  }
  return x.same[s];
}

// A batch without rows is one, too: statements may read other things beside it.
inline void apply_part(Running& x, const Relation& r, const Part& part, i64 sign) {
  const i64* counts = part.count ? part.count : same_counts(x, part.size, sign);
  Batch batch{part.size, counts, part.column, part.form};
  r.apply(x.env, batch);
  empty_scratch(x.env);
  if (x.env.columns.is_open()) x.env.columns.reset();
}

// A part that left the range of some number, applied the other way round: wrapped integers are a
// ring, so it is gone without a trace.
inline void take_back(Running& x, const Relation& r, Part part, i64 sign) {
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
inline Done lose(Running& x) {
  x.lost = true;
  x.ready = x.env.overflow = x.env.many = false;
  x.env.collecting = 0;
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
inline Done make_ready(Running& x, Fault& fault) {
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
inline void choose_piece(const Relation& r, const Part& part, i64 from, Part& piece, JoinedTexts* texts) {
  piece.size = part.size - from < PIECE ? part.size - from : PIECE;
  piece.count = part.count ? part.count + from : nullptr;
  piece.form = part.form;
  for (int i = 0; i < r.width; i++) {
    const char* column = static_cast<const char*>(part.column[i]);
    const Form form = part.form_of(i);
    if (column && form >= Joined32) {
      texts[i] = *static_cast<const JoinedTexts*>(part.column[i]);
      texts[i].offsets = static_cast<const char*>(texts[i].offsets) + from * (form == Joined32 ? 4 : 8);
      piece.column[i] = &texts[i];
    } else {
      piece.column[i] = column ? column + size_t(from) * size_in(r.columns[i].kind, form) : nullptr;
    }
  }
}

inline Str text_in(const Part& part, int c, i64 i) {
  const void* column = part.column[c];
  if (part.form_of(c) == Joined32) return static_cast<const JoinedTexts*>(column)->at<i32>(i);
  if (part.form_of(c) == Joined64) return static_cast<const JoinedTexts*>(column)->at<i64>(i);
  return static_cast<const Str*>(column)[i];
}

// Whether there is room for the change of a part: for its rows and their texts, and for what tables
// may grow by, which follows their size. With `only_new`, rows that go need
// next to nothing: a state that is full can be made smaller.
inline bool has_room(Running& x, const Relation& r, const Part& part, i64 sign, bool only_new) {
  auto comes = [&](i64 i) { return !only_new || (part.count ? part.count[i] : sign) > 0; };
  u64 wanted = 0;
  if (!only_new) wanted = u64(part.size) * PER_ROW;
  else for (i64 i = 0; i < part.size; i++) wanted += comes(i) ? PER_ROW : 0;
  const bool counted = !only_new && part.text_bytes >= 0;
  if (counted) wanted += 2 * u64(part.text_bytes);
  for (int c = 0; c < r.width && !counted; c++) {
    if (r.columns[c].kind != Text || !part.column[c]) continue;
    for (i64 i = 0; i < part.size; i++) wanted += comes(i) ? 2 * u64(text_in(part, c, i).size) : 0;
  }
  wanted += only_new && !wanted ? SPARE / 16 : SPARE + x.env.arena.used() / 16;
  return x.env.arena.prepare(wanted) && x.env.scratch.prepare(wanted);
}

// The ones of a batch without counts, before anything is changed; false without memory for them.
inline bool has_counts(Running& x, const Part& part, i64 sign) {
  if (part.count || part.size <= x.same_size[sign < 0]) return true;
  return attempt([&] { same_counts(x, part.size, sign); });
}

// Applies a part in pieces, as long as there is room for them, and takes them back if there is
// none for all.
__attribute__((noinline, cold)) inline Done apply_pieces(Running& x, const Relation& r,
                                                         const Part& part, i64 sign) {
  Rooms own;
  Part piece{0, own.room->array<const void*>(r.width + 1), nullptr, nullptr, nullptr};
  JoinedTexts* texts = own.room->array<JoinedTexts>(r.width + 1);
  same_counts(x, PIECE, sign);
  i64 done = 0;
  for (; done < part.size; done += PIECE) {
    choose_piece(r, part, done, piece, texts);
    if (!has_room(x, r, piece, sign, true)) break;
    apply_part(x, r, piece, sign);
    if (x.env.refused || x.env.full) break;
  }
  if (done >= part.size) return Done::Well;
  const Done why = x.env.refused ? Done::Refused : Done::Full;
  x.env.refused = x.env.full = false;
  while ((done -= PIECE) >= 0) {
    choose_piece(r, part, done, piece, texts);
    take_back(x, r, piece, sign);
  }
  return why;
}

// Applies a batch as one change: all of it or, where a number leaves its range or memory runs out,
// nothing. Static tables come before everything else; the first change of a stream says that they
// are complete.
inline Done run(Running& x, const Relation& r, Part* first, i64 sign, Fault& fault) {
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

}  // namespace edge
}  // namespace fr
