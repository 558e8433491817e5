// The joiners of one process: their stores, where rows go among them, and a batch at once.
//
// What routing means is in `theta/placement.py`; here are its tables. While state moves, Python
// routes and joins, store by store; this file is for all the other batches, and for single rows.
#pragma once

#include "store.hpp"

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

struct Single;  // rows one by one, in `single.hpp`

template <class Theta> struct Join {
  using Env = typename Theta::Env;
  using OneStore = Store<Theta>;
  using Working = StoreOf<Theta>;

  Arena arena;
  Env env;
  bool merges[2];
  OneStore** stores;  // those of R at even places, of S at odd ones
  i64 hosts, room;
  Routing routing;
  // Of single rows that came since Python last asked: how many of each side there are in all, what
  // the scheme must hear of them, and after how many it wants to.
  i64 counts[2], quota, pairs, received;
  bool is_diverted;
  Numbers heard[2];  // key, hash and size of each row
  i64 seed[2];

  Working store(i64 host, int side) {
    return Working{arena, env, env.form[side], side, merges[side], *stores[2 * host + side]};
  }

  i64 add_host() {
    for (i64 host = 0; host < hosts; host++)
      if (!stores[2 * host]->is_open && !stores[2 * host + 1]->is_open) return open_host(host);
    if (hosts == room) {
      room = room ? 2 * room : 16;
      stores = static_cast<OneStore**>(realloc(stores, size_t(2 * room) * sizeof(OneStore*)));
    }
    for (int side = R; side <= S; side++) stores[2 * hosts + side] = static_cast<OneStore*>(calloc(1, sizeof(OneStore)));
    return open_host(hosts++);
  }

  i64 open_host(i64 host) {
    for (int side = R; side <= S; side++) stores[2 * host + side]->is_open = true;
    return host;
  }

  void close() {
    for (i64 i = 0; i < 2 * hosts; i++) {
      stores[i]->close(arena);
      free(stores[i]);
    }
    free(stores);
    routing.close();
    for (int side = R; side <= S; side++) heard[side].close();
    arena.close();
  }

  // A batch of one side, as its rows go to the hosts.
  struct Routed {
    i64 *first, *row;  // by host: where its rows begin; the rows, those that are kept first
    i64 *kept;         // by host: where the rows end that it keeps
    i64 size;
  };

  // The rows of a batch by host, in the order of `order`.
  Routed route(int side, const Rows& batch, const i64* order, i64 n) {
    const Form& form = env.form[side];
    const u64 *key = batch.as<u64>(form.known(Key)), *hash = batch.as<u64>(form.known(Hash));
    const Addresses& all = routing.side[side];
    i64* address = static_cast<i64*>(malloc(size_t(n + 1) * 8));
    i64* many = static_cast<i64*>(calloc(size_t(3 * hosts + 3), 8));
    Routed out{many, nullptr, many + hosts + 1, 0};
    i64* visits = many + 2 * hosts + 2;
    for (i64 k = 0; k < n; k++) {
      const i64 i = order ? order[k] : k, a = address[k] = routing.address(side, key[i], hash[i]);
      for (i64 h = all.start[a]; h < all.visited[a]; h++) out.kept[all.host[h]]++;
      for (i64 h = all.visited[a]; h < all.start[a + 1]; h++) visits[all.host[h]]++;
    }
    for (i64 host = 0; host < hosts; host++) {
      out.first[host] = out.size;
      out.size += out.kept[host] + visits[host];
      const i64 kept = out.kept[host];
      out.kept[host] = out.first[host];  // they move on as rows come
      visits[host] = out.first[host] + kept;
    }
    out.first[hosts] = out.size;
    out.row = static_cast<i64*>(malloc(size_t(out.size + 1) * 8));
    for (i64 k = 0; k < n; k++) {
      const i64 i = order ? order[k] : k, a = address[k];
      for (i64 h = all.start[a]; h < all.visited[a]; h++) out.row[out.kept[all.host[h]]++] = i;
      for (i64 h = all.visited[a]; h < all.start[a + 1]; h++) out.row[visits[all.host[h]]++] = i;
    }
    free(address);
    return out;
  }

  // Rows of a batch with what a store has: pairs of a row and a slot, in `rows` and `slots`. Stops
  // behind `most` pairs; how many rows were looked at.
  i64 probe(Working store, const Rows& batch, const i64* row, i64 n, i64 most, Numbers& rows, Numbers& slots) {
    if (store.s.totals.length == store.s.totals.empty) return n;
    constexpr i64 BLOCK = Working::BLOCK;
    u32 leaf[BLOCK];
    const i64 enough = rows.count + most;
    for (i64 k = 0; k < n; k += BLOCK) {
      const i64 end = k + BLOCK < n ? k + BLOCK : n;
      for (i64 j = k; j < end; j++) leaf[j - k] = store.fetch_for(batch, row[j]);
      for (i64 j = k; j < end; j++) {
        if (rows.count >= enough) return j;
        store.each_partner(batch, row[j], leaf[j - k], [&](u32 slot) { rows.add(row[j]), slots.add(slot); });
      }
    }
    return n;
  }

  // Joins and stores the rows of one side. `found` gets, host by host, its number and how many of
  // the pairs are its own; `received` the bytes of each host.
  void enter(int side, const Rows& batch, const i64* order, i64 n, Numbers& found, Numbers& rows, Numbers& slots,
             i64* received) {
    Routed routed = route(side, batch, order, n);
    const i64* size = batch.as<i64>(env.form[side].known(Size));
    i64* places = static_cast<i64*>(malloc(size_t(routed.size + 1) * 8));
    Numbers shadows;
    for (i64 host = 0; host < hosts; host++) {
      const i64 first = routed.first[host], n_here = routed.first[host + 1] - first;
      if (!n_here) continue;
      const i64 before = rows.count, *mine = routed.row + first;
      probe(store(host, across(side)), batch, mine, n_here, INT64_MAX / 2, rows, slots);
      if (rows.count > before) found.add(host), found.add(rows.count - before);
      for (i64 k = 0; k < n_here; k++) received[host] += size[mine[k]];
      const i64 kept = routed.kept[host] - first;
      Working to = store(host, side);
      if (!merges[side]) {
        to.append_all(batch, mine, kept, places);
      } else {
        for (i64 k = 0; k < kept; k++) to.merge(batch, mine[k], shadows);
      }
    }
    shadows.close();  // nothing is pinned: there are none
    free(places);
    free(routed.first);
    free(routed.row);
  }

  u64 bytes() const { return arena.used(); }
};

}  // namespace theta
}  // namespace fr
