// From one routing to the next: which rows a joiner keeps, and which go where (`theta/migration.py`).
//
// A row that is on its way is joined where it still is: on behalf of each joiner that will have it.
#pragma once

#include "routing.hpp"

namespace fr {
namespace theta {

struct Epoch {
  Routing before;
  i64* part[2];             // of an old address: which replica sends where several could
  i64 *first[2], *from[2];  // by host: where its senders begin; the senders
  Numbers plans;            // each a count, then pairs of a target and the host that it gets the row from
  i64* table;               // of the plans, by side and addresses: three numbers an entry, and a place + 1
  u64 room, count;

  void close() {
    before.close();
    for (int side = R; side <= S; side++) free(part[side]), free(first[side]), free(from[side]);
    plans.close();
    free(table);
    *this = Epoch{};
  }

  // f(target, source) for every joiner that has a row under the new routing: where it has it from,
  // which is itself if the row is there already.
  template <class F> void each(const Routing& after, int side, u64 key, u64 hash, F f) {
    const i64 here = before.address(side, key, hash), there = after.address(side, key, hash);
    const i64 place = plan_of(after, side, here, there);  // `plans` may move
    const i64* plan = plans.at + place;
    for (i64 k = 0, n = *plan++; k < n; k++, plan += 2) f(plan[0], plan[1]);
  }

 private:
  struct Entry {
    i64 side, here, there, place;
  };

  Entry* entry(i64 side, i64 here, i64 there) const {
    Entry* all = reinterpret_cast<Entry*>(table);
    for (u64 i = combine(u64(here) * 2 + u64(side), u64(there)) & (room - 1);; i = (i + 1) & (room - 1)) {
      Entry& e = all[i];
      if (!e.place || (e.side == side && e.here == here && e.there == there)) return &e;
    }
  }

  i64 plan_of(const Routing& after, int side, i64 here, i64 there) {
    if (room) {
      const Entry* e = entry(side, here, there);
      if (e->place) return e->place - 1;
    }
    if (2 * (count + 1) > room) widen();
    const i64 place = plans.count;
    make_plan(after, side, here, there);
    *entry(side, here, there) = Entry{side, here, there, place + 1};
    count++;
    return place;
  }

  __attribute__((noinline)) void widen() {
    Entry* old = reinterpret_cast<Entry*>(table);
    const u64 n = room;
    room = room ? 2 * room : 64;
    table = static_cast<i64*>(calloc(room, sizeof(Entry)));
    for (u64 i = 0; i < n; i++)
      if (old[i].place) *entry(old[i].side, old[i].here, old[i].there) = old[i];
    free(old);
  }

  __attribute__((noinline)) void make_plan(const Routing& after, int side, i64 here, i64 there) {
    const Addresses &old = before.side[side], &now = after.side[side];
    const i64 *had = old.host + old.start[here], *gets = now.host + now.start[there];
    const i64 n_had = old.visited[here] - old.start[here], n_gets = now.visited[there] - now.start[there];
    plans.add(n_gets);
    for (i64 x = 0; x < n_gets; x++) {
      i64 source = -1;
      for (i64 k = 0; k < n_had; k++)
        if (had[k] == gets[x]) source = gets[x];
      if (source < 0 && n_gets >= n_had) source = had[x * n_had / n_gets];
      if (source < 0) source = had[x * (n_had / n_gets) + part[side][here] % (n_had / n_gets)];
      plans.add(gets[x]), plans.add(source);
    }
  }
};

}  // namespace theta
}  // namespace fr
