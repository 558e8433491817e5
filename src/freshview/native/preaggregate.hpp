// A block of rows added up by key before it goes to a table, column by column.
//
// Every row gets the number of its group, by small dictionaries of the block; what it adds is computed
// eight rows at a time, and goes to local sums. These are not tested for overflow one by one. Instead
// the expressions of all of them are evaluated once a block over bounds (`Magnitude`): whatever the
// rows are, no number on the way leaves 62 bits, or the block goes to the table row by row.
#pragma once

#include "kernel.hpp"
#include "real_lanes.hpp"

#ifdef __has_builtin
#define SHUFFLES __has_builtin(__builtin_shufflevector)
#else
#define SHUFFLES 0
#endif

namespace fr {

// -- groups ----------------------------------------------------------------------------------------

constexpr u32 MOST_GROUPS = 31;  // of a block, and values of each key; more are left to the table
constexpr i64 BLOCK_ROWS = 1024;
constexpr i64 SAMPLE = 64;       // rows whose groups are counted before all the others'

// The different values of a column of a block, numbered from 1 on: an array of numbers, or texts.
template <class Column> struct Codes;

template <class T> struct Codes<const T*> {
  u32 size = 0;

  // The codes of so many rows; false where there are too many.
  bool fill(i64 rows, u8* out, const T* column) {
    for (i64 i = 0; i < rows; i++)
      if (!(out[i] = u8(of(column[i])))) return false;
    return true;
  }

 private:
  u8 slots[64] = {};
  T values[MOST_GROUPS + 1];

  u32 of(T x) {
    for (u32 i = u32((u64(x) * 0x9e3779b97f4a7c15ull) >> 58);; i = (i + 1) & 63) {
      const u32 code = slots[i];
      if (code == 0) return add(x, i);
      if (values[code] == x) return code;
    }
  }
  __attribute__((noinline)) u32 add(T x, u32 slot) {
    if (size == MOST_GROUPS) return 0;
    values[slots[slot] = u8(++size)] = x;
    return size;
  }
};

// Most texts that rows are grouped by are flags: those of one byte are found without a search.
template <> struct Codes<Texts> {
  u32 size = 0;

  bool fill(i64 rows, u8* out, const Texts& column) {
    const u8* bytes = rows ? column.flags(rows) : nullptr;
    if (bytes && fill_flags(rows, out, bytes)) return true;
    for (i64 i = 0; i < rows; i++) {
      const Str x = column[i];
      u32 code = x.size == 1 ? flags[u8(*x.at)] : 0;
      if (__builtin_expect(code == 0, 0) && !(code = search(x))) return false;
      out[i] = u8(code);
    }
    return true;
  }

 private:
  u8 flags[256] = {};
  u8 slots[64] = {};
  Str values[MOST_GROUPS + 1];

  // The codes of flags that lie side by side: all the values are compared with each that is known,
  // of which there are few. False where one is not.
  bool fill_flags(i64 rows, u8* out, const u8* bytes) const {
    using Flags = Line<u8>;
    Flags::Vector unknown = {};
    i64 i = 0;
    for (; i + Flags::SIZE <= rows; i += Flags::SIZE) {
      const Flags::Vector x = Flags::load(bytes + i);
      Flags::Vector codes = {};
      for (u32 code = 1; code <= size; code++)
        if (values[code].size == 1) codes |= Flags::Vector(x == u8(*values[code].at)) & u8(code);
      unknown |= Flags::Vector(codes == 0);
      memcpy(out + i, &codes, sizeof(codes));
    }
    u64 words[8], some = 0;
    memcpy(words, &unknown, sizeof(words));
    for (u64 word : words) some |= word;
    for (; i < rows; i++) some |= (out[i] = flags[bytes[i]]) == 0;
    return some == 0;
  }

  __attribute__((noinline)) u32 search(Str x) {
    for (u32 i = u32(text_hash(x) >> 58);; i = (i + 1) & 63) {
      const u32 code = slots[i];
      if (code == 0) return add(x, i);
      const Str y = values[code];
      if (is_null(x) == is_null(y) && text_equal(x, y)) return code;
    }
  }
  u32 add(Str x, u32 slot) {
    if (size == MOST_GROUPS) return 0;
    values[slots[slot] = u8(++size)] = x;
    if (x.size == 1) flags[u8(*x.at)] = u8(size);
    return size;
  }
};

// Pairs of codes, numbered in the same way.
struct Pairs {
  u32 size = 0;

  bool fill(i64 rows, u8* codes, const u8* others) {
    for (i64 i = 0; i < rows; i++) {
      u8& code = numbers[codes[i]][others[i]];
      if (__builtin_expect(code == 0, 0)) {
        if (size == MOST_GROUPS) return false;
        code = u8(++size);
      }
      codes[i] = code;
    }
    return true;
  }

 private:
  u8 numbers[MOST_GROUPS + 1][MOST_GROUPS + 1] = {};
};

// The groups of a block by several columns, or by none.
template <class... Columns> struct KeyCodes {
  u32 size = 1;
  bool fill(i64 rows, u8* out) { return memset(out, 1, size_t(rows)), true; }
  bool combine(i64, u8*) { return true; }
};
template <class Column> struct KeyCodes<Column> : Codes<Column> {
  bool combine(i64, u8*) { return true; }
};
template <class Column, class Next, class... More> struct KeyCodes<Column, Next, More...> {
  u32 size = 0;

  // The codes by the first column; those by the others are kept here.
  bool fill(i64 rows, u8* out, const Column& column, const Next& next, const More&... more) {
    u8* others = codes + filled;
    filled += rows;
    return own.fill(rows, out, column) && rest.fill(rows, others, next, more...);
  }

  // Makes codes of both: by arithmetic where all the pairs are few, even those that no row has.
  bool combine(i64 rows, u8* out) {
    if (!rest.combine(rows, codes)) return false;
    if (own.size * rest.size > MOST_GROUPS) {
      Pairs pairs;
      const bool few = pairs.fill(rows, out, codes);
      size = pairs.size;
      return few;
    }
    size = own.size * rest.size;
    for (i64 i = 0; i < rows; i += Line<u8>::SIZE) {
      const auto mine = Line<u8>::load(out + i), other = Line<u8>::load(codes + i);
      const Line<u8>::Vector both = (mine - 1) * u8(rest.size) + other;
      memcpy(out + i, &both, sizeof(both));
    }
    return true;
  }

 private:
  Codes<Column> own;
  KeyCodes<Next, More...> rest;
  i64 filled = 0;
  u8 codes[BLOCK_ROWS + Line<u8>::SIZE];
};

// The codes of whole numbers that lie close together: their distance from the least, without a search.
// How many there may be, or 0 where they lie too far apart.
template <class T> inline u32 close_codes(i64 rows, u8* out, const T* column) {
  using Values = Line<T>;
  using Vector = typename Values::Vector;
  typedef u8 Bytes __attribute__((vector_size(Values::SIZE)));
  T least = column[0], most = column[0];
  i64 i = 0;
  if (rows >= Values::SIZE) {
    Vector low = Values::load(column), high = low;
    for (; i + Values::SIZE <= rows; i += Values::SIZE) {
      const Vector x = Values::load(column + i);
      low = x < low ? x : low;
      high = x > high ? x : high;
    }
    for (int k = 0; k < Values::SIZE; k++) {
      least = low[k] < least ? low[k] : least;
      most = high[k] > most ? high[k] : most;
    }
  }
  for (; i < rows; i++) {
    least = column[i] < least ? column[i] : least;
    most = column[i] > most ? column[i] : most;
  }
  const u64 range = u64(i64(most)) - u64(i64(least));
  if (range >= MOST_GROUPS) return 0;
  for (i = 0; i + Values::SIZE <= rows; i += Values::SIZE) {
    const Bytes codes = __builtin_convertvector(Values::load(column + i) - least, Bytes) + u8(1);
    memcpy(out + i, &codes, sizeof(codes));
  }
  for (; i < rows; i++) out[i] = u8(u64(i64(column[i])) - u64(i64(least))) + 1;
  return u32(range) + 1;
}

// What eight rows add to so many sums, row by row: side by side, so that one addition does for a row.
template <int SUMS> struct RowsOfSums {
  static constexpr int WIDTH = SUMS <= 2 ? 2 : SUMS <= 4 ? 4 : 8;
  static constexpr int PARTS = (SUMS + WIDTH - 1) / WIDTH;
  typedef u64 Part __attribute__((vector_size(WIDTH * sizeof(u64))));
  struct alignas(WIDTH * sizeof(u64)) Sums {
    Part part[PARTS];
  };
  Sums of[LANES];

  explicit RowsOfSums(const Lanes (&values)[SUMS]) { turn<0>(values); }

 private:
  // A square of words turned round: in each step, pairs of vectors exchange a half of their words.
  template <int N> void turn(const Lanes (&values)[SUMS]) {
    WordVector x[LANES];
#pragma GCC unroll 8
    for (int k = 0; k < LANES; k++)
      x[k] = N * WIDTH + k < SUMS && k < WIDTH ? WordVector(values[N * WIDTH + k].x) : WordVector{};
    if constexpr (WIDTH == 8) step<4>(x);
    if constexpr (WIDTH >= 4) step<2>(x);
    step<1>(x);
#pragma GCC unroll 8
    for (int k = 0; k < WIDTH; k++) put(N, k, x[k]);
    if constexpr (N + 1 < PARTS) turn<N + 1>(values);
  }
  // A vector holds as many rows as a sum's words go into it, one behind the other.
  void put(int n, int k, WordVector x) {
#if SHUFFLES
    if constexpr (WIDTH == 8) {
      of[k].part[n] = x;
    } else if constexpr (WIDTH == 4) {
      of[k].part[n] = __builtin_shufflevector(x, x, 0, 1, 2, 3);
      of[k + 4].part[n] = __builtin_shufflevector(x, x, 4, 5, 6, 7);
    } else {
      of[k].part[n] = __builtin_shufflevector(x, x, 0, 1);
      of[k + 2].part[n] = __builtin_shufflevector(x, x, 2, 3);
      of[k + 4].part[n] = __builtin_shufflevector(x, x, 4, 5);
      of[k + 6].part[n] = __builtin_shufflevector(x, x, 6, 7);
    }
#else
    for (int row = k; row < LANES; row += WIDTH)
      memcpy(&of[row].part[n], reinterpret_cast<const u64*>(&x) + (row - k), sizeof(Part));
#endif
  }
  template <int BY> static void step(WordVector (&x)[LANES]) {
#pragma GCC unroll 8
    for (int k = 0; k < WIDTH; k++) {
      if (k & BY) continue;
      const WordVector a = x[k], b = x[k + BY];
      x[k] = exchanged<BY, false>(a, b);
      x[k + BY] = exchanged<BY, true>(a, b);
    }
  }
  // The words whose place has not the bit, or has it, of both, in turns.
  template <int BY, bool SET> static WordVector exchanged(WordVector a, WordVector b) {
    constexpr auto from = [](u64 place) {
      const u64 own = SET ? place | BY : place & ~u64(BY);
      return place & BY ? LANES + own : own;
    };
    return FR_SHUFFLE(a, b, from(0), from(1), from(2), from(3), from(4), from(5), from(6), from(7));
  }
};

// What eight rows add to so many sums.
template <int SUMS> struct Addends {
  Lanes of[SUMS];
};

// The sums of all the groups of a block, of which there may be so many. Group 0 is that of rows that are
// not chosen.
template <int SUMS, int MOST = MOST_GROUPS> struct Groups {
  static constexpr int COPIES = 2;
  static constexpr int REGISTERS = 24;  // that hold sums; some are left for what is added
  static constexpr int least(int a, int b) { return a < b ? a : b; }
  static constexpr int FEW = least(least(MOST, 4), REGISTERS / SUMS);  // groups whose sums they hold
  u32 size = 0;

  // Finds the group of every row by its keys; false where there are too many.
  template <class... Columns> bool find(i64 rows, Columns... keys) {
    if (!are_close(rows, keys...)) {
      KeyCodes<Columns...> codes;
      const i64 some = rows < SAMPLE ? rows : SAMPLE;
      if (!codes.fill(some, of, keys...) || !have_few(codes, some)) return false;
      if (!codes.fill(rows - some, of + some, keys + some...) || !codes.combine(rows, of)) return false;
      size = codes.size;
      memset(of + rows, 0, Line<u8>::SIZE);  // where codes of lines may reach, there is no group
    }
    for (auto& sums : copies) memset(static_cast<void*>(sums), 0, (size + 1) * sizeof(sums[0]));
    return true;
  }

  // Leaves out the rows that are not marked.
  void choose(i64 rows, const u8* marks) {
    for (i64 i = 0; i < rows; i += Line<u8>::SIZE) {
      const Line<u8>::Vector codes = Line<u8>::load(of + i) & -Line<u8>::load(marks + i);
      memcpy(of + i, &codes, sizeof(codes));
    }
  }

  // Adds up so many rows: `addends(row)` is what eight of them from one on add to every sum.
  template <class Get> void sum(i64 rows, Get addends) {
    if constexpr (FEW > 0) {
      u8 codes[FEW];
      if (are_few(rows, codes)) return sum_few(rows, codes, addends);
    }
    for (i64 row = 0; row < rows; row += LANES) add(row, addends(row).of);
  }

  i64 total(u32 group, int n) const {
    u64 sum = 0;
    for (const auto& sums : copies) sum += sums[group].part[n / Rows::WIDTH][n % Rows::WIDTH];
    return i64(sum);
  }

  // The sum of doubles whose words stand at a place.
  Sum real(u32 group, int n, const Scale& scale) const {
    return scale.sum(total(group, n), total(group, n + 1), u64(total(group, n + 2)));
  }

  // A row of a group; negative where none was chosen.
  i64 first(u32 group, i64 rows) const {
    const void* at = memchr(of, int(group), size_t(rows));
    return at ? static_cast<const u8*>(at) - of : -1;
  }

 private:
  using Rows = RowsOfSums<SUMS>;
  u8 of[BLOCK_ROWS + Line<u8>::SIZE] = {};  // the group of every row

  // Whether so few groups have rows that all their sums are held in registers; their codes.
  bool are_few(i64 rows, u8* codes) const {
    constexpr u32 TRIED = 2 * FEW;  // codes of several columns are more than those that have rows
    if (size > TRIED) return false;
    int n = 0;
    for (u32 g = 1; g <= size; g++) {
      if (first(g, rows) < 0) continue;
      if (n == FEW) return false;
      codes[n++] = u8(g);
    }
    while (n < FEW) codes[n++] = MOST_GROUPS + 1;
    return true;
  }

  // Every sum of a group is eight, each of every eighth row; other groups' rows are passed over.
  template <class Get> void sum_few(i64 rows, const u8* codes, Get addends) {
    LaneVector sums[FEW][SUMS] = {};
    for (i64 row = 0; row < rows; row += LANES) {
      const LaneVector groups = eight_codes(row);
      const Addends<SUMS> more = addends(row);
#pragma GCC unroll 4
      for (int g = 0; g < FEW; g++) {
        const LaneVector own = groups == i64(codes[g]);
#pragma GCC unroll 24
        for (int n = 0; n < SUMS; n++) sums[g][n] = own ? sums[g][n] + more.of[n].x : sums[g][n];
      }
    }
    // Unrolled, since only what is named by constants stays in registers.
#pragma GCC unroll 4
    for (int g = 0; g < FEW; g++) {
      if (codes[g] > MOST_GROUPS) break;
#pragma GCC unroll 24
      for (int n = 0; n < SUMS; n++)
        copies[0][codes[g]].part[n / Rows::WIDTH][n % Rows::WIDTH] = all_of(sums[g][n]);
    }
  }

  // The groups of eight rows, each as wide as what they add.
  LaneVector eight_codes(i64 row) const {
    constexpr bool LITTLE = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    u64 bytes;
    memcpy(&bytes, of + row, sizeof(bytes));
    const WordVector places = LITTLE ? WordVector{0, 8, 16, 24, 32, 40, 48, 56}
                                     : WordVector{56, 48, 40, 32, 24, 16, 8, 0};
    return LaneVector(((WordVector{} + bytes) >> places) & 0xff);
  }
  static u64 all_of(LaneVector x) {
    u64 all = 0;
#pragma GCC unroll 8
    for (int k = 0; k < LANES; k++) all += u64(x[k]);
    return all;
  }

  // Eight rows from one on: what they add to every sum. Rows take turns with some copies of the sums,
  // so that one need not wait for what the last one has stored.
  void add(i64 row, const Lanes (&values)[SUMS]) {
    const Rows rows(values);
#pragma GCC unroll 8
    for (int k = 0; k < LANES; k++) {
      auto& sums = copies[k % COPIES][of[row + k]];
#pragma GCC unroll 16
      for (int n = 0; n < Rows::PARTS; n++) sums.part[n] += rows.of[k].part[n];
    }
  }

  template <class... Columns> bool are_close(i64, const Columns&...) { return false; }
  bool are_close(i64 rows, const i64* key) { return rows && (size = close_codes(rows, of, key)); }
  bool are_close(i64 rows, const i32* key) { return rows && (size = close_codes(rows, of, key)); }

  // Whether the first rows have few groups: where they have many, the others are not looked at.
  template <class Keys> bool have_few(Keys codes, i64 rows) const {
    u8 sample[SAMPLE + Line<u8>::SIZE];
    memcpy(sample, of, sizeof(sample));
    return codes.combine(rows, sample);
  }
  typename Rows::Sums copies[COPIES][MOST_GROUPS + 1];
};

}  // namespace fr
