// Texts as symbols: equal texts have equal symbols, and a symbol is a number.
//
// Up to seven bytes are packed into the symbol itself: the length in its top byte, the text below.
// Longer ones are stored once, and their symbol is 0xFE and the place of the text in the arena.
// Texts are never removed.
//
// A row store keeps texts elsewhere in the arena, and not once: 0xFD, the size and the place of the
// text make symbols that are read like the others, but equal ones may differ.
#pragma once

#include "flat.hpp"

namespace fr {

// With a constant as `b`, whose size the compiler knows, this is a comparison of words.
inline bool text_equal(Str a, Str b) {
  return a.size == b.size && (b.size == 0 || memcmp(a.at, b.at, b.size) == 0);
}

// Negative, zero or positive. Order of UTF-8 bytes is order of code points.
inline int text_compare(Str a, Str b) {
  u32 both = a.size < b.size ? a.size : b.size;
  int order = both ? memcmp(a.at, b.at, both) : 0;
  return order ? order : (a.size > b.size) - (a.size < b.size);
}

inline u32 next_code_point(Str text, u32 i) {
  do ++i;
  while (i < text.size && (u8(text.at[i]) & 0xc0) == 0x80);
  return i;
}

// SQL's LIKE. Any text and one code point are bytes that stand in no UTF-8: what was escaped in the
// pattern stands for itself.
constexpr char any_text = char(0xff), any_point = char(0xfe);

inline bool text_like(Str text, Str pattern) {
  constexpr u32 none = ~u32(0);
  u32 t = 0, p = 0;
  u32 retry_p = none, retry_t = 0;  // behind the last %, and where in the text it was tried
  while (t < text.size) {
    char want = p < pattern.size ? pattern.at[p] : 0;
    if (p < pattern.size && want == any_text) {
      retry_p = ++p;
      retry_t = t;
    } else if (p < pattern.size && want == any_point) {
      t = next_code_point(text, t);
      ++p;
    } else if (p < pattern.size && want == text.at[t]) {
      ++t;
      ++p;
    } else if (retry_p != none) {
      t = retry_t = next_code_point(text, retry_t);
      p = retry_p;
    } else {
      return false;
    }
  }
  while (p < pattern.size && pattern.at[p] == any_text) ++p;
  return p == pattern.size;
}

// A pattern of a row as `text_like` takes it, into room of its size; false where the escape character
// stands before anything but %, _ and itself.
inline bool read_pattern(Str pattern, Str escape, char* room, Str& out) {
  u32 size = 0;
  for (u32 i = 0; i < pattern.size;) {
    bool escaped = pattern.size - i >= escape.size && memcmp(pattern.at + i, escape.at, escape.size) == 0;
    if (escaped) i += escape.size;
    u32 end = i < pattern.size ? next_code_point(pattern, i) : i;
    bool itself = end - i == escape.size && memcmp(pattern.at + i, escape.at, escape.size) == 0;
    char c = i < end ? pattern.at[i] : 0;
    if (escaped && c != '%' && c != '_' && !itself) return false;
    if (!escaped && (c == '%' || c == '_')) room[size++] = c == '%' ? any_text : any_point, i++;
    else while (i < end) room[size++] = pattern.at[i++];
  }
  return out = Str{room, size}, true;
}

// Pieces of a pattern; the first two take what they find off the text. The ends of code points
// cannot be mistaken in UTF-8, so bytes will do.
inline bool text_starts(Str& text, Str piece) {
  if (text.size < piece.size || memcmp(text.at, piece.at, piece.size) != 0) return false;
  text = Str{text.at + piece.size, text.size - piece.size};
  return true;
}

inline bool text_passes(Str& text, Str piece) {
  const void* match = memmem(text.at, text.size, piece.at, piece.size);
  if (match == nullptr) return false;
  u32 past = u32(static_cast<const char*>(match) - text.at) + piece.size;
  text = Str{text.at + past, text.size - past};
  return true;
}

inline bool text_ends(Str text, Str piece) {
  return text.size >= piece.size &&
         memcmp(text.at + text.size - piece.size, piece.at, piece.size) == 0;
}

inline u64 text_hash(Str text) {
  u64 hash = text.size;
  u32 i = 0;
  for (; i + 8 <= text.size; i += 8) {
    u64 part;
    memcpy(&part, text.at + i, 8);
    hash = mix(hash, part);
  }
  u64 rest = 0;
  if (i < text.size) memcpy(&rest, text.at + i, text.size - i);
  return mix(hash, rest);
}

struct Strings {
  // Zeroed memory needs no `init`.
  void init(Arena&) { *this = Strings{}; }

  // How many texts are stored; short ones are not.
  u64 size() const { return index.size(); }
  u64 bytes() const { return index.bytes() + held; }

  static constexpr u64 long_mark = u64(0xfe) << 56;
  static constexpr Sym unknown{long_mark};  // of a text that is not here
  static constexpr u64 placed_mark = u64(0xfd) << 56;
  static constexpr u32 placed_most = 0xffff;  // bytes of a text whose size fits into its symbol

  static Sym placed(u64 at, u32 size) { return Sym{placed_mark | u64(size) << 40 | at}; }

  // The symbol of a text of up to seven bytes. No loop, and no byte beyond the text is read: pieces
  // from both ends may overlap.
  static Sym pack(Str text) {
    const u8* at = reinterpret_cast<const u8*>(text.at);
    u32 n = text.size;
    u64 bits = u64(n) << 56;
    if (n >= 4) {
      u32 first, last;
      memcpy(&first, at, 4);
      memcpy(&last, at + n - 4, 4);
      bits |= first | u64(last) << 8 * (n - 4);
    } else if (n > 0) {
      bits |= at[0] | u64(at[n / 2]) << 8 * (n / 2) | u64(at[n - 1]) << 8 * (n - 1);
    }
    return Sym{bits};
  }

  // The symbol of a text, which is stored if it is new.
  Sym put(Arena& arena, Str text) {
    if (text.at == nullptr) return null<Sym>();
    return text.size <= 7 ? pack(text) : put_long(arena, text);
  }

  // Apart from `put`: most texts that are keys are short.
  __attribute__((noinline)) Sym put_long(Arena& arena, Str text) {
    Entry* entry = index.at(arena, Key{arena, text, text_hash(text)});
    if (entry->text == 0) entry->text = store(arena, text);
    return Sym{long_mark | entry->text};
  }

  // The symbol of a text; false if no row ever brought it.
  bool find(Arena& arena, Str text, Sym& out) const {
    if (text.at == nullptr) return out = null<Sym>(), true;
    if (text.size <= 7) return out = pack(text), true;
    Entry* entry = index.find(arena, Key{arena, text, text_hash(text)});
    if (entry == nullptr) return false;
    return out = Sym{long_mark | entry->text}, true;
  }

  // The text of a symbol; a short one is unpacked into `room`.
  Str get(Arena& arena, Sym sym, char (&room)[8]) const {
    if (sym.bits >= placed_mark) return get_long(arena, sym);
    memcpy(room, &sym.bits, 8);
    return Str{room, u32(sym.bits >> 56)};
  }

  // The text of a symbol that is not short; null for NULL.
  static Str get_long(Arena& arena, Sym sym) {
    if (is_null(sym)) return null<Str>();
    if (sym.bits >= long_mark) return text_at(arena, sym.bits & ~long_mark);
    const u64 at = sym.bits & ((u64(1) << 40) - 1);
    return Str{arena.at<char>(at), u32(sym.bits >> 40) & placed_most};
  }

 private:
  struct Key {
    Arena& arena;
    Str text;
    u64 hash;
  };

  struct Entry {
    u64 full_hash;
    u64 text;  // offset of its size (u32), which its bytes follow

    using Key = Strings::Key;
    static u64 hash(const Key& key) { return key.hash; }
    u64 hash() const { return full_hash; }
    bool is(const Key& key) const {
      return full_hash == key.hash && text != 0 && text_equal(text_at(key.arena, text), key.text);
    }
    void set(const Key& key) { full_hash = key.hash; }
    bool empty() const { return text == 0; }
  };

  Flat<Entry> index;
  u64 free, end;  // what is left of the block that texts are put into now
  u64 held;

  static Str text_at(Arena& arena, u64 offset) {
    return Str{arena.at<char>(offset + 4), *arena.at<u32>(offset)};
  }

  // Texts lie close together in blocks, which grow with the store from 1 to 64 KiB.
  u64 store(Arena& arena, Str text) {
    u64 need = round_up(4 + u64(text.size), 4);
    if (need > end - free) {
      u64 block = held < 1024 ? 1024 : held > 65536 ? 65536 : held;
      if (block < need) block = need;
      free = arena.take(block);
      end = free + block;
      held += block;
    }
    u64 offset = free;
    free += need;
    *arena.at<u32>(offset) = text.size;
    memcpy(arena.at<char>(offset + 4), text.at, text.size);
    return offset;
  }
};

// The order of the texts that symbols stand for, NULL first. The state begins with its text store.
inline bool text_sorts(Arena& arena, Sym a, Sym b) {
  if (is_null(a) || is_null(b)) return !is_null(b);
  const Strings& strings = *arena.at<Strings>(Arena::start);
  char left[8], right[8];
  return text_compare(strings.get(arena, a, left), strings.get(arena, b, right)) < 0;
}

}  // namespace fr
