// The Arrow C data interface, and memory for what is converted to it and from it.
#pragma once

#include <stdlib.h>

#include "kernel.hpp"

namespace fr {
namespace edge {  // names of its own: generated code stands beside it

// The three structs of the interface, as its specification fixes them.
struct ArrowSchema {
  const char *format, *name, *metadata;
  i64 flags, n_children;
  ArrowSchema **children, *dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  i64 length, null_count, offset, n_buffers, n_children;
  const void** buffers;
  ArrowArray **children, *dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
  int (*get_next)(ArrowArrayStream*, ArrowArray*);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};

// A piece of memory that calls use one after the other: what it holds is near, and it costs nothing to
// take. Whoever finds it taken does without.
struct Slab {
  static constexpr size_t SIZE = 256 * 1024;
  inline static u8* spare = nullptr;

  // The slab, which now belongs to the caller; null where there is none.
  static u8* take() {
    u8* slab = __atomic_exchange_n(&spare, nullptr, __ATOMIC_ACQUIRE);
    return slab ? slab : static_cast<u8*>(aligned_alloc(64, SIZE));
  }
  static void give(u8* slab) {
    u8* none = nullptr;
    if (!__atomic_compare_exchange_n(&spare, &none, slab, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
      free(slab);
  }
};

// Memory that is given back all at once, when its last holder lets go.
struct Room {
  struct Block { Block* next; void* apart; };  // two words, so that what follows is aligned
  Block* blocks;
  Room* under;  // held as long as this one
  Room* outer;  // of those that last as long as a call, the one that was opened before
  int holders;
  u8* slab;     // of a room that lasts as long as a call: where its first arrays lie
  size_t used;  // bytes of that

  static Room* open(Room* under = nullptr) {
    Room* room = static_cast<Room*>(malloc(sizeof(Room)));
    if (!room) out_of_memory("freshview: not enough memory for a batch.\n");
    *room = Room{nullptr, under, nullptr, 1, nullptr, Slab::SIZE};
    if (under) under->hold();
    return room;
  }
  static Room* open_for_call() {
    Room* room = open();
    if ((room->slab = Slab::take())) room->used = 0;
    return room;
  }
  void* take(size_t bytes) {
    if (bytes > Slab::SIZE - used || !slab) return take_block(bytes);
    u8* at = slab + used;
    used += (bytes + 63) & ~size_t(63);  // the size of a slab is a multiple, too
    return at;
  }
  // Takes over what malloc gave to somebody else.
  void adopt(void* block) {
    take_block(0);
    blocks->apart = block;
  }
  template <class T> T* array(i64 size) { return static_cast<T*>(take(size_t(size) * sizeof(T))); }
  void hold() { __atomic_add_fetch(&holders, 1, __ATOMIC_RELAXED); }
  void let_go() {
    if (__atomic_sub_fetch(&holders, 1, __ATOMIC_ACQ_REL)) return;
    while (blocks) {
      Block* next = blocks->next;
      free(blocks->apart);
      free(blocks);
      blocks = next;
    }
    if (slab) Slab::give(slab);
    if (under) under->let_go();
    free(this);
  }

 private:
  void* take_block(size_t bytes) {
    Block* block = static_cast<Block*>(malloc(sizeof(Block) + bytes));
    if (!block) out_of_memory("freshview: not enough memory for a batch.\n");
    *block = Block{blocks, nullptr};
    blocks = block;
    return block + 1;
  }
};

inline size_t size_in(Kind kind, Form form = Plain) {  // of a value on its way in
  switch (kind) {
    case Decimal128: return form == Narrow ? sizeof(i64) : sizeof(i128);
    case Text: return sizeof(Str);
    case Date: return sizeof(i32);
    case Bool: return sizeof(i8);
    default: return 8;
  }
}

inline size_t size_out(Kind kind) { return kind == Text ? sizeof(Sym) : size_in(kind); }

}  // namespace edge
}  // namespace fr
