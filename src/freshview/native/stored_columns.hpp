// The rows of a relation as columns, in blocks: how they are written, compared, hashed and moved.
//
// A block holds up to 65,536 rows: an array for each column, one of counts, and pieces of memory with
// the texts. Rows are only added to the block that is open; one that is full is closed. A row that is
// gone counts -1 and leaves a hole; `row_store.cpp` moves the rest of a block elsewhere where most
// of it is holes. A row's number is that of its block, then its place in it.
//
// Values lie as `value.hpp` has them, decimals in 64 bits as long as those of a block fit. A text of
// up to seven bytes is its symbol; the symbol of a longer one says where it lies (`strings.hpp`).
#pragma once

#include "kernel.hpp"

namespace fr {

struct Field {
  Kind kind;
  bool key;
};

struct Place {  // the values of a column in a block
  u64 at;
  u64 size;  // bytes of each
};

struct Piece {  // what memory for texts begins with
  u64 next, size;
};

struct Block {
  u32 room, used, live;
  u32 before;             // the block that was open before it, plus 1
  u64 counts;             // i32 each: how often a row is there; -1 for one that is gone
  u64 texts;              // the piece that texts are put into
  u64 text_at, text_end;  // what is free of it
  Place column[1];        // as many as the relation has
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
};

constexpr u32 MOST_ROWS = 65536, FEWEST_ROWS = 64;  // of a block
constexpr i64 AT_ONCE = 256;                        // rows that are looked at together

// Decimals hash alike whatever their width.
inline u64 decimal_word(i128 x) { return i64(x) == x ? word(i64(x)) : word(x); }
inline i128 widened(i64 x) { return is_null(x) ? null<i128>() : i128(x); }
inline bool fits_narrow(i128 x) { return is_null(x) || (i64(x) == x && !is_null(i64(x))); }
inline i64 narrowed(i128 x) { return is_null(x) ? null<i64>() : i64(x); }

inline Str text_of(const Batch& b, int c, i64 i) {
  if (b.form_of(c) == Joined32) return static_cast<const Joined*>(b.column[c])->at<i32>(i);
  if (b.form_of(c) == Joined64) return static_cast<const Joined*>(b.column[c])->at<i64>(i);
  return static_cast<const Str*>(b.column[c])[i];
}

inline i128 decimal_of(const Batch& b, int c, i64 i) {
  if (b.form_of(c) == Narrow) return widened(static_cast<const i64*>(b.column[c])[i]);
  return static_cast<const i128*>(b.column[c])[i];
}

inline u64 text_word(Str text) {
  if (is_null(text)) return null<Sym>().bits;
  return text.size <= 7 ? Strings::pack(text).bits : text_hash(text);
}

// Rows of a batch: all from one on, or those of a list.
struct Picked {
  const u32* list;
  i64 first;

  i64 operator[](i64 i) const { return list ? list[first + i] : first + i; }
  Picked from(i64 i) const { return Picked{list, first + i}; }
};

// A row that is stored.
struct Spot {
  const Block* block;
  u32 at;
};

struct Columns {
  Arena& arena;
  Blocks& s;
  const Field* fields;
  int width;

  // -- blocks -----------------------------------------------------------------------------------

  static u32 number_of(u32 block, u32 at) { return block << 16 | at; }
  Block& block(u32 number) const { return *arena.at<Block>(arena.at<u64>(s.directory)[number]); }
  Block& open() const { return block(s.open - 1); }
  Spot spot(u32 row) const { return Spot{&block(row >> 16), row & 0xffff}; }
  bool is_block(u32 number) const { return !(arena.at<u64>(s.directory)[number] & 1); }
  i32* counts(const Block& b) const { return arena.at<i32>(b.counts); }
  i32& count(u32 row) const { return counts(block(row >> 16))[row & 0xffff]; }
  template <class T> T* values(const Block& b, int c) const { return arena.at<T>(b.column[c].at); }

  u64 header_bytes() const { return sizeof(Block) + u64(width) * sizeof(Place); }
  static u64 size_of(Kind kind) { return kind == Date ? 4 : kind == Bool ? 1 : 8; }
  static u64 row_bytes(const Field* fields, int width) {
    u64 bytes = 4;
    for (int c = 0; c < width; c++) bytes += fields[c].kind == Decimal128 ? 16 : size_of(fields[c].kind);
    return bytes;
  }

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

  __attribute__((noinline)) void add_block(u64 rows) {
    const u32 room = next_room(rows), number = new_number();
    const u64 at = arena.take(header_bytes());
    Block& b = *arena.at<Block>(at);
    memset(static_cast<void*>(&b), 0, header_bytes());
    b.room = room;
    b.before = s.open;
    b.counts = arena.take(u64(room) * 4);
    for (int c = 0; c < width; c++) {
      const u64 size = size_of(fields[c].kind);
      b.column[c] = Place{arena.take(u64(room) * size), size};
    }
    arena.at<u64>(s.directory)[number] = at;
    s.open = number + 1;
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
    for (int c = 0; c < width; c++) arena.give(b.column[c].at, u64(b.room) * b.column[c].size);
    arena.give(b.counts, u64(b.room) * 4);
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

  // Memory for texts of a block.
  u64 text_room(Block& b, u64 bytes) {
    if (__builtin_expect(bytes > b.text_end - b.text_at, 0)) {
      u64 size = b.texts ? 2 * arena.at<Piece>(b.texts)->size : 1024;
      if (size > u64(1) << 20) size = u64(1) << 20;
      if (size < bytes + sizeof(Piece)) size = bytes + sizeof(Piece);
      const u64 at = arena.take(size);
      *arena.at<Piece>(at) = Piece{b.texts, size};
      b.texts = at;
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

  // Texts that lie behind each other are copied together, the short ones with the others.
  template <class T> void write_joined(Block& b, Sym* out, const Joined& from, Picked rows, i64 n) {
    const T* offset = static_cast<const T*>(from.offsets);
    auto size = [&](i64 r) { return u64(offset[r + 1] - offset[r]); };
    u64 longest = 0, sum = 0;
    for (i64 i = 0; i < n; i++) {
      const u64 bytes = size(rows[i]);
      longest = bytes > longest ? bytes : longest;
      sum += bytes;
    }
    const i64 first = rows[0], last = rows[n - 1];
    const char* end = from.bytes + offset[last + 1];
    const u64 range = u64(offset[last + 1] - offset[first]);
    if (longest <= 7) {
      for (i64 i = 0; i < n; i++) {
        const i64 r = rows[i];
        out[i] = short_text(from.bytes + offset[r], size(r), end);
      }
    } else if (longest <= Strings::placed_most && range <= 2 * sum) {
      const u64 at = text_room(b, range);
      memcpy(arena.at<char>(at), from.bytes + offset[first], range);
      for (i64 i = 0; i < n; i++) {
        const i64 r = rows[i];
        const u64 bytes = size(r);
        if (bytes <= 7) out[i] = short_text(from.bytes + offset[r], bytes, end);
        else out[i] = Strings::placed(at + u64(offset[r] - offset[first]), u32(bytes));
      }
    } else {
      for (i64 i = 0; i < n; i++) out[i] = put_text(b, from.at<T>(rows[i]));
    }
  }

  void write_texts(Block& b, int c, const Batch& from, Picked rows, i64 n) {
    Sym* out = values<Sym>(b, c) + b.used;
    const Form form = from.form_of(c);
    const Joined* joined = static_cast<const Joined*>(from.column[c]);
    for (i64 i = 0; i < n; i += AT_ONCE) {
      const i64 some = n - i < AT_ONCE ? n - i : AT_ONCE;
      if (form == Joined32) write_joined<i32>(b, out + i, *joined, rows.from(i), some);
      else if (form == Joined64) write_joined<i64>(b, out + i, *joined, rows.from(i), some);
      else for (i64 j = i; j < i + some; j++) out[j] = put_text(b, text_of(from, c, rows[j]));
    }
  }

  template <class T> void write_numbers(Block& b, int c, const void* column, Picked rows, i64 n) {
    const T* from = static_cast<const T*>(column);
    T* out = values<T>(b, c) + b.used;
    if (!rows.list) memcpy(out, from + rows.first, size_t(n) * sizeof(T));
    else for (i64 i = 0; i < n; i++) out[i] = from[rows.list[rows.first + i]];
  }

  void widen_column(Block& b, int c) {
    const u64 wide = arena.take(u64(b.room) * 16);
    for (u32 i = 0; i < b.used; i++) arena.at<i128>(wide)[i] = widened(values<i64>(b, c)[i]);
    arena.give(b.column[c].at, u64(b.room) * 8);
    b.column[c] = Place{wide, 16};
  }

  void write_decimals(Block& b, int c, const Batch& from, Picked rows, i64 n) {
    if (from.form_of(c) == Narrow && b.column[c].size == 8)
      return write_numbers<i64>(b, c, from.column[c], rows, n);
    for (i64 i = 0; i < n && b.column[c].size == 8; i++)
      if (!fits_narrow(decimal_of(from, c, rows[i]))) widen_column(b, c);
    if (b.column[c].size == 8) {
      i64* out = values<i64>(b, c) + b.used;
      for (i64 i = 0; i < n; i++) out[i] = narrowed(decimal_of(from, c, rows[i]));
    } else {
      i128* out = values<i128>(b, c) + b.used;
      for (i64 i = 0; i < n; i++) out[i] = decimal_of(from, c, rows[i]);
    }
  }

  void write_column(Block& b, int c, const Batch& from, Picked rows, i64 n) {
    switch (fields[c].kind) {
      case Text: return write_texts(b, c, from, rows, n);
      case Decimal128: return write_decimals(b, c, from, rows, n);
      case Date: return write_numbers<i32>(b, c, from.column[c], rows, n);
      case Bool: return write_numbers<i8>(b, c, from.column[c], rows, n);
      default: return write_numbers<i64>(b, c, from.column[c], rows, n);
    }
  }

  // Adds rows at the end; `then(number, i, n)` is told the numbers of rows i to i + n.
  template <class F> void append(const Batch& from, Picked rows, i64 n, F then) {
    for (i64 i = 0; i < n;) {
      if (!s.open || open().used == open().room) add_block(u64(n - i));
      Block& b = open();
      const i64 some = b.room - b.used < n - i ? b.room - b.used : n - i;
      for (int c = 0; c < width; c++) write_column(b, c, from, rows.from(i), some);
      i32* out = counts(b) + b.used;
      for (i64 j = 0; j < some; j++) out[j] = i32(from.count[rows[i + j]]);
      const u32 number = number_of(s.open - 1, b.used);
      b.used += u32(some);
      b.live += u32(some);
      s.live += u64(some);
      then(number, i, some);
      i += some;
    }
  }

  // -- comparing --------------------------------------------------------------------------------

  i128 decimal_at(Spot x, int c) const {
    if (x.block->column[c].size == 8) return widened(values<i64>(*x.block, c)[x.at]);
    return values<i128>(*x.block, c)[x.at];
  }

  Str text_at(Spot x, int c) const {
    const Sym& sym = values<Sym>(*x.block, c)[x.at];
    if (sym.bits >= Strings::placed_mark) return Strings::get_long(arena, sym);
    return Str{reinterpret_cast<const char*>(&sym), u32(sym.bits >> 56)};
  }

  bool same_text(Sym stored, Str text) const {
    if (stored.bits < Strings::placed_mark)
      return text.at && text.size <= 7 && Strings::pack(text) == stored;
    const Str held = Strings::get_long(arena, stored);
    if (is_null(held) || is_null(text)) return is_null(held) && is_null(text);
    return text_equal(held, text);
  }

  bool same_value(Spot x, int c, const Batch& b, i64 i) const {
    switch (fields[c].kind) {
      case Text: return same_text(values<Sym>(*x.block, c)[x.at], text_of(b, c, i));
      case Decimal128: return decimal_at(x, c) == decimal_of(b, c, i);
      case Date: return values<i32>(*x.block, c)[x.at] == static_cast<const i32*>(b.column[c])[i];
      case Bool: return values<i8>(*x.block, c)[x.at] == static_cast<const i8*>(b.column[c])[i];
      default: return values<i64>(*x.block, c)[x.at] == static_cast<const i64*>(b.column[c])[i];
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
      if (kind == Text) same = same_text(values<Sym>(*x.block, c)[x.at], text_at(y, c));
      else if (kind == Decimal128) same = decimal_at(x, c) == decimal_at(y, c);
      else if (kind == Date) same = values<i32>(*x.block, c)[x.at] == values<i32>(*y.block, c)[y.at];
      else if (kind == Bool) same = values<i8>(*x.block, c)[x.at] == values<i8>(*y.block, c)[y.at];
      else same = values<i64>(*x.block, c)[x.at] == values<i64>(*y.block, c)[y.at];
      if (!same) return false;
    }
    return true;
  }

  // What a comparison of these rows reads is asked for before any of it is used.
  void fetch_rows(const Spot* spots, i64 n) const {
    for (i64 i = 0; i < n; i++) {
      const Spot x = spots[i];
      fetch(counts(*x.block) + x.at);
      for (int c = 0; c < width; c++)
        fetch(arena.at<char>(x.block->column[c].at + x.at * x.block->column[c].size));
    }
  }

  void fetch_texts(const Spot* spots, i64 n, int c) const {
    for (i64 i = 0; i < n; i++) {
      const Sym sym = values<Sym>(*spots[i].block, c)[spots[i].at];
      if (sym.bits < Strings::placed_mark || is_null(sym)) continue;
      fetch(arena.at<char>(sym.bits & ((u64(1) << 40) - 1)));
    }
  }

  template <class T>
  void compare_numbers(const Spot* spots, int c, const Batch& b, const u32* rows, i64 n, u8* same) const {
    const T* column = static_cast<const T*>(b.column[c]);
    for (i64 i = 0; i < n; i++)
      same[i] &= values<T>(*spots[i].block, c)[spots[i].at] == column[rows[i]];
  }

  // Clears `same` of the stored rows that differ from those of a batch.
  void compare(const Spot* spots, const Batch& b, const u32* rows, i64 n, u8* same) const {
    for (int c = 0; c < width; c++)
      if (fields[c].kind == Text) fetch_texts(spots, n, c);
    for (int c = 0; c < width; c++) {
      switch (fields[c].kind) {
        case Date: compare_numbers<i32>(spots, c, b, rows, n, same); break;
        case Bool: compare_numbers<i8>(spots, c, b, rows, n, same); break;
        case Text:
        case Decimal128:
          for (i64 i = 0; i < n; i++) same[i] &= same_value(spots[i], c, b, rows[i]);
          break;
        default: compare_numbers<i64>(spots, c, b, rows, n, same);
      }
    }
  }

  // -- hashing ----------------------------------------------------------------------------------

  u64 word_at(Spot x, int c) const {
    switch (fields[c].kind) {
      case Text: return text_word(text_at(x, c));
      case Decimal128: return decimal_word(decimal_at(x, c));
      case Date: return word(values<i32>(*x.block, c)[x.at]);
      case Bool: return word(values<i8>(*x.block, c)[x.at]);
      default: return word(values<i64>(*x.block, c)[x.at]);
    }
  }

  // Mixes a column of stored rows that lie side by side into their hashes.
  void mix_stored(const Block& b, u32 from, int c, i64 n, u64* hash) const {
    if (size_of(fields[c].kind) == 8 && fields[c].kind != Text && fields[c].kind != Decimal128) {
      const i64* column = values<i64>(b, c) + from;
      for (i64 i = 0; i < n; i++) hash[i] = mix(hash[i], word(column[i]));
    } else {
      for (i64 i = 0; i < n; i++) hash[i] = mix(hash[i], word_at(Spot{&b, from + u32(i)}, c));
    }
  }

  template <class T> static void mix_numbers(const void* column, Picked rows, i64 n, u64* hash) {
    const T* from = static_cast<const T*>(column);
    if (!rows.list) for (i64 i = 0; i < n; i++) hash[i] = mix(hash[i], word(from[rows.first + i]));
    else for (i64 i = 0; i < n; i++) hash[i] = mix(hash[i], word(from[rows.list[rows.first + i]]));
  }

  // The same of rows of a batch.
  void mix_given(const Batch& b, int c, Picked rows, i64 n, u64* hash) const {
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

  // A block as a batch, so that its rows can be added elsewhere; it lives in scratch memory.
  Batch as_batch(const Block& b, Arena& scratch) const {
    const void** column = scratch.at<const void*>(scratch.take(u64(width + 1) * sizeof(void*)));
    Form* form = scratch.at<Form>(scratch.take(u64(width + 1) * sizeof(Form)));
    i64* count = scratch.at<i64>(scratch.take(u64(b.used + 1) * sizeof(i64)));
    for (u32 i = 0; i < b.used; i++) count[i] = counts(b)[i];
    for (int c = 0; c < width; c++) {
      column[c] = values<char>(b, c);
      form[c] = fields[c].kind == Decimal128 && b.column[c].size == 8 ? Narrow : Plain;
      if (fields[c].kind != Text) continue;
      Str* texts = scratch.at<Str>(scratch.take(u64(b.used + 1) * sizeof(Str)));
      for (u32 i = 0; i < b.used; i++) texts[i] = text_at(Spot{&b, i}, c);
      column[c] = texts;
    }
    return Batch{i64(b.used), count, column, form};
  }
};

}  // namespace fr
