// Columns in the Arrow C data interface, made into columns as kernels take them.
//
// Whatever a kernel can take as it lies in memory is not copied. Every value is looked at before
// the kernel sees any of them: one that a column does not hold is a `Problem`, never half a batch.
#pragma once

#include <strings.h>

#include "arrow.hpp"
#include "decimal.hpp"
#include "lines.hpp"
#include "scalar.hpp"
#include "sized.hpp"

namespace fr {
namespace edge {

// What is wrong with a batch: the first thing that was found.
struct Problem {
  enum What {
    Nothing, NotTable, Missing, Extra, WrongType, IsNull, Outside, NotUtf8, TooLong, NullRow, Damaged
  };
  What what = Nothing;
  i64 row = 0;                 // -1: in a dictionary
  int column = 0;              // of the relation
  const char* name = nullptr;  // of an extra column, or the Arrow format of a wrong one, or what is
                               // damaged
  i128 value = 0;              // what does not fit, times 10^scale
  int scale = 0;
  f64 real = 0;                // the same of a double that is not a finite number
  Str text = {nullptr, 0};     // what is not UTF-8, or too long
};

template <class T> inline T load(const void* base, i64 i) {
  T x;
  memcpy(&x, static_cast<const char*>(base) + i * i64(sizeof(T)), sizeof(T));
  return x;
}
inline bool bit(const void* base, i64 i) {
  return static_cast<const u8*>(base)[i >> 3] >> (i & 7) & 1;
}

// One Arrow column of a batch; `first` is where its rows begin in its buffers.
struct Source {
  const ArrowSchema* schema;
  const ArrowArray* array;
  i64 first, size;
  const void* valid;  // null where there is no NULL
  const char* next = nullptr;  // what will be read after it

  Source(const ArrowSchema& s, const ArrowArray& a, i64 skip, i64 rows)
      : schema(&s), array(&a), first(a.offset + skip), size(rows), valid(nullptr) {
    if (a.n_buffers > 0 && a.null_count != 0) valid = a.buffers[0];
  }
  bool has(i64 i) const { return !valid || bit(valid, first + i); }
  const void* values() const { return array->buffers[1]; }
  template <class T> T at(i64 i) const { return load<T>(values(), first + i); }
  template <class T> const T* start() const { return static_cast<const T*>(values()) + first; }
  // Whether the values can be used where they lie.
  template <class T> bool in_place() const {
    return !valid && size && reinterpret_cast<uintptr_t>(values()) % alignof(T) == 0;
  }
  template <class T, class Good> bool all(Good good) const {
    return all_good(start<T>(), size, next, good);
  }
};

// Converts a column; `read(i, out)` says whether row i is held, `show(i)` tells its value else.
template <class To, class Read, class Show>
const void* filled(Room& room, const Source& s, const Column& c, Problem& p, Read read, Show show) {
  To* out = room.array<To>(s.size);
  bool good = true;
  if (!s.valid) {
    for (i64 i = 0; i < s.size; i++) good &= read(i, out[i]);
  } else {
    for (i64 i = 0; i < s.size; i++) {
      if (s.has(i)) {
        good &= read(i, out[i]);
      } else {
        out[i] = null<To>();
        good &= c.nullable;
      }
    }
  }
  if (good) return out;
  for (p.row = 0; p.row < s.size; p.row++) {
    if (!s.has(p.row)) {
      if (c.nullable) continue;
      p.what = Problem::IsNull;
    } else if (read(p.row, out[p.row])) {
      continue;
    } else {
      p.what = Problem::Outside;
      show(p.row);
    }
    break;
  }
  return nullptr;
}

inline const void* wrong_type(const Source& s, Problem& p) {
  p.what = Problem::WrongType;
  p.name = s.schema->format;
  return nullptr;
}

inline const void* damaged(Problem& p, const char* what) {
  p.what = Problem::Damaged;
  p.name = what;
  return nullptr;
}

// How many buffers an array of a format has at least; 0 where the format is none that is taken.
inline i64 buffers_of(const char* format) {
  if (!strcmp(format, "n")) return 0;
  if (!strcmp(format, "u") || !strcmp(format, "U") || !strcmp(format, "vu")) return 3;
  return 2;
}

// What can be seen to be wrong with an array that shall have so many rows. The interface does not
// tell how long buffers are, so that one that is too short cannot be seen here.
inline const char* fault_of(const ArrowSchema& schema, const ArrowArray& a, i64 rows) {
  if (a.length < 0 || a.offset < 0 || a.n_buffers < 0) return "a length or an offset is negative";
  if (a.length < rows) return "it is shorter than the table";
  i64 buffers = schema.dictionary ? 2 : buffers_of(schema.format);
  if (a.n_buffers < buffers) return "a buffer is missing";
  if (a.null_count > 0 && buffers && !a.buffers[0]) return "it counts NULLs, and marks none";
  if (rows && buffers && !a.buffers[1]) return "a buffer is missing";
  if (!schema.dictionary != !a.dictionary) return "its dictionary is missing";
  return nullptr;
}

// Whole numbers of any width as 64 bits, where they lie if they have them; null where a format is
// none of theirs. What does not fit becomes the smallest, which no column holds.
template <class T> const i64* widened(Room& room, const Source& s) {
  i64* out = room.array<i64>(s.size);
  for (i64 i = 0; i < s.size; i++) {
    T x = s.at<T>(i);
    out[i] = T(-1) > T(0) && i64(x) < 0 ? null<i64>() : i64(x);
  }
  return out;
}

inline const i64* integers(Room& room, const Source& s) {
  const char* format = s.schema->format;
  switch (format[0] && !format[1] ? format[0] : 0) {
    case 'c': return widened<int8_t>(room, s);
    case 'C': return widened<uint8_t>(room, s);
    case 's': return widened<int16_t>(room, s);
    case 'S': return widened<uint16_t>(room, s);
    case 'i': return widened<int32_t>(room, s);
    case 'I': return widened<uint32_t>(room, s);
    case 'L': return widened<uint64_t>(room, s);
    case 'l': return s.in_place<i64>() ? s.start<i64>() : widened<i64>(room, s);
    default: return nullptr;
  }
}

inline i128 shown_integer(const Source& s, i64 i, i64 widened) {
  return s.schema->format[0] == 'L' ? i128(s.at<u64>(i)) : i128(widened);
}

inline const void* ints(Room& room, const Source& s, const Column& c, Problem& p) {
  const i64* from = integers(room, s);
  if (!from) return wrong_type(s, p);
  if (!s.valid) {
    if (all_good(from, s.size, s.next, [](auto x) { return x != INT64_MIN; })) return from;
  }
  auto read = [&](i64 i, i64& out) { out = from[i]; return !is_null(out); };
  return filled<i64>(room, s, c, p, read, [&](i64 i) { p.value = shown_integer(s, i, from[i]); });
}

// A double as it is held: there is one zero. NaN would not be a key that equals itself, and infinities
// do not cancel when a row goes, so neither is taken.
inline bool finite(f64 x, f64& out) {
  out = x + 0.0;
  return x - x == 0;
}

inline const void* doubles(Room& room, const Source& s, const Column& c, Problem& p) {
  auto from_reals = [&](auto sample) {
    using T = decltype(sample);
    auto read = [&](i64 i, f64& out) { return finite(f64(s.at<T>(i)), out); };
    return filled<f64>(room, s, c, p, read, [&](i64 i) { p.real = f64(s.at<T>(i)); });
  };
  if (!strcmp(s.schema->format, "g")) {
    if (s.in_place<f64>()) {
      constexpr i64 exponent = 0x7ffll << 52;  // all ones: infinite, or no number
      auto as_held = [](auto bits) {
        return ((bits & exponent) != exponent) & (bits != INT64_MIN);  // which is -0
      };
      if (s.all<i64>(as_held)) return s.start<f64>();
    }
    return from_reals(f64());
  }
  if (!strcmp(s.schema->format, "f")) return from_reals(float());
  if (!strcmp(s.schema->format, "L")) return from_reals(u64());
  const i64* from = integers(room, s);
  if (!from) return wrong_type(s, p);
  auto read = [&](i64 i, f64& out) { out = f64(from[i]); return true; };
  return filled<f64>(room, s, c, p, read, [](i64) {});
}

template <class To> inline bool narrow(i128 x, To& out) {
  out = To(x);
  return i128(out) == x && !is_null(out);
}

// Decimals from `raw(i, x)`, which are scaled by 10^scale; digits may be added, never lost.
template <class To, class Raw>
const void* rescaled(Room& room, const Source& s, const Column& c, Problem& p, int scale, Raw raw) {
  auto read = [&](i64 i, To& out) {
    i128 x;
    return raw(i, x) && rescale(x, c.scale - scale, x) && narrow(x, out);
  };
  auto show = [&](i64 i) {
    raw(i, p.value);
    p.scale = scale;
  };
  return filled<To>(room, s, c, p, read, show);
}

// Decimals of the scale that is asked for, 64 bits each: used where they lie, or the lower halves
// of 128 bits. Null where one of them is missing or does not fit: then they are read one by one.
inline const void* same_scale(Room& room, const Source& s, int bits, int digits) {
  const i64 most = digits > 0 && digits < 19 ? i64(powers.of[digits] - 1) : INT64_MAX;
  auto fits = [=](auto x) { return (x >= -most) & (x <= most); };
  if (bits == 32) {
    const i64* out = s.valid ? nullptr : widened<i32>(room, s);
    return out && all_good(out, s.size, s.next, fits) ? out : nullptr;
  }
  if (bits == 64 && s.in_place<i64>()) return s.all<i64>(fits) ? s.start<i64>() : nullptr;
  if (bits == 64 || !s.in_place<i64>()) return nullptr;
  const i64* halves = static_cast<const i64*>(s.values()) + 2 * s.first;
  i64* out = room.array<i64>(s.size);
  bool good = true;
  for (i64 i = 0; i < s.size; i++) {
    i64 low = halves[2 * i];
    out[i] = low;
    good &= (halves[2 * i + 1] == low >> 63) & fits(low);
  }
  return good ? out : nullptr;
}

// The same in 128 bits each.
template <class T, class Fits>
const void* same_scale_wide(Room& room, const Source& s, Fits fits) {
  if (!s.in_place<T>()) return nullptr;
  bool good = true;
  for (i64 i = 0; i < s.size; i++) good &= fits(s.start<T>()[i]);
  if (!good) return nullptr;
  if constexpr (sizeof(T) == sizeof(i128)) {
    return s.start<T>();
  } else {
    const T* from = s.start<T>();
    i128* out = room.array<i128>(s.size);
    for (i64 i = 0; i < s.size; i++) out[i] = from[i];
    return out;
  }
}

struct DecimalFormat {
  int digits, scale, bits;
};

// Reads d:precision,scale or d:precision,scale,bits.
inline bool read_format(const char* format, DecimalFormat& out) {
  const char* comma = strchr(format, ',');
  if (!comma) return false;
  out = DecimalFormat{atoi(format + 2), atoi(comma + 1), 128};
  if (const char* next = strchr(comma + 1, ',')) out.bits = atoi(next + 1);
  return true;
}

template <class To>
const void* decimals(Room& room, const Source& s, const Column& c, Problem& p) {
  const char* format = s.schema->format;
  if (format[0] == 'd' && format[1] == ':') {
    DecimalFormat d;
    if (!read_format(format, d)) return wrong_type(s, p);
    const int scale = d.scale, bits = d.bits, digits = d.digits;
    const i128 end = powers.of[digits > 0 && digits < 38 ? digits : 38];
    auto in_range = [=](i128 x) { return -end < x && x < end; };  // no more digits than the type says
    if (scale == c.scale && sizeof(To) == 8 && bits <= 128)
      if (const void* as_they_are = same_scale(room, s, bits, digits)) return as_they_are;
    auto wide = [&](auto sample) {
      using T = decltype(sample);
      if (scale == c.scale && sizeof(To) == 16)
        if (const void* as_they_are = same_scale_wide<T>(room, s, in_range)) return as_they_are;
      auto raw = [&](i64 i, i128& x) { x = s.at<T>(i); return in_range(x); };
      return rescaled<To>(room, s, c, p, scale, raw);
    };
    if (bits == 32) return wide(i32());
    if (bits == 64) return wide(i64());
    if (bits == 128) return wide(i128());
    if (bits != 256) return wrong_type(s, p);
    return rescaled<To>(room, s, c, p, scale, [&](i64 i, i128& x) {
      x = s.at<i128>(2 * i + s.first);
      return s.at<i128>(2 * i + s.first + 1) == (x < 0 ? -1 : 0) && in_range(x);
    });
  }
  const i64* from = integers(room, s);
  if (!from) return wrong_type(s, p);
  return rescaled<To>(room, s, c, p, 0, [&](i64 i, i128& x) {
    x = shown_integer(s, i, from[i]);
    return true;
  });
}

inline const void* dates(Room& room, const Source& s, const Column& c, Problem& p) {
  if (!strcmp(s.schema->format, "tdD")) {
    if (s.in_place<i32>()) {
      constexpr i32 from = FIRST_DAY, to = LAST_DAY;
      if (s.all<i32>([](auto x) { return (x >= from) & (x <= to); }))
        return s.start<i32>();
    }
    auto read = [&](i64 i, i32& out) { out = s.at<i32>(i); return is_day(out); };
    return filled<i32>(room, s, c, p, read, [&](i64 i) { p.value = s.at<i32>(i); });
  }
  if (strcmp(s.schema->format, "tdm")) return wrong_type(s, p);
  auto read = [&](i64 i, i32& out) {
    i64 x = s.at<i64>(i), day = x / 86400000;
    out = i32(day);
    return day * 86400000 == x && is_day(day);
  };
  return filled<i32>(room, s, c, p, read, [&](i64 i) { p.value = s.at<i64>(i); });
}

inline const void* moments(Room& room, const Source& s, const Column& c, Problem& p) {
  const char* format = s.schema->format;  // ts, then s, m, u or n, a colon, a time zone
  bool fits = !strncmp(format, "ts", 2) && format[2] && format[3] == ':' && !format[4];
  if (!fits) return wrong_type(s, p);
  auto show = [&](i64 i) { p.value = s.at<i64>(i); };
  i64 times = format[2] == 's' ? 1000000 : format[2] == 'm' ? 1000 : 1;
  if (format[2] == 'n') {
    auto read = [&](i64 i, i64& out) {
      i64 x = s.at<i64>(i);
      out = x / 1000;
      return out * 1000 == x && is_moment(out);
    };
    return filled<i64>(room, s, c, p, read, show);
  }
  if (times == 1 && s.in_place<i64>()) {
    constexpr i64 from = FIRST_DAY * DAY, end = (LAST_DAY + 1) * DAY;
    if (s.all<i64>([](auto x) { return (x >= from) & (x < end); })) return s.start<i64>();
  }
  auto read = [&](i64 i, i64& out) {
    return !__builtin_mul_overflow(s.at<i64>(i), times, &out) && is_moment(out);
  };
  return filled<i64>(room, s, c, p, read, show);
}

inline const void* truths(Room& room, const Source& s, const Column& c, Problem& p) {
  if (strcmp(s.schema->format, "b")) return wrong_type(s, p);
  auto read = [&](i64 i, i8& out) { out = bit(s.values(), s.first + i); return true; };
  return filled<i8>(room, s, c, p, read, [](i64) {});
}

inline bool is_ascii(const char* at, i64 size) {
  u64 high = 0;
  i64 i = 0;
  Line<u64>::Vector lanes = {};
  for (; i + 64 <= size; i += 64) {
    Line<u64>::Vector x;
    memcpy(&x, at + i, 64);
    lanes |= x;
  }
  for (int k = 0; k < 8; k++) high |= lanes[k];
  for (; i + 8 <= size; i += 8) high |= load<u64>(at + i, 0);
  for (; i < size; i++) high |= u64(u8(at[i]) & 0x80);
  return !(high & 0x8080808080808080ull);
}

// Whether a text is well-formed UTF-8: no stray or missing bytes, nothing written longer than
// needed, no halves of surrogate pairs.
inline bool is_utf8(Str s) {
  if (is_ascii(s.at, s.size)) return true;
  const u8 *at = reinterpret_cast<const u8*>(s.at), *end = at + s.size;
  while (at < end) {
    u8 lead = *at++;
    if (lead < 0x80) continue;
    int more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
    if (lead < 0xc2 || lead > 0xf4 || end - at < more) return false;
    u8 low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    u8 high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (*at < low || *at > high) return false;
    for (at++; --more; at++)
      if ((*at & 0xc0) != 0x80) return false;
  }
  return true;
}

// Texts from `piece(i)`; `plain` says that all of them are known to be ASCII.
template <class Piece>
const void* pieces(Room& room, const Source& s, const Column& c, Problem& p, bool plain,
                   Piece piece) {
  auto read = [&](i64 i, Str& out) {
    i64 size = 0;
    const char* at = piece(i, size);
    out = Str{at ? at : "", u32(size)};
    return size <= i64(UINT32_MAX) && (plain || is_utf8(out));
  };
  auto show = [&](i64 i) {
    i64 size = 0;
    const char* at = piece(i, size);
    p.what = Problem::NotUtf8;
    p.text = Str{at, u32(size > 80 ? 80 : size)};
  };
  return filled<Str>(room, s, c, p, read, show);
}

template <class T> bool are_rising(const Source& s) {
  if (s.size && reinterpret_cast<uintptr_t>(s.values()) % alignof(T)) {
    bool rising = true;
    for (i64 i = 0; i < s.size; i++) rising &= s.at<T>(i) <= s.at<T>(i + 1);
    return rising;
  }
  using Values = Line<T>;
  const T* at = s.start<T>();
  auto lanes = typename Values::Vector{} == 0;
  i64 i = 0;
  for (; i + Values::SIZE <= s.size; i += Values::SIZE)
    lanes &= Values::load(at + i) <= Values::load(at + i + 1);
  bool rising = true;
  for (int k = 0; k < Values::SIZE; k++) rising &= lanes[k] != 0;
  for (; i < s.size; i++) rising &= at[i] <= at[i + 1];
  return rising;
}

// Whether texts lie behind each other as their offsets say, and whether all of them are known to be
// ASCII; false with a problem where they do not.
template <class T>
bool are_joined(const Source& s, Problem& p, bool& plain) {
  const char* bytes = static_cast<const char*>(s.array->buffers[2]);
  const i64 from = s.size ? i64(s.at<T>(0)) : 0, to = s.size ? i64(s.at<T>(s.size)) : 0;
  if (from < 0 || !are_rising<T>(s)) return damaged(p, "the offsets of its texts go back"), false;
  if (to > from && !bytes) return damaged(p, "a buffer is missing"), false;
  plain = to <= from || is_ascii(bytes + from, to - from);
  return true;
}

// Texts that are good as they are, none of them NULL, by the offsets where each begins: eight at a
// time, as pairs of words.
template <class T> const void* plain_pieces(Room& room, const T* offset, i64 size, const char* bytes) {
  static_assert(sizeof(Str) == 16 && offsetof(Str, size) == 8, "a pointer, then the size");
  using Words = Line<u64>;
  typedef T Offsets __attribute__((vector_size(Words::SIZE * sizeof(T))));
  Str* out = room.array<Str>(size);
  const u64 base = reinterpret_cast<uintptr_t>(bytes);
  i64 i = 0;
  for (; i + Words::SIZE <= size; i += Words::SIZE) {
    Offsets begin, end;
    memcpy(&begin, offset + i, sizeof(begin));
    memcpy(&end, offset + i + 1, sizeof(end));
    const Words::Vector at = __builtin_convertvector(begin, Words::Vector) + base;
    const Words::Vector sizes = __builtin_convertvector(end - begin, Words::Vector);
    const Words::Vector first = FR_SHUFFLE(at, sizes, 0, 8, 1, 9, 2, 10, 3, 11);
    const Words::Vector second = FR_SHUFFLE(at, sizes, 4, 12, 5, 13, 6, 14, 7, 15);
    memcpy(static_cast<void*>(out + i), &first, sizeof(first));
    memcpy(static_cast<void*>(out + i + Words::SIZE / 2), &second, sizeof(second));
  }
  for (; i < size; i++) out[i] = Str{bytes + offset[i], u32(offset[i + 1] - offset[i])};
  return out;
}

inline const void* texts(Room& room, const Source& s, const Column& c, Problem& p) {
  const char* format = s.schema->format;
  auto joined = [&](auto sample) {
    using T = decltype(sample);
    const char* bytes = static_cast<const char*>(s.array->buffers[2]);
    bool plain = false;
    if (!are_joined<T>(s, p, plain)) return static_cast<const void*>(nullptr);
    const i64 from = s.size ? i64(s.at<T>(0)) : 0, to = s.size ? i64(s.at<T>(s.size)) : 0;
    if (plain && bytes && s.in_place<T>() && to - from <= i64(UINT32_MAX))
      return plain_pieces(room, s.start<T>(), s.size, bytes);
    return pieces(room, s, c, p, plain, [&](i64 i, i64& size) {
      i64 begin = i64(s.at<T>(i));
      size = i64(s.at<T>(i + 1)) - begin;
      return size ? bytes + begin : nullptr;
    });
  };
  if (!strcmp(format, "u")) return joined(i32());
  if (!strcmp(format, "U")) return joined(i64());
  if (strcmp(format, "vu")) return wrong_type(s, p);
  struct View { i32 size; i32 words[3]; };  // up to 12 bytes inside; else prefix, buffer, offset
  i64 shared = s.array->n_buffers - 3;  // the last buffer tells how long those are
  for (i64 i = 0; i < s.size; i++) {
    View view = load<View>(s.values(), s.first + i);
    if (!s.has(i) || (view.size >= 0 && view.size <= 12)) continue;
    bool there = view.size >= 0 && view.words[1] >= 0 && view.words[1] < shared && view.words[2] >= 0;
    if (!there || i64(view.words[2]) + view.size >
                      load<i64>(s.array->buffers[2 + shared], view.words[1]))
      return damaged(p, "a text lies outside of its buffers");
  }
  return pieces(room, s, c, p, false, [&](i64 i, i64& size) {
    const char* at = static_cast<const char*>(s.values()) + (s.first + i) * i64(sizeof(View));
    View view = load<View>(at, 0);
    size = view.size;
    if (size <= 12) return at + 4;
    return static_cast<const char*>(s.array->buffers[2 + view.words[1]]) + view.words[2];
  });
}

inline const void* convert(Room&, const Source&, const Column&, Problem&);

// A column of codes: its dictionary is converted once, then each row picks its value.
template <class To>
const void* picked(Room& room, const Source& s, const Column& c, Problem& p) {
  Column entry = c;
  entry.nullable = true;  // an entry may be NULL, or large, as long as no row picks it
  entry.size = 0;
  i64 size = s.array->dictionary->length;
  if (const char* fault = fault_of(*s.schema->dictionary, *s.array->dictionary, size))
    return p.row = -1, damaged(p, fault);
  Source dictionary(*s.schema->dictionary, *s.array->dictionary, 0, size);
  const To* values = static_cast<const To*>(convert(room, dictionary, entry, p));
  if (!values) return p.row = -1, nullptr;
  const i64* codes = integers(room, s);
  if (!codes) return wrong_type(s, p);
  auto read = [&](i64 i, To& out) {
    bool known = u64(codes[i]) < u64(size);
    out = known ? values[codes[i]] : null<To>();
    return known && (c.nullable || !is_null(out));
  };
  return filled<To>(room, s, c, p, read, [&](i64 i) {
    if (u64(codes[i]) < u64(size)) p.what = Problem::IsNull;
    p.value = codes[i];
  });
}

template <class To> const void* nulls(Room& room, const Source& s, const Column& c, Problem& p) {
  if (!c.nullable && s.size) {
    p.what = Problem::IsNull;
    p.row = 0;
    return nullptr;
  }
  To* out = room.array<To>(s.size);
  for (i64 i = 0; i < s.size; i++) out[i] = null<To>();
  return out;
}

template <class To, class Plain>
const void* any(Room& room, const Source& s, const Column& c, Problem& p, Plain plain) {
  if (s.array->dictionary) return picked<To>(room, s, c, p);
  if (!strcmp(s.schema->format, "n")) return nulls<To>(room, s, c, p);
  return plain(room, s, c, p);
}

// Whether all the values of a converted column have its size; else the first that has not.
inline bool are_sized(const Source& s, const Column& c, Problem& p, const void* values) {
  i64 row = -1;
  if (c.kind == Int || c.kind == Decimal64)
    row = first_large(c, static_cast<const i64*>(values), s.size);
  if (c.kind == Decimal128) row = first_large(c, static_cast<const i128*>(values), s.size);
  if (c.kind == Text) {
    const Str* texts = static_cast<const Str*>(values);
    for (i64 i = 0; i < s.size && row < 0; i++)
      if (!has_size(texts[i], c.size)) row = i;
    if (row >= 0) p.text = texts[row];
  }
  if (row < 0) return true;
  p.what = c.kind == Text ? Problem::TooLong : Problem::Outside;
  p.row = row;
  p.scale = c.kind == Int ? 0 : c.scale;
  if (c.kind == Decimal128) p.value = static_cast<const i128*>(values)[row];
  else if (c.kind != Text) p.value = static_cast<const i64*>(values)[row];
  return false;
}

inline const void* of_kind(Room& room, const Source& s, const Column& c, Problem& p);

// A column as a kernel takes it, or null with a problem.
inline const void* convert(Room& room, const Source& s, const Column& c, Problem& p) {
  const void* out = of_kind(room, s, c, p);
  return out && c.size && !are_sized(s, c, p, out) ? nullptr : out;
}

inline const void* of_kind(Room& room, const Source& s, const Column& c, Problem& p) {
  switch (c.kind) {
    case Int: return any<i64>(room, s, c, p, ints);
    case Decimal64: return any<i64>(room, s, c, p, decimals<i64>);
    case Decimal128: return any<i128>(room, s, c, p, decimals<i128>);
    case Double: return any<f64>(room, s, c, p, doubles);
    case Date: return any<i32>(room, s, c, p, dates);
    case Timestamp: return any<i64>(room, s, c, p, moments);
    case Bool: return any<i8>(room, s, c, p, truths);
    case Text: return any<Str>(room, s, c, p, texts);
  }
  return nullptr;
}

// The same for a taker that knows other forms: null without a problem where there is none of them.
template <class T> const void* joined(Room& room, const Source& s, Problem& p) {
  bool plain = false;
  const char* bytes = static_cast<const char*>(s.array->buffers[2]);
  if (!s.in_place<T>() || !are_joined<T>(s, p, plain) || !plain || !bytes) return nullptr;
  if (i64(s.at<T>(s.size)) - i64(s.at<T>(0)) > i64(UINT32_MAX)) return nullptr;
  JoinedTexts* out = room.array<JoinedTexts>(1);
  *out = JoinedTexts{s.start<T>(), bytes};
  return out;
}

// Whether no text has more bytes than its column has characters.
inline bool are_short(const Source& s, const Column& c) {
  const char* format = s.schema->format;
  auto all = [&](auto sample) {
    using T = decltype(sample);
    bool good = true;
    for (i64 i = 0; i < s.size; i++)
      good &= u64(s.at<T>(i + 1) - s.at<T>(i)) <= u64(c.size);
    return good;
  };
  if (!strcmp(format, "u")) return all(i32());
  return !strcmp(format, "U") && all(i64());
}

inline const void* as_it_lies(Room& room, const Source& s, const Column& c, Problem& p, Form& form) {
  const char* format = s.schema->format;
  const void* out = nullptr;
  if (s.array->dictionary || (c.size && c.kind == Text && !are_short(s, c))) return nullptr;
  if (c.kind == Text && !strcmp(format, "u")) {
    out = joined<i32>(room, s, p);
    form = Joined32;
  } else if (c.kind == Text && !strcmp(format, "U")) {
    out = joined<i64>(room, s, p);
    form = Joined64;
  } else if (c.kind == Decimal128 && format[0] == 'd' && format[1] == ':') {
    DecimalFormat d;
    if (read_format(format, d) && d.scale == c.scale && d.bits <= 128)
      out = same_scale(room, s, d.bits, d.digits);
    if (out && c.size && c.size < u32(d.digits) &&
        first_large(c, static_cast<const i64*>(out), s.size) >= 0)
      out = nullptr;  // it is looked for once more, and refused with its row
    form = Narrow;
  }
  if (!out) form = Plain;
  return out;
}

// Where each column of a relation stands among those of a table, by name; false with a problem
// where one is missing, is there twice, or belongs to no column.
inline bool match(const Relation& r, const ArrowSchema& table, int* where, Problem& p) {
  if (strcmp(table.format, "+s")) {
    p.what = Problem::NotTable;
    p.name = table.format;
    return false;
  }
  auto is = [&](int i, i64 j) {
    const char* name = table.children[j]->name;
    return name && (!strcmp(r.columns[i].name, name) || !strcasecmp(r.columns[i].name, name));
  };
  bool in_order = r.width == table.n_children;
  for (int i = 0; i < r.width; i++) {
    where[i] = -1;
    if (i < table.n_children && is(i, i)) where[i] = i;
    for (i64 j = 0; where[i] < 0 && j < table.n_children; j++)
      if (is(i, j)) where[i] = int(j);
    if (where[i] < 0) {
      p.what = Problem::Missing;
      p.column = i;
      return false;
    }
    in_order &= where[i] == i;
  }
  for (i64 j = 0; !in_order && j < table.n_children; j++) {
    bool wanted = false;
    for (int i = 0; i < r.width; i++) wanted |= where[i] == j;
    if (!wanted) {
      p.what = Problem::Extra;
      p.name = table.children[j]->name ? table.children[j]->name : "";
      return false;
    }
  }
  return true;
}

// A part of a batch, ready for a kernel. No counts: every row counts as the batch's sign says.
struct Part {
  i64 size;
  const void** column;
  const i64* count;
  Part *next, *previous;
  i64 text_bytes = -1;  // no fewer than all its texts have together; negative where nobody has counted
  Form* form = nullptr;  // of each column; null where all are plain

  Form form_of(int c) const { return form ? form[c] : Plain; }
};

// Where the first values lie that are read from column `i` on; a guess, to ask for them early.
inline const char* read_next(const Relation& r, const int* where, const ArrowArray& table, int i) {
  while (i < r.width && !r.columns[i].used) i++;
  if (i == r.width || table.children[where[i]]->n_buffers < 2) return nullptr;
  const ArrowArray& a = *table.children[where[i]];
  i64 width = r.columns[i].kind == Text ? 4 : i64(size_in(r.columns[i].kind));
  return static_cast<const char*>(a.buffers[1]) + (a.offset + table.offset) * width;
}

// Asks for the beginning of every page of the columns that are read, all at once: addresses are
// translated and memory is opened side by side, and not one after the other.
inline void touch_pages(const Relation& r, const int* where, const ArrowArray& table) {
  constexpr i64 PAGE = 4096, MOST = 4 * PAGE;
  for (int i = 0; i < r.width; i++) {
    if (!r.columns[i].used) continue;
    const char* at = read_next(r, where, table, i);
    const i64 width = r.columns[i].kind == Text ? 4 : i64(size_in(r.columns[i].kind));
    const i64 bytes = table.length * width < MOST ? table.length * width : MOST;
    for (i64 k = 0; at && k < bytes; k += PAGE)
      for (int line = 0; line < 4; line++) __builtin_prefetch(at + k + line * 64, 0, 2);
  }
}

// Whether a table has the columns that its schema tells; what is in them is not looked at yet.
inline bool is_whole(const ArrowSchema& schema, const ArrowArray& table, Problem& p) {
  if (table.length >= 0 && table.offset >= 0 && table.n_children == schema.n_children) return true;
  damaged(p, "the table has a negative length, or other columns than its schema");
  return false;
}

// Adds the bytes of the texts of a column that was converted, if its offsets tell them.
inline void count_text(const Source& s, i64& bytes) {
  if (!s.array->dictionary && !strcmp(s.schema->format, "u"))
    bytes += s.size ? s.at<i32>(s.size) - s.at<i32>(0) : 0;
  else if (!s.array->dictionary && !strcmp(s.schema->format, "U"))
    bytes += s.size ? s.at<i64>(s.size) - s.at<i64>(0) : 0;
  else
    bytes = -1;
}

inline Form* plain_forms(Room& room, int width) {
  Form* out = room.array<Form>(width + 1);
  for (int i = 0; i <= width; i++) out[i] = Plain;
  return out;
}

// The columns of one table that the relation's statements read, or null with a problem; `where` is
// as `match` found it. What will be read after them, `after`, is asked for with the last of them.
inline Part* table_in(Room& room, const Relation& r, const ArrowSchema& schema, const int* where,
                      const ArrowArray& table, Problem& p, const void* after = nullptr) {
  if (!is_whole(schema, table, p)) return nullptr;
  if (table.null_count && table.n_buffers > 0 && table.buffers[0]) {
    for (i64 i = 0; i < table.length; i++) {
      if (bit(table.buffers[0], table.offset + i)) continue;
      p.what = Problem::NullRow;
      p.row = i;
      return nullptr;
    }
  }
  Part* part = room.array<Part>(1);
  *part = Part{table.length, room.array<const void*>(r.width + 1), nullptr, nullptr, nullptr, 0};
  for (int i = 0; i < r.width; i++) {
    part->column[i] = nullptr;
    if (!r.columns[i].used) continue;
    p.column = i;
    i64 at = where[i];
    const i64 rows = table.offset + table.length;
    if (const char* fault = fault_of(*schema.children[at], *table.children[at], rows))
      return damaged(p, fault), nullptr;
    Source source(*schema.children[at], *table.children[at], table.offset, table.length);
    source.next = read_next(r, where, table, i + 1);
    if (!source.next) source.next = static_cast<const char*>(after);
    if (r.columns[i].as_it_lies) {
      if (!part->form) part->form = plain_forms(room, r.width);
      part->column[i] = as_it_lies(room, source, r.columns[i], p, part->form[i]);
      if (!part->column[i] && p.what != Problem::Nothing) return nullptr;
    }
    if (!part->column[i]) part->column[i] = convert(room, source, r.columns[i], p);
    if (!part->column[i]) return nullptr;
    if (r.columns[i].kind == Text && part->text_bytes >= 0) count_text(source, part->text_bytes);
  }
  return part;
}

// Texts that are joined, one by one.
inline void make_plain(Room& room, Part& part, int c) {
  const JoinedTexts& from = *static_cast<const JoinedTexts*>(part.column[c]);
  Str* out = room.array<Str>(part.size);
  for (i64 i = 0; i < part.size; i++)
    out[i] = part.form[c] == Joined32 ? from.at<i32>(i) : from.at<i64>(i);
  part.column[c] = out;
  part.form[c] = Plain;
}

// Rows that count 0 times are left out: kernels never see them.
inline void drop_zeros(Room& room, const Relation& r, Part& part) {
  i64 left = 0;
  for (i64 i = 0; i < part.size; i++) left += part.count[i] != 0;
  auto packed = [&](const void* from, size_t size) {
    char *out = static_cast<char*>(room.take(size_t(left) * size)), *to = out;
    for (i64 i = 0; i < part.size; i++) {
      if (!part.count[i]) continue;
      memcpy(to, static_cast<const char*>(from) + size_t(i) * size, size);
      to += size;
    }
    return out;
  };
  for (int i = 0; i < r.width; i++) {
    if (!part.column[i]) continue;
    if (part.form_of(i) >= Joined32) make_plain(room, part, i);
    part.column[i] = packed(part.column[i], size_in(r.columns[i].kind, part.form_of(i)));
  }
  part.count = reinterpret_cast<const i64*>(packed(part.count, sizeof(i64)));
  part.size = left;
}

}  // namespace edge
}  // namespace fr
