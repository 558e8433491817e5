// The rows of a relation in blocks: how they are written, compared, hashed and moved.
//
// A block holds up to 65,536 rows (`stored_lanes.hpp`), and pieces of memory with their texts. Rows are
// only added to the block that is open; one that is full is closed. A row that is gone counts -1 and
// leaves a hole; `row_store.cpp` moves the rest of a block elsewhere where most of it is holes. A
// row's number is that of its block, then its place in it.
//
// Beside its values, a row says how often it is there. A block's columns are as wide as its values need;
// where others come that need more, it is laid out anew. A text of up to seven bytes is its symbol; the
// symbol of a longer one says where it lies (`strings.hpp`). Batches come as columns, and are written
// column by column.
#pragma once

#include "kernel.hpp"
#include "stored_index.hpp"
#include "stored_lanes.hpp"

namespace fr {

constexpr u32 MOST_ROWS = 65536, FEWEST_ROWS = 64;  // of a block
constexpr u32 SPAN = 16;                            // groups of a sorted block between two posts
constexpr i64 AT_ONCE = 256;                        // rows that are looked at together
constexpr u64 LARGE_PIECE = 1 << 20;                // of memory for texts

struct Field {
  Kind kind;
  bool key;
};

struct Piece {  // what memory for texts begins with
  u64 next, size;
};

// Where rows ended at some time: what came later can be cut off.
struct Mark {
  u32 open, used;
  u64 texts, text_at, text_end;
};

struct Blocks {  // as the state has them; zeroed memory has none
  u64 directory;       // the place of each block; of one that was freed, the next such, as an odd number
  u32 count, places;   // entries of the directory, and those that it has room for
  u32 free;            // the first number that can be used again, plus 1
  u32 open;            // the block that rows are added to, plus 1
  u64 live;            // rows that count
  Mark last;           // before the last batch
  u64 holes;           // rows of sorted blocks that are gone
  bool sorted;         // whether rows lie in the order of their keys
};

// Decimals hash alike whatever their width.
inline u64 decimal_word(i128 x) { return i64(x) == x ? word(i64(x)) : word(x); }
inline bool fits_narrow(i128 x) { return is_null(x) || (i64(x) == x && !is_null(i64(x))); }

inline Str text_of(const Batch& b, int c, i64 i) {
  if (b.form_of(c) == Joined32) return static_cast<const JoinedTexts*>(b.column[c])->at<i32>(i);
  if (b.form_of(c) == Joined64) return static_cast<const JoinedTexts*>(b.column[c])->at<i64>(i);
  return static_cast<const Str*>(b.column[c])[i];
}

inline i128 decimal_of(const Batch& b, int c, i64 i) {
  if (b.form_of(c) == Narrow) return resized<i128>(static_cast<const i64*>(b.column[c])[i]);
  return static_cast<const i128*>(b.column[c])[i];
}

inline u64 text_word(Str text) {
  if (is_null(text)) return null<Sym>().bits;
  return text.size <= 7 ? Strings::pack(text).bits : text_hash(text);
}

// Rows of a batch: those of a list, or all from one on.
struct Picked {
  const u32* list;
  i64 first;

  Picked from(i64 i) const { return Picked{list, first + i}; }
  // Some of them as a list: loops over columns know no other rows.
  const u32* listed(i64 n, u32 (&room)[AT_ONCE]) const {
    if (list) return list + first;
    for (i64 i = 0; i < n; i++) room[i] = u32(first + i);
    return room;
  }
};

struct Records {
  Arena& arena;
  Blocks& s;
  const Field* fields;
  int width;

  // -- blocks -----------------------------------------------------------------------------------

  static u32 number_of(u32 block, u32 at) { return block << 16 | at; }
  Block& block(u32 number) const { return *arena.at<Block>(arena.at<u64>(s.directory)[number]); }
  Block& open() const { return block(s.open - 1); }
  bool is_block(u32 number) const { return !(arena.at<u64>(s.directory)[number] & 1); }
  char* group(const Block& b, u64 at) const { return arena.at<char>(b.rows + at / GROUP * b.stride); }
  Spot spot(const Block& b, u64 at) const { return Spot{&b, group(b, at), u32(at % GROUP)}; }
  Spot spot(u32 row) const { return spot(block(row >> 16), row & 0xffff); }
  i32& count(u32 row) const { return spot(row).count(); }

  i64* fences(const Block& b) const { return arena.at<i64>(b.fences); }
  i64* posts(const Block& b) const { return fences(b) + b.room / GROUP; }
  static u64 fence_bytes(const Block& b) { return (u64(b.room) / GROUP + b.room / (GROUP * SPAN)) * sizeof(i64); }
  void free_fences(Block& b) const {
    if (b.fences) arena.give(b.fences, fence_bytes(b));
    b.fences = 0;
  }

  u64 header_bytes() const { return sizeof(Block) + u64(width) * sizeof(Place); }

  // Gives the columns of a block, whose sizes are known, their places, wide ones first.
  void lay_out(Block& b) const {
    u32 at = GROUP * sizeof(i32);
    for (u32 size = 16; size; size /= 2) {
      for (int c = 0; c < width; c++) {
        if (b.column[c].size != size) continue;
        b.column[c].at = at;
        at += GROUP * size;
      }
    }
    b.stride = round_up(at, 32);
  }
  u64 row_memory(const Block& b) const { return b.room / GROUP * b.stride; }

  // How many rows the next block has room for, if so many come.
  u32 next_room(u64 rows) const {
    u64 wanted = rows > s.live / 2 ? rows : s.live / 2, room = FEWEST_ROWS;
    while (room < wanted && room < MOST_ROWS) room *= 2;
    return u32(room);
  }

  u32 new_number() {
    if (s.free) {
      const u32 number = s.free - 1;
      s.free = u32(arena.at<u64>(s.directory)[number] >> 1);
      return number;
    }
    if (s.count == s.places) {
      const u32 more = s.places ? 2 * s.places : 16;
      const u64 copy = arena.take(u64(more) * 8);
      if (s.places) memcpy(arena.at<u64>(copy), arena.at<u64>(s.directory), u64(s.places) * 8);
      if (s.places) arena.give(s.directory, u64(s.places) * 8);
      s.directory = copy;
      s.places = more;
    }
    return s.count++;
  }

  // A block for rows of a batch.
  __attribute__((noinline)) void add_block(const Batch& from, Picked rows, i64 n) {
    const u32 room = next_room(u64(n)), number = new_number();
    const u64 at = arena.take(header_bytes());
    Block& b = *arena.at<Block>(at);
    memset(static_cast<void*>(&b), 0, header_bytes());
    b.room = room;
    b.before = s.open;
    for (int c = 0; c < width; c++) {
      const u32 size = s.open ? open().column[c].size : 1;
      b.column[c].size = size > 8 ? 8 : size;
    }
    widen(b, from, rows, n < i64(room) ? n : i64(room));
    lay_out(b);
    b.rows = arena.take(row_memory(b));
    if (s.sorted) b.fences = arena.take(fence_bytes(b));
    arena.at<u64>(s.directory)[number] = at;
    s.open = number + 1;
  }

  u64 text_bytes(const Block& b) const {
    u64 out = 0;
    for (u64 at = b.texts; at; at = arena.at<Piece>(at)->next) out += arena.at<Piece>(at)->size;
    return out;
  }

  void free_texts(Block& b, u64 until) {
    while (b.texts != until) {
      const Piece piece = *arena.at<Piece>(b.texts);
      arena.give(b.texts, piece.size);
      b.texts = piece.next;
    }
  }

  void free_block(u32 number) {
    u64& entry = arena.at<u64>(s.directory)[number];
    Block& b = *arena.at<Block>(entry);
    free_texts(b, 0);
    free_fences(b);
    arena.give(b.rows, row_memory(b));
    arena.give(entry, header_bytes());
    entry = u64(s.free) << 1 | 1;
    s.free = number + 1;
  }

  Mark mark() const {
    if (!s.open) return Mark{0, 0, 0, 0, 0};
    const Block& b = open();
    return Mark{s.open, b.used, b.texts, b.text_at, b.text_end};
  }

  // Cuts off the rows that came after a mark; those that still count must be out of `live` by now.
  void rewind(const Mark& m) {
    while (s.open != m.open) {
      const u32 number = s.open - 1;
      s.open = block(number).before;
      free_block(number);
    }
    if (!s.open) return;
    Block& b = open();
    free_texts(b, m.texts);
    b.text_at = m.text_at;
    b.text_end = m.text_end;
    b.used = m.used;
  }

  // -- writing ----------------------------------------------------------------------------------

  // Memory for texts of a block. Many at once get a piece of their own, so that the one that is begun
  // is filled up.
  u64 text_room(Block& b, u64 bytes) {
    if (__builtin_expect(bytes > b.text_end - b.text_at, 0)) {
      const bool own = bytes >= LARGE_PIECE / 4;
      u64 size = b.texts ? 2 * arena.at<Piece>(b.texts)->size : 1024;
      if (size > LARGE_PIECE) size = LARGE_PIECE;
      if (own || size < bytes + sizeof(Piece)) size = bytes + sizeof(Piece);
      const u64 at = arena.take(size);
      *arena.at<Piece>(at) = Piece{b.texts, size};
      b.texts = at;
      if (own) return at + sizeof(Piece);
      b.text_at = at + sizeof(Piece);
      b.text_end = at + size;
    }
    const u64 at = b.text_at;
    b.text_at += bytes;
    return at;
  }

  Sym put_text(Block& b, Str text) {
    if (is_null(text)) return null<Sym>();
    if (text.size <= 7) return Strings::pack(text);
    const bool is_long = text.size > Strings::placed_most;
    u64 at = text_room(b, text.size + (is_long ? 8 : 0));
    if (is_long) {
      at = round_up(at, 4);
      *arena.at<u32>(at) = text.size;
      memcpy(arena.at<char>(at + 4), text.at, text.size);
      return Sym{Strings::long_mark | at};
    }
    memcpy(arena.at<char>(at), text.at, text.size);
    return Strings::placed(at, text.size);
  }

  // The symbol of a text of up to seven bytes; `end` is that of what may be read.
  static Sym short_text(const char* at, u64 size, const char* end) {
    if (__builtin_expect(at + 8 > end, 0)) return Strings::pack(Str{at, u32(size)});
    u64 bits;
    memcpy(&bits, at, 8);
    return Sym{(bits & ((u64(1) << 8 * size) - 1)) | size << 56};
  }

  Lanes lanes(const Block& b, u32 place, u64 from) const {
    return Lanes{group(b, from) + place, b.stride, u32(from % GROUP)};
  }

  // Copies texts that lie behind each other, all those from a row to another one with what is between
  // them: where they lie then, less where they lay. 0 where they are written one by one.
  template <class T> u64 copy_joined(Block& b, const JoinedTexts& from, Picked rows, i64 n) {
    const T* offset = static_cast<const T*>(from.offsets);
    u64 longest = 0, sum = 0;
    for (i64 i = 0; i < n; i += AT_ONCE) {
      u32 room[AT_ONCE];
      const i64 some = n - i < AT_ONCE ? n - i : AT_ONCE;
      const u32* run = rows.from(i).listed(some, room);
      for (i64 j = 0; j < some; j++) {
        const u64 bytes = u64(offset[run[j] + 1] - offset[run[j]]);
        longest = bytes > longest ? bytes : longest;
        sum += bytes;
      }
    }
    if (longest <= 7 || longest > Strings::placed_most) return 0;
    u32 first[AT_ONCE], last[AT_ONCE];
    const i64 begin = offset[*rows.listed(1, first)], end = offset[*rows.from(n - 1).listed(1, last) + 1];
    if (u64(end - begin) > 2 * sum) return 0;
    const u64 at = text_room(b, u64(end - begin));
    memcpy(arena.at<char>(at), from.bytes + begin, u64(end - begin));
    return at - u64(begin);
  }

  u64 copy_texts(Block& b, int c, const Batch& from, Picked rows, i64 n) {
    const JoinedTexts* joined = static_cast<const JoinedTexts*>(from.column[c]);
    if (from.form_of(c) == Joined32) return copy_joined<i32>(b, *joined, rows, n);
    if (from.form_of(c) == Joined64) return copy_joined<i64>(b, *joined, rows, n);
    return 0;
  }

  // The symbols of texts, which are short or were copied.
  template <class T>
  void write_joined(Block& b, Lanes out, const JoinedTexts& from, const u32* rows, i64 n, u64 copied) {
    const T* offset = static_cast<const T*>(from.offsets);
    const char* end = from.bytes + offset[rows[n - 1] + 1];
    for (i64 i = 0; i < n; i++) {
      const T begin = offset[rows[i]];
      const u64 size = u64(offset[rows[i] + 1] - begin);
      if (copied) {  // no branch, as sizes differ
        const Sym near = short_text(from.bytes + begin, size & 7, end);
        const Sym far = Strings::placed(copied + u64(begin), u32(size));
        out.put(i, size <= 7 ? near : far);
      } else {
        out.put(i, size <= 7 ? short_text(from.bytes + begin, size, end) : put_text(b, Str{from.bytes + begin, u32(size)}));
      }
    }
  }

  // Texts of up to one byte; false where one has more.
  template <class T> static bool write_letters(Lanes out, const JoinedTexts& from, const u32* rows, i64 n) {
    const T* offset = static_cast<const T*>(from.offsets);
    u64 longest = 0;
    for (i64 i = 0; i < n; i++) {
      const u64 size = u64(offset[rows[i] + 1] - offset[rows[i]]);
      longest |= size;
      out.put(i, u16(size << 8 | (size ? u8(from.bytes[offset[rows[i]]]) : 0)));
    }
    return longest <= 1;
  }

  bool write_texts(Block& b, Lanes out, int c, const Batch& from, const u32* rows, i64 n, u64 copied) {
    const Form form = from.form_of(c);
    const JoinedTexts* joined = static_cast<const JoinedTexts*>(from.column[c]);
    if (b.column[c].size == 2) {
      if (form == Joined32) return write_letters<i32>(out, *joined, rows, n);
      if (form == Joined64) return write_letters<i64>(out, *joined, rows, n);
      for (i64 i = 0; i < n; i++) {
        const Str text = text_of(from, c, rows[i]);
        if (text.size > 1) return false;
        out.put(i, letter_of(is_null(text) ? null<Sym>() : Strings::pack(text)));
      }
    } else if (form == Joined32) {
      write_joined<i32>(b, out, *joined, rows, n, copied);
    } else if (form == Joined64) {
      write_joined<i64>(b, out, *joined, rows, n, copied);
    } else {
      for (i64 i = 0; i < n; i++) out.put(i, put_text(b, text_of(from, c, rows[i])));
    }
    return true;
  }

  // The values of some rows side by side: where they lie, if they do already.
  template <class T> static const T* side_by_side(const void* column, const u32* rows, i64 n, T (&room)[AT_ONCE]) {
    const T* from = static_cast<const T*>(column);
    if (n && i64(rows[n - 1]) - i64(rows[0]) == n - 1) return from + rows[0];
    for (i64 i = 0; i < n; i++) room[i] = from[rows[i]];
    return room;
  }

  // The same of decimals, if they have 64 bits.
  static const i64* narrow_decimals(const Batch& b, int c, const u32* rows, i64 n, i64 (&room)[AT_ONCE]) {
    if (b.form_of(c) == Narrow) return side_by_side(b.column[c], rows, n, room);
    bool fit = true;
    for (i64 i = 0; i < n; i++) {
      const i128 x = decimal_of(b, c, rows[i]);
      fit &= fits_narrow(x);
      room[i] = resized<i64>(x);
    }
    return fit ? room : nullptr;
  }

  static bool write_decimals(Lanes out, u32 size, int c, const Batch& from, const u32* rows, i64 n) {
    i64 room[AT_ONCE];
    if (size < 16) {
      const i64* narrow = narrow_decimals(from, c, rows, n, room);
      return narrow && put_integers(out, size, narrow, n);
    }
    for (i64 i = 0; i < n; i++) out.put(i, decimal_of(from, c, rows[i]));
    return true;
  }

  // Writes a column behind the rows of a block; false where it needs more room.
  bool write_column(Block& b, int c, const Batch& from, const u32* rows, i64 n, u64 copied) {
    const u32 size = b.column[c].size;
    const Lanes out = lanes(b, b.column[c].at, b.used);
    i64 longs[AT_ONCE];
    i32 dates[AT_ONCE];
    i8 truths[AT_ONCE];
    switch (fields[c].kind) {
      case Text: return write_texts(b, out, c, from, rows, n, copied);
      case Decimal128: return write_decimals(out, size, c, from, rows, n);
      case Date: return put_integers(out, size, side_by_side(from.column[c], rows, n, dates), n);
      case Bool: put_numbers<i8>(out, side_by_side(from.column[c], rows, n, truths), n); return true;
      case Double: put_numbers<i64>(out, side_by_side(from.column[c], rows, n, longs), n); return true;
      default: return put_integers(out, size, side_by_side(from.column[c], rows, n, longs), n);
    }
  }

  // The bytes that a column needs for some rows.
  u32 size_for(int c, const Batch& from, const u32* rows, i64 n) const {
    i64 longs[AT_ONCE];
    i32 dates[AT_ONCE];
    const i64* narrow;
    u32 longest = 0;
    switch (fields[c].kind) {
      case Text:
        for (i64 i = 0; i < n; i++) longest |= text_of(from, c, rows[i]).size;
        return longest <= 1 ? 2 : 8;
      case Decimal128:
        narrow = narrow_decimals(from, c, rows, n, longs);
        return narrow ? bytes_for(narrow, n) : 16;
      case Date: return bytes_for(side_by_side(from.column[c], rows, n, dates), n);
      case Bool: return 1;
      case Double: return 8;
      default: return bytes_for(side_by_side(from.column[c], rows, n, longs), n);
    }
  }

  // Makes the columns of a block, which has no places yet, wide enough for rows of a batch.
  void widen(Block& b, const Batch& from, Picked rows, i64 n) const {
    u32 room[AT_ONCE];
    for (i64 i = 0; i < n; i += AT_ONCE) {
      const i64 some = n - i < AT_ONCE ? n - i : AT_ONCE;
      const u32* run = rows.from(i).listed(some, room);
      for (int c = 0; c < width; c++) {
        const u32 size = size_for(c, from, run, some);
        if (b.column[c].size < size) b.column[c].size = size;
      }
    }
  }

  // Moves a value to a place of another width.
  void resize(const Spot& from, const Spot& to, int c) const {
    const u32 size = to.block->column[c].size;
    if (from.block->column[c].size == size) {
      memcpy(to.at(c), from.at(c), size);
    } else if (fields[c].kind == Text) {
      const Sym x = from.symbol(c);
      memcpy(to.at(c), &x, 8);
    } else {
      const i128 x = from.decimal(c);
      const Lanes out{to.at(c), 0, 0};
      if (size == 16) out.put(0, x);
      else if (size == 8) out.put(0, resized<i64>(x));
      else if (size == 4) out.put(0, resized<i32>(x));
      else out.put(0, resized<i16>(x));
    }
  }

  // Lays a block out anew for the rest of a batch, of which it holds some columns of the first rows.
  __attribute__((noinline)) void lay_out_anew(Block& b, const Batch& from, Picked rows, i64 rest, i64 written) {
    Block* old = static_cast<Block*>(__builtin_alloca(header_bytes()));
    memcpy(static_cast<void*>(old), &b, header_bytes());
    widen(b, from, rows, rest);
    lay_out(b);
    b.rows = arena.take(row_memory(b));
    for (u64 i = 0; i < b.used + u64(written); i++) {
      const Spot one = spot(*old, i), other = spot(b, i);
      other.count() = one.count();
      for (int c = 0; c < width; c++) resize(one, other, c);
    }
    arena.give(old->rows, row_memory(*old));
  }

  // Adds rows at the end; `then(number, i, n)` is told the numbers of rows i to i + n.
  template <class F>
  __attribute__((noinline)) void append(const Batch& from, Picked rows, i64 n, F then) {
    u64* copied = static_cast<u64*>(__builtin_alloca(size_t(width) * sizeof(u64)));
    for (i64 i = 0; i < n;) {
      if (!s.open || open().used == open().room) add_block(from, rows.from(i), n - i);
      Block& b = open();
      const i64 end = i + (b.room - b.used < n - i ? b.room - b.used : n - i);
      for (int c = 0; c < width; c++)
        copied[c] = fields[c].kind == Text ? copy_texts(b, c, from, rows.from(i), end - i) : 0;
      while (i < end) {
        const i64 some = end - i < AT_ONCE ? end - i : AT_ONCE;  // what is written stays near
        const u32 number = number_of(s.open - 1, b.used);
        write_rows(b, from, rows.from(i), some, end - i, copied);
        then(number, i, some);
        i += some;
      }
    }
  }

  // Writes n rows, the first of as many as the block will take (`rest`).
  void write_rows(Block& b, const Batch& from, Picked rows, i64 n, i64 rest, const u64* copied) {
    u32 room[AT_ONCE];
    i64 counts[AT_ONCE];
    const u32* run = rows.listed(n, room);
    for (int c = 0; c < width; c++) {
      if (write_column(b, c, from, run, n, copied[c])) continue;
      lay_out_anew(b, from, rows, rest, n);
      write_column(b, c, from, run, n, copied[c]);
    }
    put_numbers<i32>(lanes(b, 0, b.used), side_by_side(from.count, run, n, counts), n);
    b.used += u32(n);
    b.live += u32(n);
    s.live += u64(n);
  }

  // -- comparing --------------------------------------------------------------------------------

  Str text_at(Spot x, int c) const {
    const Sym sym = x.symbol(c);
    if (sym.bits >= Strings::placed_mark) return Strings::get_long(arena, sym);
    return Str{x.at(c), u32(sym.bits >> 56)};  // a short one lies in its symbol
  }

  bool same_text(Sym stored, Str text) const {
    if (stored.bits < Strings::placed_mark)
      return text.at && text.size <= 7 && Strings::pack(text) == stored;
    const Str held = Strings::get_long(arena, stored);
    if (is_null(held) || is_null(text)) return is_null(held) && is_null(text);
    return held.size == text.size && same_bytes(held.at, text.at, text.size);
  }

  // Most texts are shorter than a call is long; the last word may overlap the one before it.
  static bool same_bytes(const char* a, const char* b, u32 n) {
    if (n < 8 || n > 64) return memcmp(a, b, n) == 0;
    auto word_at = [](const char* at) { u64 x; memcpy(&x, at, 8); return x; };
    u64 differs = word_at(a + n - 8) ^ word_at(b + n - 8);
    for (u32 i = 0; i + 8 < n; i += 8) differs |= word_at(a + i) ^ word_at(b + i);
    return !differs;
  }

  bool same_value(Spot x, int c, const Batch& b, i64 i) const {
    switch (fields[c].kind) {
      case Text: return same_text(x.symbol(c), text_of(b, c, i));
      case Decimal128: return x.decimal(c) == decimal_of(b, c, i);
      case Date: return x.date(c) == static_cast<const i32*>(b.column[c])[i];
      case Bool: return x.get<i8>(c) == static_cast<const i8*>(b.column[c])[i];
      default: return x.integer(c) == static_cast<const i64*>(b.column[c])[i];
    }
  }

  bool same_row(Spot x, const Batch& b, i64 i) const {
    for (int c = 0; c < width; c++)
      if (!same_value(x, c, b, i)) return false;
    return true;
  }

  bool same_key(Spot x, const Batch& b, i64 i) const {
    for (int c = 0; c < width; c++)
      if (fields[c].key && !same_value(x, c, b, i)) return false;
    return true;
  }

  bool same_stored(Spot x, Spot y, bool key_only) const {
    for (int c = 0; c < width; c++) {
      if (key_only && !fields[c].key) continue;
      const Kind kind = fields[c].kind;
      bool same;
      if (kind == Text) same = same_text(x.symbol(c), text_at(y, c));
      else if (kind == Decimal128) same = x.decimal(c) == y.decimal(c);
      else same = x.integer(c) == y.integer(c);
      if (!same) return false;
    }
    return true;
  }

  // What a comparison of these rows reads is asked for before any of it is used.
  void fetch_rows(const Spot* spots, i64 n) const {
    for (i64 i = 0; i < n; i++) {
      if (spots[i].block->stride <= u64(width) * 64) {
        for (u64 at = 0; at < spots[i].block->stride; at += 64) fetch(spots[i].group + at);
        continue;
      }
      fetch(&spots[i].count());
      for (int c = 0; c < width; c++) fetch(spots[i].at(c));
    }
  }

  void fetch_texts(const Spot* spots, i64 n, int c) const {
    for (i64 i = 0; i < n; i++) {
      const Sym sym = spots[i].symbol(c);
      if (sym.bits < Strings::placed_mark || is_null(sym)) continue;
      fetch(arena.at<char>(sym.bits & ((u64(1) << 40) - 1)));
    }
  }

  template <class T, class Stored>
  static void compare_all(const Spot* spots, Place place, const T* values, const u32* rows, i64 n, u8* same) {
    for (i64 i = 0; i < n; i++) {
      Stored x;
      memcpy(&x, spots[i].group + place.at + spots[i].lane * sizeof(Stored), sizeof(Stored));
      same[i] &= resized<T>(x) == values[rows[i]];
    }
  }

  // Most rows are in blocks that are laid out alike.
  template <class T>
  static void compare_numbers(const Spot* spots, int c, const void* column, const u32* rows, i64 n, u8* same) {
    const T* values = static_cast<const T*>(column);
    const Place place = spots[0].block->column[c];
    bool alike = true;
    for (i64 i = 1; i < n; i++) {
      const Place other = spots[i].block->column[c];
      alike &= other.at == place.at && other.size == place.size;
    }
    if (!alike) {
      for (i64 i = 0; i < n; i++) same[i] &= spots[i].integer(c) == resized<i64>(values[rows[i]]);
      return;
    }
    switch (place.size) {
      case 1: return compare_all<T, i8>(spots, place, values, rows, n, same);
      case 2: return compare_all<T, i16>(spots, place, values, rows, n, same);
      case 4: return compare_all<T, i32>(spots, place, values, rows, n, same);
      default: return compare_all<T, i64>(spots, place, values, rows, n, same);
    }
  }

  static void compare_decimals(const Spot* spots, int c, const Batch& b, const u32* rows, i64 n, u8* same) {
    bool narrow = b.form_of(c) == Narrow;
    for (i64 i = 0; i < n; i++) narrow &= spots[i].block->column[c].size <= 8;
    if (narrow) return compare_numbers<i64>(spots, c, b.column[c], rows, n, same);
    for (i64 i = 0; i < n; i++) same[i] &= spots[i].decimal(c) == decimal_of(b, c, rows[i]);
  }

  template <class Text>
  void compare_texts(const Spot* spots, int c, const u32* rows, i64 n, u8* same, Text text) const {
    for (i64 i = 0; i < n; i++) same[i] &= same_text(spots[i].symbol(c), text(rows[i]));
  }

  // Clears `same` of the stored rows that differ from those of a batch.
  void compare(const Spot* spots, const Batch& b, const u32* rows, i64 n, u8* same) const {
    for (int c = 0; c < width; c++)
      if (fields[c].kind == Text) fetch_texts(spots, n, c);
    for (int c = 0; c < width; c++) {
      const JoinedTexts* joined = static_cast<const JoinedTexts*>(b.column[c]);
      const Str* plain = static_cast<const Str*>(b.column[c]);
      switch (fields[c].kind) {
        case Date: compare_numbers<i32>(spots, c, b.column[c], rows, n, same); break;
        case Bool: compare_numbers<i8>(spots, c, b.column[c], rows, n, same); break;
        case Decimal128: compare_decimals(spots, c, b, rows, n, same); break;
        case Text:
          if (b.form_of(c) == Joined32)
            compare_texts(spots, c, rows, n, same, [=](u32 i) { return joined->at<i32>(i); });
          else if (b.form_of(c) == Joined64)
            compare_texts(spots, c, rows, n, same, [=](u32 i) { return joined->at<i64>(i); });
          else
            compare_texts(spots, c, rows, n, same, [=](u32 i) { return plain[i]; });
          break;
        default: compare_numbers<i64>(spots, c, b.column[c], rows, n, same);
      }
    }
  }

  // -- hashing ----------------------------------------------------------------------------------

  u64 word_at(Spot x, int c) const {
    switch (fields[c].kind) {
      case Text: return text_word(text_at(x, c));
      case Decimal128: return decimal_word(x.decimal(c));
      case Date: return word(x.date(c));
      case Bool: return word(x.get<i8>(c));
      default: return word(x.integer(c));
    }
  }

  // Where the last bits of integers go, which are not mixed into hashes; nowhere as long as `low` is null.
  struct Apart {
    u64* low;
    u32 bits;

    void mix_in(u64 x, i64 i, u64& hash) const {
      hash = mix(hash, x >> bits);
      low[i] = x & ((u64(1) << bits) - 1);
    }
  };

  // Mixes a column of stored rows that lie side by side into their hashes.
  void mix_stored(const Block& b, u32 from, int c, i64 n, u64* hash, Apart apart) const {
    for (i64 i = 0; i < n; i++) {
      const u64 x = word_at(spot(b, u64(from + i)), c);
      if (apart.low) apart.mix_in(x, i, hash[i]);
      else hash[i] = mix(hash[i], x);
    }
  }

  template <class T> static void mix_numbers(const void* column, const u32* rows, i64 n, u64* hash) {
    const T* from = static_cast<const T*>(column);
    for (i64 i = 0; i < n; i++) hash[i] = mix(hash[i], word(from[rows[i]]));
  }

  // The same of rows of a batch.
  void mix_batch_rows(const Batch& b, int c, const u32* rows, i64 n, u64* hash, Apart apart) const {
    if (apart.low) {
      const i64* column = static_cast<const i64*>(b.column[c]);
      for (i64 i = 0; i < n; i++) apart.mix_in(word(column[rows[i]]), i, hash[i]);
      return;
    }
    switch (fields[c].kind) {
      case Text:
        for (i64 i = 0; i < n; i++) hash[i] = mix(hash[i], text_word(text_of(b, c, rows[i])));
        return;
      case Decimal128:
        for (i64 i = 0; i < n; i++) hash[i] = mix(hash[i], decimal_word(decimal_of(b, c, rows[i])));
        return;
      case Date: return mix_numbers<i32>(b.column[c], rows, n, hash);
      case Bool: return mix_numbers<i8>(b.column[c], rows, n, hash);
      default: return mix_numbers<i64>(b.column[c], rows, n, hash);
    }
  }

  // -- moving -----------------------------------------------------------------------------------

  template <class T, class Value> static const T* gathered(i64 n, Arena& scratch, Value value) {
    T* out = scratch.at<T>(scratch.take(u64(n) * sizeof(T)));
    for (i64 i = 0; i < n; i++) out[i] = value(i);
    return out;
  }

  // Rows of a block as a batch, so that they can be added elsewhere; it lives in scratch memory.
  Batch as_batch(const Block& b, const u32* rows, i64 n, Arena& scratch) const {
    const void** column = scratch.at<const void*>(scratch.take(u64(width + 1) * sizeof(void*)));
    Form* form = scratch.at<Form>(scratch.take(u64(width + 1) * sizeof(Form)));
    i64* count = scratch.at<i64>(scratch.take(u64(n) * sizeof(i64)));
    for (i64 i = 0; i < n; i++) count[i] = spot(b, rows[i]).count();
    for (int c = 0; c < width; c++) {
      auto at = [&](i64 i) { return spot(b, rows[i]); };
      form[c] = fields[c].kind == Decimal128 && b.column[c].size <= 8 ? Narrow : Plain;
      if (fields[c].kind == Text)
        column[c] = gathered<Str>(n, scratch, [&](i64 i) { return text_at(at(i), c); });
      else if (fields[c].kind == Date)
        column[c] = gathered<i32>(n, scratch, [&](i64 i) { return at(i).date(c); });
      else if (fields[c].kind == Bool)
        column[c] = gathered<i8>(n, scratch, [&](i64 i) { return at(i).get<i8>(c); });
      else if (b.column[c].size == 16)
        column[c] = gathered<i128>(n, scratch, [&](i64 i) { return at(i).decimal(c); });
      else
        column[c] = gathered<i64>(n, scratch, [&](i64 i) { return at(i).integer(c); });
    }
    return Batch{n, count, column, form};
  }
};

}  // namespace fr
