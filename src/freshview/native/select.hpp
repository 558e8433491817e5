// Rows of a block chosen by comparisons of their columns, without branches.
#pragma once

#include "kernel.hpp"
#include "lines.hpp"

namespace fr {

// Marks the rows of a block that pass a test, or keeps the marks of those that do: a byte a row, 1 or
// 0. The test takes values of columns of one type, or lines of them.
template <bool first, class Test, class T, class... More>
inline void mark(u8* marks, i64 size, Test test, const T* column, const More*... more) {
  using Values = Line<T>;
  typedef u8 Bytes __attribute__((vector_size(Values::SIZE)));
  i64 i = 0;
  for (; i + Values::SIZE <= size; i += Values::SIZE) {
    const auto mask = test(Values::load(column + i), Values::load(more + i)...);
    Bytes passed = __builtin_convertvector(mask, Bytes) & 1;
    if constexpr (!first) {
      Bytes before;
      memcpy(&before, marks + i, sizeof(before));
      passed &= before;
    }
    memcpy(marks + i, &passed, sizeof(passed));
  }
  for (; i < size; i++) {
    const u8 passed = bool(test(column[i], more[i]...));
    marks[i] = first ? passed : u8(marks[i] & passed);
  }
}

// Marks the rows whose text has as many bytes as one of some constants, or keeps the marks of those: the
// others are none of these, and need not be looked at.
template <bool first, class... Sizes>
inline void mark_sizes(u8* marks, i64 rows, const Texts& texts, Sizes... sizes) {
  const auto between = [=](auto begin, auto end) {
    using T = decltype(end - begin);
    return ((end - begin == T{} + sizes) | ...);
  };
  if (texts.offsets([&](auto at) { mark<first>(marks, rows, between, at, at + 1); })) return;
  for (i64 i = 0; i < rows; i++) {
    const u8 passed = ((texts[i].size == u32(sizes)) | ...);
    marks[i] = first ? passed : u8(marks[i] & passed);
  }
}

// Of every pattern of eight marks: the places of those that are set. They are as wide as one
// instruction widens eight of them: narrower ones are taken apart one by one.
struct Places {
  u16 of[256][8];
  constexpr Places() : of() {
    for (int pattern = 0; pattern < 256; pattern++)
      for (int bit = 0, n = 0; bit < 8; bit++)
        if (pattern >> bit & 1) of[pattern][n++] = u16(bit);
  }
};
inline constexpr Places places{};
constexpr i64 SPARE = 64;  // there is room for so many more marks and rows than a block has

// How many rows of a block are marked.
inline i64 count_marks(u8* marks, i64 size) {
  memset(marks + size, 0, SPARE);
  Line<u8>::Vector sums = {};  // of a block of 1,024 rows, sixteen to a byte
  for (i64 i = 0; i < size; i += 64) sums += Line<u8>::load(marks + i);
  u64 words[8], count = 0;
  memcpy(words, &sums, sizeof(words));
  for (u64 word : words) count += word * 0x0101010101010101ull >> 56;
  return i64(count);
}

// Numbers the rows that are marked; gives how many they are.
inline i64 number_rows(u8* marks, i64 size, u32* rows) {
  typedef u16 Eight __attribute__((vector_size(16)));
  typedef u32 Numbers __attribute__((vector_size(32)));
  memset(marks + size, 0, SPARE);
  i64 chosen = 0;
  for (i64 i = 0; i < size; i += 8) {
    u64 eight;
    memcpy(&eight, marks + i, 8);
    const u32 pattern = u32(eight * 0x0102040810204080ull >> 56);
    Eight set;
    memcpy(&set, places.of[pattern], sizeof(set));
    const Numbers numbers = __builtin_convertvector(set, Numbers) + u32(i);
    memcpy(rows + chosen, &numbers, sizeof(numbers));
    chosen += __builtin_popcount(pattern);
  }
  return chosen;
}

}  // namespace fr
