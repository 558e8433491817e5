// The joiners of one process: their stores, where rows go among them, and a batch at once.
//
// While state moves, new rows are joined with what is on its way where it still is, and a piece of
// the state is settled after each batch; see `theta/operator/joiner.py`.
#pragma once

#include "epoch.hpp"
#include "store.hpp"

namespace fr {
namespace theta {

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
  Epoch epoch;
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
    epoch.close();
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
  // behind `most` pairs; how many rows were looked at. `keep(slot)` says which partners count.
  template <class Keep>
  i64 probe(Working store, const Rows& batch, const i64* row, i64 n, i64 most, Numbers& rows, Numbers& slots,
            Keep keep) {
    if (store.s.totals.length == store.s.totals.empty) return n;
    constexpr i64 BLOCK = Working::BLOCK;
    u32 leaf[BLOCK];
    const i64 enough = rows.count + most;
    for (i64 k = 0; k < n; k += BLOCK) {
      const i64 end = k + BLOCK < n ? k + BLOCK : n;
      for (i64 j = k; j < end; j++) leaf[j - k] = store.fetch_for(batch, row[j]);
      for (i64 j = k; j < end; j++) {
        if (rows.count >= enough) return j;
        store.each_partner(batch, row[j], leaf[j - k], [&](u32 slot) {
          if (keep(slot)) rows.add(row[j]), slots.add(slot);
        });
      }
    }
    return n;
  }

  // New rows of a joiner with what joiner `host` has, on its own behalf or on that of another one.
  void meet(i64 host, i64 owner, int side, const Rows& batch, const i64* row, i64 n, Numbers& found,
            Numbers& rows, Numbers& slots) {
    Working to = store(host, across(side));
    const Totals& totals = to.s.totals;
    const i64 before = rows.count;
    auto belongs = [&](u32 slot) {
      if (slot < totals.passed || slot >= totals.end) return host == owner;
      bool answer = false;
      epoch.each(routing, across(side), to.key_at(slot), to.hash_at(slot),
                 [&](i64 target, i64 source) { answer |= target == owner && source == host; });
      return answer;
    };
    if (totals.passed == totals.end) {
      if (host == owner) probe(to, batch, row, n, INT64_MAX / 2, rows, slots, [](u32) { return true; });
    } else {
      probe(to, batch, row, n, INT64_MAX / 2, rows, slots, belongs);
    }
    if (rows.count > before) found.add(host), found.add(rows.count - before);
  }

  // Joins and stores the rows of one side. `found` gets, host by host, its number and how many of
  // the pairs are its own; `received` the bytes of each host.
  void enter(int side, const Rows& batch, const i64* order, i64 n, Numbers& found, Numbers& rows, Numbers& slots,
             i64* received) {
    Routed routed = route(side, batch, order, n);
    const i64* size = batch.as<i64>(env.form[side].known(Size));
    i64* places = static_cast<i64*>(malloc(size_t(routed.size + 1) * 8));
    for (i64 host = 0; host < hosts; host++) {
      const i64 first = routed.first[host], n_here = routed.first[host + 1] - first;
      if (!n_here) continue;
      const i64* mine = routed.row + first;
      meet(host, host, side, batch, mine, n_here, found, rows, slots);
      if (const i64* senders = epoch.first[across(side)])
        for (i64 k = senders[host]; k < senders[host + 1]; k++)
          meet(epoch.from[across(side)][k], host, side, batch, mine, n_here, found, rows, slots);
      for (i64 k = 0; k < n_here; k++) received[host] += size[mine[k]];
      const i64 kept = routed.kept[host] - first;
      Working to = store(host, side);
      to.add_all(batch, mine, kept, places);
    }
    free(places);
    free(routed.first);
    free(routed.row);
  }

  // Settles rows of a side of about so many bytes, and one at least: those that others need are
  // given to them, those that are not needed here are dropped. The bytes that went elsewhere.
  i64 settle(i64 host, int side, f64 budget) {
    Working here = store(host, side);
    Totals& totals = here.s.totals;
    Numbers* going = static_cast<Numbers*>(calloc(size_t(hosts), sizeof(Numbers)));
    Numbers dropped;
    i64 sent = 0;
    for (f64 seen = 0; totals.passed < totals.end; totals.passed++) {
      const i64 slot = totals.passed;
      if (!here.weight(slot)) continue;
      const i64 size = here.size_at(slot);
      if (seen && seen + f64(size) > budget) break;
      seen += f64(size);
      bool stays = false;
      epoch.each(routing, side, here.key_at(slot), here.hash_at(slot), [&](i64 target, i64 source) {
        stays |= target == host;
        if (source == host && target != host) going[target].add(slot), sent += size;
      });
      if (!stays) dropped.add(slot);
    }
    for (i64 to = 0; to < hosts; to++) {
      const i64 n = going[to].count;
      if (!n) continue;
      i64* places = static_cast<i64*>(malloc(size_t(n) * 8));
      store(to, side).add_all(here.s.rows, going[to].at, n, places);
      free(places);
      going[to].close();
    }
    here.drop(dropped.at, dropped.count);
    dropped.close();
    free(going);
    if (totals.passed == totals.end) here.unpin();
    return sent;
  }
};

}  // namespace theta
}  // namespace fr
