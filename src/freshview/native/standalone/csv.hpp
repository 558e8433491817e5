// Delimited text as rows, and values as text, by the rules of `FROM FILE ... CSV`.
//
// An empty field is NULL where the column admits it, and the empty text in a column of texts that
// does not. Fields may be quoted. The last field may be followed by one more delimiter.
#pragma once

#include "casts.hpp"
#include "decimal.hpp"
#include "freshview.h"

namespace fr {
namespace edge {

// The records of a file, one at a time; their fields last until the next one.
struct CsvReader {
  FILE* file = nullptr;
  char delimiter = ',';
  i64 line = 1, next_line = 1;  // where the record begins, and the one after it
  int size = 0;                 // fields of the record
  const char* problem = nullptr;

  Str field(int i) const {
    const size_t begin = i ? ends[i - 1] : 0;
    return Str{text + begin, u32(ends[i] - begin)};
  }

  // Reads the next record that is not an empty line; false at the end, or with a problem.
  bool next() {
    while (read()) {
      if (size > 1 || ends[0] || quoted) return true;
    }
    return false;
  }

  void close() {
    free(text);
    free(ends);
    text = nullptr;
    ends = nullptr;
    if (file && file != stdin) fclose(file);
    file = nullptr;
  }

 private:
  char* text = nullptr;   // the fields, one behind the other
  size_t* ends = nullptr;
  size_t used = 0, room = 0;
  int places = 0;
  bool quoted = false;    // whether any field was: a line of "" is not an empty line
  bool started = false;

  void grow() {
    room = room ? room * 2 : 4096;
    text = static_cast<char*>(realloc(text, room));
    if (!text) fail("freshview: not enough memory for a row.\n");
  }
  void add(int c) {
    if (used == room) grow();
    text[used++] = char(c);
  }
  void end_field() {
    if (size == places) {
      places = places ? places * 2 : 32;
      ends = static_cast<size_t*>(realloc(ends, size_t(places) * sizeof(size_t)));
      if (!ends) fail("freshview: not enough memory for a row.\n");
    }
    ends[size++] = used;
  }
  int take() {
    const int c = getc_unlocked(file);
    if (c == '\n') next_line++;
    return c;
  }
  void skip_mark() {  // a byte order mark is not text
    const int c = take();
    if (c == 0xef && take() == 0xbb && take() == 0xbf) return;
    if (c == 0xef) problem = "the file is not UTF-8 text";
    else if (c != EOF) c == '\n' ? (next_line--, ungetc(c, file)) : ungetc(c, file);
  }
  // The inside of a quoted field, up to the character behind its end.
  int take_quoted() {
    quoted = true;
    for (;;) {
      int c = take();
      if (c == EOF) return problem = "a quote is never closed", EOF;
      if (c == '"' && (c = take()) != '"') return c;
      add(c);
    }
  }
  bool read() {
    if (!started) skip_mark();
    started = true;
    size = 0;
    used = 0;
    quoted = false;
    line = next_line;
    if (!room) grow();
    int c = take();
    if (c == EOF || problem) return false;
    for (;; c = take()) {
      if (c == '"') {
        c = take_quoted();
        if (problem) return false;
        if (c != delimiter && c != '\n' && c != '\r' && c != EOF)
          return problem = "expected a delimiter behind a quoted field", false;
      } else {
        while (c != delimiter && c != '\n' && c != '\r' && c != EOF) add(c), c = take();
      }
      end_field();
      if (c == delimiter) continue;
      if (c == '\r' && (c = take()) != '\n' && c != EOF) ungetc(c, file);
      return true;
    }
  }
};

inline bool plain_text(Str s, char (&out)[64], u32& size) {  // trimmed, as the readers of C take it
  s = trimmed(s, false);
  if (s.size && s.at[0] == '+') s = Str{s.at + 1, s.size - 1};
  if (!s.size || s.size >= sizeof out) return false;
  for (u32 i = 0; i < s.size; i++) out[i] = s.at[i] == 'e' ? 'E' : s.at[i];
  out[size = s.size] = 0;
  return true;
}

inline bool read_day(Moment& m, i64& days) {
  i64 year, month, day;
  if (!m.number(4, 4, year) || !m.accept('-') || !m.number(2, 2, month)) return false;
  if (!m.accept('-') || !m.number(2, 2, day)) return false;
  if (year < 1 || month < 1 || month > 12 || day < 1 || day > 31) return false;
  days = days_of(year, int(month), int(day));
  return civil(days).month == month;
}

inline bool read_moment(Str s, i64& out) {
  Moment m{trimmed(s)};
  i64 days, hour = 0, minute = 0, second = 0, micros = 0;
  if (!read_day(m, days)) return false;
  if (!m.done()) {
    if (!(m.accept(' ') || m.accept('T')) || !m.number(2, 2, hour)) return false;
    if (!m.done() && (!m.accept(':') || !m.number(2, 2, minute))) return false;
    if (!m.done() && (!m.accept(':') || !m.number(2, 2, second))) return false;
    if (m.accept('.')) {
      const u32 from = m.i;
      if (!m.number(1, 6, micros)) return false;
      for (u32 places = m.i - from; places < 6; places++) micros *= 10;
    }
  }
  out = days * DAY + ((hour * 60 + minute) * 60 + second) * 1000000 + micros;
  return m.done() && hour < 24 && minute < 60 && second < 60;
}

inline bool read_truth(Str s, int64_t& out) {
  i8 truth;
  s = trimmed(s);
  const bool short_word = s.size && ((s.at[0] | 32) == 'y' || (s.at[0] | 32) == 'n');
  if (short_word || !to_bool(s, truth)) return false;
  out = truth;
  return true;
}

// A field as a value of its column; false where it is none.
inline bool read_field(Str s, const freshview_column& c, freshview_value& out) {
  out = freshview_null();
  if (!s.size && (c.nullable || c.kind != FRESHVIEW_TEXT)) return c.nullable;
  out.is_null = 0;
  char text[64];
  u32 size = 0;
  i64 number = 0;
  switch (c.kind) {
    case FRESHVIEW_INT:
      if (!to_int(s, number)) return false;
      break;
    case FRESHVIEW_DECIMAL: {
      i128 whole;
      if (!plain_text(s, text, size) || !read_decimal(text, size, c.scale, whole)) return false;
      out.number = int64_t(whole);
      out.high = int64_t(whole >> 64);
      return true;
    }
    case FRESHVIEW_DOUBLE: {
      Number parts;
      return read_number(s, parts) && !parts.suffix && to_double(s, out.real);
    }
    case FRESHVIEW_DATE: {
      Moment m{trimmed(s)};
      if (!read_day(m, number) || !m.done()) return false;
      break;
    }
    case FRESHVIEW_TIMESTAMP:
      if (!read_moment(s, number)) return false;
      break;
    case FRESHVIEW_BOOL: return read_truth(s, out.number);
    case FRESHVIEW_TEXT:
      out.text = s.at;
      out.size = s.size;
      return true;
  }
  out.number = number;
  return true;
}

// A double as the shortest text that reads back: 0.1, 5.0, 1e+16.
inline void print_double(FILE* to, f64 x) {
  if (x == 0 || x != x || !isfinite(x)) {
    fputs(x == 0 ? "0.0" : x != x ? "nan" : x > 0 ? "inf" : "-inf", to);
    return;
  }
  Digits d = digits_of(x);
  while (d.count > 1 && d.at[d.count - 1] == '0') d.count--;
  if (d.minus) putc('-', to);
  if (d.power < -4 || d.power >= 16) {
    putc(d.at[0], to);
    if (d.count > 1) putc('.', to), fwrite(d.at + 1, 1, size_t(d.count) - 1, to);
    fprintf(to, "e%+03d", d.power);
    return;
  }
  if (d.power < 0) fputs("0.", to);
  for (int i = d.power + 1; i < 0; i++) putc('0', to);
  for (int i = 0; i < d.count || i <= d.power; i++) {
    putc(i < d.count ? d.at[i] : '0', to);
    if (i == d.power) putc('.', to);
  }
  if (d.power >= d.count - 1 && d.power >= 0) putc('0', to);
}

inline void print_text(FILE* to, Str s) {
  bool quote = false;
  for (u32 i = 0; i < s.size; i++) quote |= strchr(",\"\r\n", s.at[i]) != nullptr;
  if (!quote) {
    fwrite(s.at, 1, s.size, to);
    return;
  }
  putc('"', to);
  for (u32 i = 0; i < s.size; i++) {
    if (s.at[i] == '"') putc('"', to);
    putc(s.at[i], to);
  }
  putc('"', to);
}

inline void print_moment(FILE* to, i64 moment) {
  char text[40];
  char* end = put_date(text, day_of(moment));
  *end = 0;
  fprintf(to, "%s %02d:%02d:%02d", text, int(hour_of(moment)), int(minute_of(moment)),
          int(second_of(moment)));
  if (const i64 micros = time_of(moment) % 1000000) fprintf(to, ".%06d", int(micros));
}

// A value as a field that reads back; NULL is the empty one.
inline void print_value(FILE* to, const freshview_column& c, const freshview_value& v) {
  char text[300];
  if (v.is_null) return;
  switch (c.kind) {
    case FRESHVIEW_INT: fprintf(to, "%lld", (long long)v.number); break;
    case FRESHVIEW_DECIMAL:
      *write_decimal(i128(u128(u64(v.high)) << 64 | u64(v.number)), c.scale, text) = 0;
      fputs(text, to);
      break;
    case FRESHVIEW_DOUBLE: print_double(to, v.real); break;
    case FRESHVIEW_DATE: *put_date(text, v.number) = 0, fputs(text, to); break;
    case FRESHVIEW_TIMESTAMP: print_moment(to, v.number); break;
    case FRESHVIEW_BOOL: fputs(v.number ? "true" : "false", to); break;
    case FRESHVIEW_TEXT: print_text(to, Str{v.text, u32(v.size)}); break;
  }
}

}  // namespace edge
}  // namespace fr
