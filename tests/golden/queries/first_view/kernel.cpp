#include "flat.hpp"
#include "kernel.hpp"
#include "ordered.hpp"
#include "pool.hpp"
#include "rows.hpp"
#include "sum.hpp"
namespace fr {

struct Rec_m_first_view {
  struct Key { Sym k0; };
  Sym k0; i64 p0; i64 p1;
  static u64 hash(const Key& k) { return mix(word(k.k0), 0); }
  bool is(const Key& k) const { return same(k0, k.k0); }
  u64 hash() const { return hash(Key{k0}); }
  void set(const Key& k) { k0 = k.k0; }
  bool empty() const { return p0 == 0 && p1 == 0; }
};

struct Rec_m_first_view_items {
  struct Key { i64 k0; Sym k1; };
  i64 k0; Sym k1; i64 p0; u32 link[2];
  static u64 hash(const Key& k) { return mix(mix(word(k.k0), 0), word(k.k1)); }
  bool is(const Key& k) const { return same(k0, k.k0) && same(k1, k.k1); }
  u64 hash() const { return hash(Key{k0, k1}); }
  void set(const Key& k) { k0 = k.k0; k1 = k.k1; }
  bool empty() const { return p0 == 0; }
};
struct Head0_m_first_view_items {
  struct Key { i64 k0; };
  i64 k0; u32 first; u32 count;
  template <class R> static Key of(const R& r) { return Key{r.k0}; }
  static u64 hash(const Key& k) { return mix(word(k.k0), 0); }
  bool is(const Key& k) const { return same(k0, k.k0); }
  u64 hash() const { return hash(Key{k0}); }
  void set(const Key& k) { k0 = k.k0; }
  bool empty() const { return first == 0; }
};

struct Rec_m_first_view_orders {
  struct Key { i64 k0; };
  i64 k0; i64 p0; i64 p1;
  static u64 hash(const Key& k) { return mix(word(k.k0), 0); }
  bool is(const Key& k) const { return same(k0, k.k0); }
  u64 hash() const { return hash(Key{k0}); }
  void set(const Key& k) { k0 = k.k0; }
  bool empty() const { return p0 == 0 && p1 == 0; }
};




struct State {
  Strings strings;
  bool stale;
  Flat<Rec_m_first_view> m_first_view;
  Pool<Rec_m_first_view_items, Head0_m_first_view_items> m_first_view_items;
  Flat<Rec_m_first_view_orders> m_first_view_orders;
};

}  // namespace fr

#include "support.hpp"

namespace fr {

#define OLD_m_first_view(w)
#define NEW_m_first_view(w)

#define OLD_m_first_view_items(w)
#define NEW_m_first_view_items(w)

#define OLD_m_first_view_orders(w)
#define NEW_m_first_view_orders(w)

static void on_orders(Env& e, const Batch& b) {
  State& s = *e.state;
  bool o = false;
  (void)e;
  (void)b;
  const i64* col0 = static_cast<const i64*>(b.column[0]);
  const Str* col1 = static_cast<const Str*>(b.column[1]);
  // first_view[o_customer] +=
  //   Sum[o_customer]((DELTA orders)(i_id, o_customer) * first_view_orders[i_id]);
  // first_view_2[o_customer] +=
  //   Sum[o_customer]((DELTA orders)(i_id, o_customer) * first_view_2_orders[i_id]);
  // first_view_items[i_id, o_customer] += (DELTA orders)(i_id, o_customer);
  {
    for (i64 j2 = 0; j2 < b.size; j2++) {
      if (const i64 later = j2 + 8; later < b.size) {
        s.m_first_view_orders.prefetch(e.arena, Rec_m_first_view_orders::hash(Rec_m_first_view_orders::Key{col0[later]}));
      }
      const i64 c0_j2 = col0[j2];
      const Str c1_j2 = col1[j2];
      if (const auto* r3 = s.m_first_view_orders.find(e.arena, Rec_m_first_view_orders::Key{c0_j2})) {
        FR_VISIT(1);
        const Sym y5 = put_text(e, c1_j2);
        { auto* w6 = s.m_first_view.at(e.arena, {y5}); FR_WRITE; OLD_m_first_view(w6)
          w6->p0 = known(o, add<i64>(o, w6->p0, mul<i64>(o, b.count[j2], r3->p0)));
          w6->p1 = known(o, add<i64>(o, w6->p1, mul<i64>(o, b.count[j2], r3->p1)));
        NEW_m_first_view(w6) if (w6->empty()) s.m_first_view.drop(e.arena, w6); }
      }
      const Sym y4 = put_text(e, c1_j2);
      { auto* w5 = s.m_first_view_items.at(e.arena, {c0_j2, y4}); FR_WRITE; OLD_m_first_view_items(w5)
        w5->p0 = known(o, add<i64>(o, w5->p0, b.count[j2]));
      NEW_m_first_view_items(w5) if (w5->empty()) s.m_first_view_items.drop(e.arena, w5); }
    }
  }
  e.overflow |= o;
}

static void on_items(Env& e, const Batch& b) {
  State& s = *e.state;
  bool o = false;
  (void)e;
  (void)b;
  const i64* col0 = static_cast<const i64*>(b.column[0]);
  const i64* col1 = static_cast<const i64*>(b.column[1]);
  // first_view[o_customer] +=
  //   Sum[o_customer]((DELTA items)(i_id, i_price) * first_view_items[i_id, o_customer]);
  // first_view_2[o_customer] +=
  //   Sum[o_customer]((DELTA items)(i_id, i_price) * i_price * first_view_items[i_id, o_customer]);
  // first_view_orders[i_id] += Sum[i_id]((DELTA items)(i_id, i_price));
  // first_view_2_orders[i_id] += Sum[i_id]((DELTA items)(i_id, i_price) * i_price);
  {
    for (i64 j2 = 0; j2 < b.size; j2++) {
      if (const i64 later = j2 + 8; later < b.size) {
        s.m_first_view_items.template prefetch_slice<0>(e.arena, Head0_m_first_view_items::hash(Head0_m_first_view_items::Key{col0[later]}));
        s.m_first_view_orders.prefetch_write(e.arena, {col0[later]});
      }
      const i64 c0_j2 = col0[j2];
      const i64 c1_j2 = col1[j2];
      s.m_first_view_items.template slice<0>(e.arena, Head0_m_first_view_items::Key{c0_j2}, [&](const Rec_m_first_view_items& r3) {
        FR_VISIT(1);
        { auto* w5 = s.m_first_view.at(e.arena, {r3.k1}); FR_WRITE; OLD_m_first_view(w5)
          w5->p0 = known(o, add<i64>(o, w5->p0, mul<i64>(o, b.count[j2], r3.p0)));
          w5->p1 = known(o, add<i64>(o, w5->p1, mul<i64>(o, mul<i64>(o, b.count[j2], c1_j2), r3.p0)));
        NEW_m_first_view(w5) if (w5->empty()) s.m_first_view.drop(e.arena, w5); }
      });
      { auto* w4 = s.m_first_view_orders.at(e.arena, {c0_j2}); FR_WRITE; OLD_m_first_view_orders(w4)
        w4->p0 = known(o, add<i64>(o, w4->p0, b.count[j2]));
        w4->p1 = known(o, add<i64>(o, w4->p1, mul<i64>(o, b.count[j2], c1_j2)));
      NEW_m_first_view_orders(w4) if (w4->empty()) s.m_first_view_orders.drop(e.arena, w4); }
    }
  }
  e.overflow |= o;
}

__attribute__((cold)) static void ready(Env& e) {
  (void)e;
}

__attribute__((cold)) static void read_first_view(Env& e, Output& out) {
  State& s = *e.state;
  bool o = false;
  (void)e;
  s.m_first_view.each(e.arena, [&](const Rec_m_first_view& r1) {
    FR_VISIT(1);
    if (r1.p0 != 0) {
      i64 t4{};
      {
        t4 = add<i64>(o, t4, r1.p0);
      }
      const i64 x5 = known(o, t4);
      i64 t6{};
      {
        t6 = add<i64>(o, t6, r1.p1);
      }
      const i64 x7 = known(o, t6);
      if (const i64 n = i64(1ll); n > 0) {
        const i64 at = out.next();
        out.count[at] = n;
        static_cast<Sym*>(out.column[0])[at] = r1.k0;
        static_cast<i64*>(out.column[1])[at] = x5;
        static_cast<i64*>(out.column[2])[at] = x7;
      }
    }
  });
  e.overflow |= o;
}
static const bool key_first_view[] = {true, false, false};
static void find_first_view(Env& e, const Batch& b, Output& out) {
  State& s = *e.state;
  bool o = false;
  (void)e;
  (void)b;
  const Str c0 = *static_cast<const Str*>(b.column[0]);
  if (Sym y1; find_text(e, c0, y1)) {
    if (const auto* r2 = s.m_first_view.find(e.arena, Rec_m_first_view::Key{y1})) {
      FR_VISIT(1);
      if (r2->p0 != 0) {
        i64 t5{};
        {
          if (Sym y_1; find_text(e, c0, y_1)) {
            if (const auto* r_2 = s.m_first_view.find(e.arena, Rec_m_first_view::Key{y_1})) {
              FR_VISIT(1);
              t5 = add<i64>(o, t5, r_2->p0);
            }
          }
        }
        const i64 x6 = known(o, t5);
        i64 t7{};
        {
          if (Sym y_1; find_text(e, c0, y_1)) {
            if (const auto* r_2 = s.m_first_view.find(e.arena, Rec_m_first_view::Key{y_1})) {
              FR_VISIT(1);
              t7 = add<i64>(o, t7, r_2->p1);
            }
          }
        }
        const i64 x8 = known(o, t7);
        if (const i64 n = i64(1ll); n > 0) {
          const Sym y10 = put_text(e, c0);
          const i64 at = out.next();
          out.count[at] = n;
          static_cast<Sym*>(out.column[0])[at] = y10;
          static_cast<i64*>(out.column[1])[at] = x6;
          static_cast<i64*>(out.column[2])[at] = x8;
        }
      }
    }
  }
  e.overflow |= o;
}

__attribute__((cold)) static void dump_first_view(Env& e, Output& out) {
  State& s = *e.state;
  (void)e;
  s.m_first_view.each(e.arena, [&](const Rec_m_first_view& r) {
    if (r.p0 == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<Sym*>(out.column[0])[at] = r.k0;
    static_cast<i64*>(out.column[1])[at] = r.p0;
  });
}
static u64 size_first_view(Env& e) {
  State& s = *e.state;
  return s.m_first_view.size();
}

__attribute__((cold)) static void dump_first_view_2(Env& e, Output& out) {
  State& s = *e.state;
  (void)e;
  s.m_first_view.each(e.arena, [&](const Rec_m_first_view& r) {
    if (r.p1 == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<Sym*>(out.column[0])[at] = r.k0;
    static_cast<i64*>(out.column[1])[at] = r.p1;
  });
}
static u64 size_first_view_2(Env& e) {
  State& s = *e.state;
  return s.m_first_view.size();
}

__attribute__((cold)) static void dump_first_view_items(Env& e, Output& out) {
  State& s = *e.state;
  (void)e;
  s.m_first_view_items.each(e.arena, [&](const Rec_m_first_view_items& r) {
    if (r.p0 == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<i64*>(out.column[0])[at] = r.k0;
    static_cast<Sym*>(out.column[1])[at] = r.k1;
    static_cast<i64*>(out.column[2])[at] = r.p0;
  });
}
static u64 size_first_view_items(Env& e) {
  State& s = *e.state;
  return s.m_first_view_items.size();
}

__attribute__((cold)) static void dump_first_view_orders(Env& e, Output& out) {
  State& s = *e.state;
  (void)e;
  s.m_first_view_orders.each(e.arena, [&](const Rec_m_first_view_orders& r) {
    if (r.p0 == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<i64*>(out.column[0])[at] = r.k0;
    static_cast<i64*>(out.column[1])[at] = r.p0;
  });
}
static u64 size_first_view_orders(Env& e) {
  State& s = *e.state;
  return s.m_first_view_orders.size();
}

__attribute__((cold)) static void dump_first_view_2_orders(Env& e, Output& out) {
  State& s = *e.state;
  (void)e;
  s.m_first_view_orders.each(e.arena, [&](const Rec_m_first_view_orders& r) {
    if (r.p1 == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<i64*>(out.column[0])[at] = r.k0;
    static_cast<i64*>(out.column[1])[at] = r.p1;
  });
}
static u64 size_first_view_2_orders(Env& e) {
  State& s = *e.state;
  return s.m_first_view_orders.size();
}

static const Column in_orders[] = {
  {"id", Int, 0, false, true},
  {"customer", Text, 0, false, true},
};

static const Column in_items[] = {
  {"id", Int, 0, false, true},
  {"price", Decimal64, 2, false, true},
};

static const Column out_first_view[] = {
  {"customer", Text, 0, false, true},
  {"items", Int, 0, false, true},
  {"total", Decimal64, 2, false, true},
};

static const Column map_first_view[] = {
  {"o_customer", Text, 0, false, true},
  {"", Int, 0, false, true},
};

static const Column map_first_view_2[] = {
  {"o_customer", Text, 0, false, true},
  {"", Decimal64, 2, false, true},
};

static const Column map_first_view_items[] = {
  {"i_id", Int, 0, false, true},
  {"o_customer", Text, 0, false, true},
  {"", Int, 0, false, true},
};

static const Column map_first_view_orders[] = {
  {"i_id", Int, 0, false, true},
  {"", Int, 0, false, true},
};

static const Column map_first_view_2_orders[] = {
  {"i_id", Int, 0, false, true},
  {"", Decimal64, 2, false, true},
};

static const Relation all_relations[] = {
  {"orders", 2, in_orders, false, on_orders},
  {"items", 2, in_items, false, on_items},
};

static const Query all_queries[] = {
  {"first_view", 3, out_first_view, read_first_view, key_first_view, find_first_view},
};

static const Map all_maps[] = {
  {"first_view", 2, map_first_view, dump_first_view, size_first_view},
  {"first_view_2", 2, map_first_view_2, dump_first_view_2, size_first_view_2},
  {"first_view_items", 3, map_first_view_items, dump_first_view_items, size_first_view_items},
  {"first_view_orders", 2, map_first_view_orders, dump_first_view_orders, size_first_view_orders},
  {"first_view_2_orders", 2, map_first_view_2_orders, dump_first_view_2_orders, size_first_view_2_orders},
};

static void create(Env& e) {
  State& s = *e.state;
  s.strings.init(e.arena);
  s.m_first_view.init(e.arena);
  s.m_first_view_items.init(e.arena);
  s.m_first_view_orders.init(e.arena);
}
static Strings& strings_of(State& s) { return s.strings; }
static const char* const all_slots[] = {nullptr};
static Watch watch_of(State&) { return {}; }
static f64* gone_of(State&) { return nullptr; }
const Kernel kernel = {2, 1, 5, all_relations, all_queries, all_maps, sizeof(State), strings_of, create, ready, 0, all_slots, watch_of, gone_of};

}  // namespace fr

#include "boundary.hpp"
