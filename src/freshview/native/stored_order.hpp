// Rows of a declared key that come in its order, as most keys do that a clock or a counter gives: they
// are found without an index.
//
// As long as every row has a larger key than the one before it, the blocks are sorted. Beside the rows of
// a block lie its fences, the first column of the key of every fourth row, and its posts, that of every
// 64th. A search halves the posts, and looks at the fences behind one all at once. That a key
// is not there twice needs no search at all. A row that goes leaves a hole, which keeps its key.
//
// The first row that comes out of order ends that, or rows that go where half of all are holes:
// `row_store.cpp` makes an index then.
#pragma once

#include "stored_rows.hpp"

namespace fr {

constexpr u32 NO_ROW = ~0u;

struct Ordered {
  const Records& records;
  const int* key;  // the columns of the key
  int width;       // how many these are

  // Whether a column can be compared as a whole number.
  static bool is_number(Kind kind) { return kind == Int || kind == Timestamp || kind == Date; }

  i64 value(const Batch& b, int c, i64 i) const {
    if (records.fields[c].kind == Date) return resized<i64>(static_cast<const i32*>(b.column[c])[i]);
    return static_cast<const i64*>(b.column[c])[i];
  }

  // -- rows that come ---------------------------------------------------------------------------

  // Whether the rows of a batch that come have keys that rise, above all that there are.
  bool rises(const Batch& b) const {
    bool all_int = width <= 2;
    for (int k = 0; k < width; k++) all_int &= records.fields[key[k]].kind != Date;
    if (!all_int) return rises(b, width, [&](int k, i64 i) { return value(b, key[k], i); });
    const i64* columns[] = {static_cast<const i64*>(b.column[key[0]]), static_cast<const i64*>(b.column[key[width - 1]])};
    auto from_columns = [&](int k, i64 i) { return columns[k][i]; };
    return width == 1 ? rises(b, 1, from_columns) : rises(b, 2, from_columns);
  }

  // Keys are compared without a branch: which of their columns decides cannot be foretold.
  template <class Value> __attribute__((always_inline)) bool rises(const Batch& b, int columns, Value value) const {
    i64 last[MOST_KEYS];
    bool rising = true, first = !last_key(last);
    for (i64 i = 0; i < b.size; i++) {
      if (b.count[i] <= 0) continue;
      rising &= b.count[i] == 1;
      bool more = false, same = true;
      for (int k = 0; k < columns; k++) {
        const i64 x = value(k, i);
        more |= same & (x > last[k]);
        same &= x == last[k];
        last[k] = x;
      }
      rising &= more | first;
      first = false;
    }
    return rising;
  }

  // The key of the last row, whether it is still there or not; false where there is none.
  bool last_key(i64* out) const {
    u32 open = records.s.open;
    while (open && !records.block(open - 1).used) open = records.block(open - 1).before;
    for (int k = 0; k < width; k++)
      out[k] = open ? records.spot(records.block(open - 1), records.block(open - 1).used - 1).integer(key[k]) : 0;
    return open != 0;
  }

  // Puts up the fences of rows that were added.
  void fence(const Batch& b, Picked rows, u32 number, i64 n) const {
    const Block& block = records.block(number >> 16);
    const u32 at = number & 0xffff;
    i64 *fences = records.fences(block), *posts = records.posts(block);
    for (i64 i = (GROUP - at % GROUP) % GROUP; i < n; i += GROUP) {
      const u32 group = (at + u32(i)) / GROUP;
      fences[group] = value(b, key[0], rows.list ? rows.list[rows.first + i] : rows.first + i);
      if (group % SPAN == 0) posts[group / SPAN] = fences[group];
    }
  }

  // -- rows that are looked for -----------------------------------------------------------------

  // The rows with the keys of some rows of a batch, `NO_ROW` where there is none: in steps, each of which
  // asks for the memory that the next one reads. One that is gone counts -1.
  void find(const Batch& b, const u32* batch_rows, i64 n, u32* out) const {
    u32 blocks = records.s.open;
    if (blocks && !records.block(blocks - 1).used) blocks--;
    for (i64 from = 0; from < n; from += MOST) {
      const i64 some = n - from < MOST ? n - from : MOST;
      Spotted at[MOST];
      if (blocks) choose_spans(b, batch_rows + from, some, blocks, at);
      for (i64 i = 0; i < some; i++)
        if (blocks && at[i].is_in) choose_group(at[i], value(b, key[0], batch_rows[from + i]));
      for (i64 i = 0; i < some; i++)
        out[from + i] = blocks && at[i].is_in ? row_at(at[i], b, batch_rows[from + i]) : NO_ROW;
    }
  }

 private:
  static constexpr i64 MOST = 32;  // rows that are looked for together

  struct Spotted {
    const i64* posts;
    u32 block, group;
    bool is_in;  // whether there are keys that are no larger
  };

  // The last post that is no larger than a key, for some keys at once: each search waits for the memory of its
  // last step, so all of them take a step, and then the next one.
  void choose_spans(const Batch& b, const u32* batch_rows, i64 n, u32 blocks, Spotted* at) const {
    i64 wanted[MOST];
    u32 posts[MOST], most = 0;
    for (i64 i = 0; i < n; i++) {
      wanted[i] = value(b, key[0], batch_rows[i]);
      u32 low = 0;
      for (u32 left = blocks; left > 1;) {
        const u32 half = left / 2;
        low += first_key(low + half) <= wanted[i] ? half : 0;
        left -= half;
      }
      const Block& block = records.block(low);
      at[i] = Spotted{records.posts(block), low, 0, first_key(low) <= wanted[i]};
      posts[i] = (block.used - 1) / (GROUP * SPAN) + 1;
      most = posts[i] > most ? posts[i] : most;
    }
    for (u32 step = 1u << log2_of(most); step; step /= 2) {
      for (i64 i = 0; i < n; i++) {
        const u32 next = at[i].group + step;
        const bool is_further = next < posts[i] && at[i].posts[next < posts[i] ? next : 0] <= wanted[i];
        at[i].group = is_further ? next : at[i].group;
      }
    }
    for (i64 i = 0; i < n; i++) {
      at[i].group *= SPAN;
      const i64* fences = records.fences(records.block(at[i].block)) + at[i].group;
      fetch(fences);
      fetch(fences + SPAN / 2);
    }
  }

  i64 first_key(u32 block) const { return records.posts(records.block(block))[0]; }

  // The last group of a span that begins with no larger a key.
  void choose_group(Spotted& at, i64 wanted) const {
    const Block& b = records.block(at.block);
    const i64* fences = records.fences(b) + at.group;
    const u32 left = (b.used - 1) / GROUP + 1 - at.group;
    u32 no_larger = 0;
    if (left >= SPAN) {
      for (u32 i = 0; i < SPAN; i++) no_larger += fences[i] <= wanted;
    } else {
      for (u32 i = 0; i < left; i++) no_larger += fences[i] <= wanted;
    }
    at.group += no_larger - 1;
    const char* rows = records.group(b, u64(at.group) * GROUP);
    for (u64 i = 0; i < b.stride; i += 64) fetch(rows + i);
    if (fences[no_larger - 1] == wanted) fetch(rows - b.stride + b.column[key[0]].at);
  }

  // The row of a key: in a group, or before it, where more rows begin like it.
  u32 row_at(Spotted at, const Batch& b, i64 batch_row) const {
    for (;;) {
      const Block& block = records.block(at.block);
      u32 same = at.group * GROUP + GROUP <= block.used ? (1u << GROUP) - 1 : (1u << block.used % GROUP) - 1;
      const char* rows = records.group(block, u64(at.group) * GROUP);
      for (int k = 0; k < width; k++) same &= equal_lanes(rows, block.column[key[k]], value(b, key[k], batch_row));
      if (same) return Records::number_of(at.block, at.group * GROUP + u32(__builtin_ctz(same)));
      if (records.fences(block)[at.group] != value(b, key[0], batch_row)) return NO_ROW;
      if (at.group) at.group--;
      else if (at.block) at.block--, at.group = (records.block(at.block).used - 1) / GROUP;
      else return NO_ROW;
    }
  }

  // Which rows of a group have a value in a column, as bits.
  static u32 equal_lanes(const char* rows, Place place, i64 wanted) {
    switch (place.size) {
      case 1: return equal_to<i8>(rows + place.at, wanted);
      case 2: return equal_to<i16>(rows + place.at, wanted);
      case 4: return equal_to<i32>(rows + place.at, wanted);
      default: return equal_to<i64>(rows + place.at, wanted);
    }
  }
  template <class T> static u32 equal_to(const char* at, i64 wanted) {
    T x[GROUP];
    memcpy(x, at, sizeof(x));
    u32 out = 0;
    for (u32 i = 0; i < GROUP; i++) out |= u32(resized<i64>(x[i]) == wanted) << i;
    return out;
  }

 public:
  static constexpr int MOST_KEYS = 8;
};

}  // namespace fr
