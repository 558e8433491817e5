// Where rows go: the tables of a placement, as `theta/operator/direct.py` writes them out.
#pragma once

#include "rows.hpp"

namespace fr {
namespace theta {

// The hosts of the addresses of a side: for address a, those from `start[a]` on keep its rows, and
// those from `visited[a]` on only join them.
struct Addresses {
  i64 count;
  i64 *start, *visited, *host;
};

// Grids that share the rows of some buckets: from which address on, and in how many parts.
struct Grids {
  i64 base[2], parts[2];
};

struct Routing {
  Addresses side[2];
  i64* bucket;  // by the first 16 bits of a hash: an address, or -1 - the number of grids; or null
  Grids* grids;
  i64 *group_end, groups;  // of the lower 32 bits of a key

  i64 address(int x, u64 key, u64 hash) const {
    i64 which = 0;
    if (bucket) {
      const i64 b = bucket[hash >> 48];
      if (b >= 0) return b;
      which = -1 - b;
    }
    const Grids& g = grids[which];
    i64 group = 0;
    while (group < groups - 1 && i64(key & 0xFFFFFFFF) >= group_end[group]) group++;
    const i64 part = g.parts[x] > 1 ? i64(key >> (65 - (64 - __builtin_clzll(u64(g.parts[x]))))) : 0;
    return g.base[x] + group * g.parts[x] + part;
  }

  void close() {
    for (Addresses& a : side) free(a.start), free(a.visited), free(a.host);
    free(bucket), free(grids), free(group_end);
    *this = Routing{};
  }
};

}  // namespace theta
}  // namespace fr
