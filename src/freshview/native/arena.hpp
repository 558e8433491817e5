// Memory of one kernel: one range of addresses, handed out in blocks that are named by offset.
//
// Everything that must survive, the allocator's own book included, lies in the first `used` bytes
// and holds no pointers: a copy of those bytes, at any address, is the whole state. The range is
// reserved once and made accessible as it fills, so blocks never move while a process runs.
//
// The memory belongs to this process, or to a file that several processes map, one at work at a time.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "value.hpp"

namespace fr {

[[noreturn]] inline void fail(const char* sentence) {
  ssize_t ignored = ::write(2, sentence, strlen(sentence));
  (void)ignored;
  abort();
}

// Where a thread goes on when there is no memory; null where nothing could be undone.
inline thread_local jmp_buf* escape = nullptr;

[[noreturn]] inline void out_of_memory(const char* sentence) {
  if (escape) longjmp(*escape, 1);
  fail(sentence);
}

// Calls f; false if it had to stop for want of memory. Nothing between here and there may need a
// destructor.
template <class F> __attribute__((noinline)) bool attempt(F&& f) {
  jmp_buf here;
  jmp_buf* const outer = escape;
  if (_setjmp(here)) {
    escape = outer;
    return false;
  }
  escape = &here;
  f();
  escape = outer;
  return true;
}

// Starts to load what is read soon. GCC takes a function that does nothing but prefetch for one
// that does nothing, and drops its calls; hence the empty statement.
inline void fetch(const void* soon) {
  __builtin_prefetch(soon);
  asm volatile("");
}

inline u32 log2_of(u64 x) { return 63 - u32(__builtin_clzll(x)); }
inline u64 round_up(u64 x, u64 step) { return (x + step - 1) & ~(step - 1); }

struct Arena {
 private:
  static constexpr u64 kib = 1024, mib = 1024 * kib;
  static constexpr u64 huge = 2 * mib;    // the step of large pages
  static constexpr u64 keep = 64 * mib;   // what an emptied arena holds on to
  static constexpr u64 least = 16 * mib;  // the smallest range of addresses that is of use
  static constexpr int classes = 48 * 4;  // four sizes between two powers of two

  struct Book {
    u64 used;
    u64 mark;           // a word for the owner of the arena
    u64 stamp;          // a word for the owner of the file (STAMP of load.py)
    u64 free[classes];  // the first free block of each size; a free block starts with the next
  };

 public:
  static constexpr u64 start = (sizeof(Book) + 63) / 64 * 64;  // what the first `take` returns

  // Reserves addresses, not memory; false when the system refuses even the smallest range. Where
  // addresses are limited, others get their share of them. The file, if there is one, is open for reading and writing, and is closed with the arena; what it
  // holds is the state.
  static bool open(Arena& arena, int file = -1, u64 reserve = u64(1) << 40) {
    for (u64 share = 1; reserve >= least; reserve /= 2, share = 4) {
      void* at = mmap(nullptr, reserve + huge, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (at == MAP_FAILED) continue;
      if (share > 1 && reserve / share >= least) {
        munmap(static_cast<u8*>(at) + reserve / share + huge, reserve - reserve / share);
        reserve /= share;
      }
      arena = Arena();
      arena.mapped = static_cast<u8*>(at);
      arena.base = arena.mapped + (-reinterpret_cast<uintptr_t>(at) & (huge - 1));
      arena.reserve = reserve;
#ifdef MADV_HUGEPAGE
      madvise(arena.base + huge, reserve - huge, MADV_HUGEPAGE);  // small kernels stay small
#endif
      arena.file = file;
      arena.refresh();
      if (arena.ready == 0 && !arena.extend(start)) {
        arena.file = -1;
        arena.close();
        return false;
      }
      // The first change does not wait for the first pages.
      for (u64 k = 0; file < 0 && k < 16 * kib; k += 4 * kib) *const_cast<volatile u8*>(arena.base + k) = 0;
      if (arena.book().used == 0) arena.book().used = start;
      return true;
    }
    return false;
  }

  // Maps what another process has added to the file.
  void refresh() {
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0 || u64(status.st_size) <= ready) return;
    if (!map_file(u64(status.st_size) < reserve ? u64(status.st_size) : reserve))
      fail("freshview: the file of the state cannot be mapped.\n");
  }

  // Sees to it that a change has room for so many bytes; false if there is none, and nothing has
  // happened. Only addresses are asked for, but in a file, where pages are promised.
  bool prepare(u64 bytes) {
    if (file >= 0 && bytes > 32 * mib) bytes = 32 * mib;
    return bytes <= reserve - used() && (used() + bytes <= ready || extend(used() + bytes));
  }

  bool is_open() const { return base != nullptr; }
  bool is_shared() const { return file >= 0; }
  u64& mark() const { return book().mark; }

  void close() {
    if (mapped) munmap(mapped, reserve + huge);
    if (file >= 0) ::close(file);
    *this = Arena();
  }

  // A zeroed block, aligned to 64 bytes (16 when smaller than that); never offset 0, which is
  // free to mean "none".
  u64 take(u64 bytes) {
    u64 size = size_of(bytes);
    u64& first = book().free[class_of(size)];
    if (first == 0) return take_new(size);
    u64 block = first;
    first = *at<u64>(block);
    memset(at<u8>(block), 0, size);
    return block;
  }

  // Takes a block back; `bytes` as it was given to `take`.
  void give(u64 block, u64 bytes) {
    u64& first = book().free[class_of(size_of(bytes))];
    *at<u64>(block) = first;
    first = block;
  }

  template <class T> T* at(u64 offset) const { return reinterpret_cast<T*>(base + offset); }

  u64 used() const { return book().used; }

  // Everything is free again. What was dirtied is zeroed when it is taken next, so emptying costs
  // the same however much was used; memory above `keep` goes back to the system.
  void reset() {
    if (file >= 0) {  // others do not know what is dirty
      memset(base, 0, used());
      book().used = start;
      return;
    }
    if (dirty < used()) dirty = used();
#ifdef __linux__  // elsewhere the pages need not come back as zeros
    if (dirty > keep) {
      madvise(base + keep, round_up(dirty, 4 * kib) - keep, MADV_DONTNEED);
      dirty = keep;
    }
#endif
    memset(&book(), 0, sizeof(Book));
    book().used = start;
  }

  // Writes the state to a file, at its current position.
  bool save(int fd) const {
    u64 size = round_up(used(), 64);
    Header header{magic, version, size, checksum(size)};
    return put(fd, reinterpret_cast<const u8*>(&header), sizeof header) && put(fd, base, size);
  }

  // Reads what `save` wrote. False, and an empty arena, when it is cut short or damaged.
  bool load(int fd) {
    reset();
    Header header;
    if (!get(fd, reinterpret_cast<u8*>(&header), sizeof header)) return false;
    if (header.magic != magic || header.version != version || header.size % 64 != 0) return false;
    if (header.size < start || header.size > reserve) return false;
    if (header.size > ready && !extend(header.size)) return false;
    bool whole = get(fd, base, header.size);
    if (file < 0 && dirty < header.size) dirty = header.size;
    if (whole && checksum(header.size) == header.sum && round_up(used(), 64) == header.size)
      return true;
    book().used = file < 0 ? start : header.size;  // what was read is not a size to trust
    reset();
    return false;
  }

 private:
  struct Header {
    u64 magic, version, size, sum;
  };
  static constexpr u64 magic = 0x0a74656873657266;  // "freshview\n"
  static constexpr u64 version = 3;

  // These belong to the mapping, not to the state.
  u8* base = nullptr;
  u8* mapped = nullptr;
  u64 reserve = 0;
  u64 ready = 0;  // accessible bytes
  u64 dirty = 0;  // bytes beyond `used` and below this may differ from zero
  int file = -1;  // whose pages these are

  Book& book() const { return *at<Book>(0); }

  // Sizes are 16, 32, 48, multiples of 64 up to 256, then four to a doubling: a table that grows
  // leaves blocks of exactly the sizes that the next one to grow will ask for.
  static u64 size_of(u64 bytes) {
    if (bytes < 64) return bytes ? round_up(bytes, 16) : 16;
    u64 step = u64(1) << (log2_of(bytes) - 2);
    return round_up(bytes, step < 64 ? 64 : step);
  }

  static u32 class_of(u64 size) {
    u32 log = log2_of(size);
    return (log - 4) * 4 + ((size >> (log - 2)) & 3);
  }

  u64 take_new(u64 size) {
    u64& end = book().used;
    if (size >= 64 && end % 64 != 0) {
      u64 gap = 64 - end % 64;
      give(end, gap);
      end += gap;
    }
    if (size > reserve - end || (end + size > ready && !extend(end + size)))
      out_of_memory("freshview: not enough memory for the state.\n");
    u64 block = end;
    end += size;
    if (block < dirty) memset(base + block, 0, (dirty < end ? dirty : end) - block);
    return block;
  }

  // What follows the first step grows by whole large pages. That step is as much as the first changes
  // ask for: addresses cost nothing. A file begins with less, as its pages are promised.
  bool extend(u64 need) {
    const u64 first = file >= 0 ? mib : 2 * huge;
    u64 room = need <= first ? first : round_up(need + (need / 8 > mib ? need / 8 : mib), huge);
    if (room > reserve) room = reserve;
    if (file >= 0) {
      // Pages are promised here, as a file system that is full later would stop the process.
      int code = posix_fallocate(file, off_t(ready), off_t(room - ready));
      return code == 0 && map_file(room);
    }
    if (mprotect(base, room, PROT_READ | PROT_WRITE) != 0) return false;
    ready = room;
    return true;
  }

  // What is mapped already stays so: pages that this process knows need not be found again. The
  // others it learns all at once, as they are there already; one by one they take three times as long.
  bool map_file(u64 room) {
    int how = MAP_SHARED | MAP_FIXED;
#ifdef MAP_POPULATE
    how |= MAP_POPULATE;
#endif
    void* at = mmap(base + ready, room - ready, PROT_READ | PROT_WRITE, how, file, off_t(ready));
    if (at == MAP_FAILED) return false;
    ready = room;
    return true;
  }

  u64 checksum(u64 size) const {
    u64 lane[4] = {size, version, 2, 3};
    const u64* word = at<u64>(0);
    for (u64 i = 0; i < size / 8; i += 4)
      for (int j = 0; j < 4; ++j) lane[j] = mix(lane[j], word[i + j]);
    return mix(mix(lane[0], lane[1]), mix(lane[2], lane[3]));
  }

  static bool put(int fd, const u8* from, u64 size) {
    while (size > 0) {
      ssize_t n = ::write(fd, from, size < (1u << 30) ? size : (1u << 30));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      from += n;
      size -= u64(n);
    }
    return true;
  }

  static bool get(int fd, u8* to, u64 size) {
    while (size > 0) {
      ssize_t n = ::read(fd, to, size < (1u << 30) ? size : (1u << 30));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      to += n;
      size -= u64(n);
    }
    return true;
  }
};

}  // namespace fr
