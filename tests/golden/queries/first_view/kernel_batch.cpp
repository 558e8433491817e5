#include "flat.hpp"
#include "kernel.hpp"
#include "ordered.hpp"
#include "pool.hpp"
#include "rows.hpp"
#include "sum.hpp"
namespace fr {

struct Rec_m_first_view {
  struct Key { Sym o_customer_; };
  Sym o_customer_; i64 sum; i64 sum_2;
  static u64 hash(const Key& k) { return mix(word(k.o_customer_), 0); }
  bool is(const Key& k) const { return same(o_customer_, k.o_customer_); }
  u64 hash() const { return hash(Key{o_customer_}); }
  void set(const Key& k) { o_customer_ = k.o_customer_; }
  bool empty() const { return sum == 0 && sum_2 == 0; }
};

struct Rec_m_first_view_items {
  struct Key { i64 i_id_; Sym o_customer_; };
  i64 i_id_; Sym o_customer_; i64 sum; u32 link[2];
  static u64 hash(const Key& k) { return mix(mix(word(k.i_id_), 0), word(k.o_customer_)); }
  bool is(const Key& k) const { return same(i_id_, k.i_id_) && same(o_customer_, k.o_customer_); }
  u64 hash() const { return hash(Key{i_id_, o_customer_}); }
  void set(const Key& k) { i_id_ = k.i_id_; o_customer_ = k.o_customer_; }
  bool empty() const { return sum == 0; }
};
struct Head0_m_first_view_items {
  struct Key { i64 i_id_; };
  i64 i_id_; u32 first; u32 count;
  template <class R> static Key of(const R& r) { return Key{r.i_id_}; }
  static u64 hash(const Key& k) { return mix(word(k.i_id_), 0); }
  bool is(const Key& k) const { return same(i_id_, k.i_id_); }
  u64 hash() const { return hash(Key{i_id_}); }
  void set(const Key& k) { i_id_ = k.i_id_; }
  bool empty() const { return first == 0; }
};

struct Rec_m_first_view_orders {
  struct Key { i64 i_id_; };
  i64 i_id_; i64 sum; i64 sum_2;
  static u64 hash(const Key& k) { return mix(word(k.i_id_), 0); }
  bool is(const Key& k) const { return same(i_id_, k.i_id_); }
  u64 hash() const { return hash(Key{i_id_}); }
  void set(const Key& k) { i_id_ = k.i_id_; }
  bool empty() const { return sum == 0 && sum_2 == 0; }
};




struct State {
  Strings strings;
  bool stale, late;
  Flat<Rec_m_first_view> m_first_view;
  Pool<Rec_m_first_view_items, Head0_m_first_view_items> m_first_view_items;
  Flat<Rec_m_first_view_orders> m_first_view_orders;
};

}  // namespace fr

#include "support.hpp"

namespace fr {




static void on_orders(Env& e, const Batch& b) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  (void)b;
  const i64* all_id = static_cast<const i64*>(b.column[0]);
  const Texts all_customer(b, 1);
  // first_view[o_customer] +=
  //   Sum[o_customer]((DELTA orders)(i_id, o_customer) * first_view_orders[i_id]);
  // first_view_2[o_customer] +=
  //   Sum[o_customer]((DELTA orders)(i_id, o_customer) * first_view_2_orders[i_id]);
  // first_view_items[i_id, o_customer] += (DELTA orders)(i_id, o_customer);
  {
    {
      const auto fetch_row = [&](const i64 later) __attribute__((always_inline)) {
        s.m_first_view_orders.prefetch(e.arena, Rec_m_first_view_orders::hash(Rec_m_first_view_orders::Key{all_id[later]}));
      };
      for (i64 n = 0; b.size >= 4 && n < 8 && n < b.size; n++) fetch_row(n);
      for (i64 i_1 = 0; i_1 < b.size; i_1++) {
        const i64 id_1 = all_id[i_1];
        const Str customer_1 = all_customer[i_1];
        if (const i64 next = i_1 + 8; next < b.size) fetch_row(next);
        if (const auto* first_view_orders_2 = s.m_first_view_orders.find(e.arena, Rec_m_first_view_orders::Key{id_1})) {
          FR_VISIT(1);
          const Sym text_6 = put_text(e, customer_1);
          if (__builtin_expect(e.collecting >> 0 & 1, 0)) touch<Sym>(e, 0, text_6);
          {
            auto* into_7 = s.m_first_view.at(e.arena, {text_6});
            FR_WRITE;
            into_7->sum = known(o, add<i64>(o, into_7->sum, mul<i64>(o, b.count[i_1], first_view_orders_2->sum)));
            into_7->sum_2 = known(o, add<i64>(o, into_7->sum_2, mul<i64>(o, b.count[i_1], first_view_orders_2->sum_2)));
            if (into_7->empty()) s.m_first_view.drop(e.arena, into_7);
          }
        }
        const Sym text_10 = put_text(e, customer_1);
        {
          auto* into_11 = s.m_first_view_items.at(e.arena, {id_1, text_10});
          FR_WRITE;
          into_11->sum = known(o, add<i64>(o, into_11->sum, b.count[i_1]));
          if (into_11->empty()) s.m_first_view_items.drop(e.arena, into_11);
        }
      }
    }
  }
  e.overflow |= o;
}

static void on_items(Env& e, const Batch& b) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  (void)b;
  const i64* all_id = static_cast<const i64*>(b.column[0]);
  const i64* all_price = static_cast<const i64*>(b.column[1]);
  // first_view[o_customer] +=
  //   Sum[o_customer]((DELTA items)(i_id, i_price) * first_view_items[i_id, o_customer]);
  // first_view_2[o_customer] +=
  //   Sum[o_customer]((DELTA items)(i_id, i_price) * i_price * first_view_items[i_id, o_customer]);
  // first_view_orders[i_id] += Sum[i_id]((DELTA items)(i_id, i_price));
  // first_view_2_orders[i_id] += Sum[i_id]((DELTA items)(i_id, i_price) * i_price);
  {
    {
      const auto fetch_row = [&](const i64 later) __attribute__((always_inline)) {
        s.m_first_view_items.template prefetch_slice<0>(e.arena, Head0_m_first_view_items::hash(Head0_m_first_view_items::Key{all_id[later]}));
        s.m_first_view_orders.prefetch_write(e.arena, {all_id[later]});
      };
      for (i64 n = 0; b.size >= 4 && n < 8 && n < b.size; n++) fetch_row(n);
      for (i64 i_1 = 0; i_1 < b.size; i_1++) {
        const i64 id_1 = all_id[i_1];
        const i64 price_1 = all_price[i_1];
        if (const i64 next = i_1 + 8; next < b.size) fetch_row(next);
        s.m_first_view_items.template slice<0>(e.arena, Head0_m_first_view_items::Key{id_1}, [&](const Rec_m_first_view_items& first_view_items_2) {
          FR_VISIT(1);
          if (__builtin_expect(e.collecting >> 0 & 1, 0)) touch<Sym>(e, 0, first_view_items_2.o_customer_);
          {
            auto* into_7 = s.m_first_view.at(e.arena, {first_view_items_2.o_customer_});
            FR_WRITE;
            into_7->sum = known(o, add<i64>(o, into_7->sum, mul<i64>(o, b.count[i_1], first_view_items_2.sum)));
            into_7->sum_2 = known(o, add<i64>(o, into_7->sum_2, mul<i64>(o, mul<i64>(o, b.count[i_1], price_1), first_view_items_2.sum)));
            if (into_7->empty()) s.m_first_view.drop(e.arena, into_7);
          }
        });
        {
          auto* into_9 = s.m_first_view_orders.at(e.arena, {id_1});
          FR_WRITE;
          into_9->sum = known(o, add<i64>(o, into_9->sum, b.count[i_1]));
          into_9->sum_2 = known(o, add<i64>(o, into_9->sum_2, mul<i64>(o, b.count[i_1], price_1)));
          if (into_9->empty()) s.m_first_view_orders.drop(e.arena, into_9);
        }
      }
    }
  }
  e.overflow |= o;
}

__attribute__((cold)) static void ready(Env& e) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  e.overflow |= o;
}

__attribute__((cold)) static void read_first_view(Env& e, Output& out) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  s.m_first_view.each(e.arena, [&](const Rec_m_first_view& first_view_1) {
    FR_VISIT(1);
    if (first_view_1.sum != 0) {
      i64 total_2{};
      {
        total_2 = add<i64>(o, total_2, first_view_1.sum);
      }
      const i64 count_3 = known(o, total_2);
      i64 total_4{};
      {
        total_4 = add<i64>(o, total_4, first_view_1.sum_2);
      }
      const i64 sum_5 = known(o, total_4);
      if (const i64 n = i64(1ll); n > 0) {
        const i64 at = out.next();
        out.count[at] = n;
        static_cast<Sym*>(out.column[0])[at] = first_view_1.o_customer_;
        static_cast<i64*>(out.column[1])[at] = count_3;
        static_cast<i64*>(out.column[2])[at] = sum_5;
      }
    }
  });
  e.overflow |= o;
}

static const bool key_first_view[] = {true, false, false};
static void find_first_view(Env& e, const Batch& b, Output& out) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  (void)b;
  const Str customer_key = *static_cast<const Str*>(b.column[0]);
  if (Sym key_1; find_text(e, customer_key, key_1)) {
    if (const auto* first_view_2 = s.m_first_view.find(e.arena, Rec_m_first_view::Key{key_1})) {
      FR_VISIT(1);
      if (first_view_2->sum != 0) {
        i64 total_3{};
        {
          if (Sym key_a1; find_text(e, customer_key, key_a1)) {
            if (const auto* first_view_a2 = s.m_first_view.find(e.arena, Rec_m_first_view::Key{key_a1})) {
              FR_VISIT(1);
              total_3 = add<i64>(o, total_3, first_view_a2->sum);
            }
          }
        }
        const i64 count_4 = known(o, total_3);
        i64 total_5{};
        {
          if (Sym key_a1; find_text(e, customer_key, key_a1)) {
            if (const auto* first_view_a2 = s.m_first_view.find(e.arena, Rec_m_first_view::Key{key_a1})) {
              FR_VISIT(1);
              total_5 = add<i64>(o, total_5, first_view_a2->sum_2);
            }
          }
        }
        const i64 sum_6 = known(o, total_5);
        const Sym text_7 = put_text(e, customer_key);
        if (const i64 n = i64(1ll); n > 0) {
          const i64 at = out.next();
          out.count[at] = n;
          static_cast<Sym*>(out.column[0])[at] = text_7;
          static_cast<i64*>(out.column[1])[at] = count_4;
          static_cast<i64*>(out.column[2])[at] = sum_6;
        }
      }
    }
  }
  e.overflow |= o;
}

__attribute__((cold)) static void dump_first_view(Env& e, Output& out) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  s.m_first_view.each(e.arena, [&](const Rec_m_first_view& r) {
    if (r.sum == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<Sym*>(out.column[0])[at] = r.o_customer_;
    static_cast<i64*>(out.column[1])[at] = r.sum;
  });
  e.overflow |= o;
}
static u64 size_first_view(Env& e) {
  State& s = *e.state;
  return s.m_first_view.size();
}

__attribute__((cold)) static void dump_first_view_2(Env& e, Output& out) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  s.m_first_view.each(e.arena, [&](const Rec_m_first_view& r) {
    if (r.sum_2 == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<Sym*>(out.column[0])[at] = r.o_customer_;
    static_cast<i64*>(out.column[1])[at] = r.sum_2;
  });
  e.overflow |= o;
}
static u64 size_first_view_2(Env& e) {
  State& s = *e.state;
  return s.m_first_view.size();
}

__attribute__((cold)) static void dump_first_view_items(Env& e, Output& out) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  s.m_first_view_items.each(e.arena, [&](const Rec_m_first_view_items& r) {
    if (r.sum == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<i64*>(out.column[0])[at] = r.i_id_;
    static_cast<Sym*>(out.column[1])[at] = r.o_customer_;
    static_cast<i64*>(out.column[2])[at] = r.sum;
  });
  e.overflow |= o;
}
static u64 size_first_view_items(Env& e) {
  State& s = *e.state;
  return s.m_first_view_items.size();
}

__attribute__((cold)) static void dump_first_view_orders(Env& e, Output& out) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  s.m_first_view_orders.each(e.arena, [&](const Rec_m_first_view_orders& r) {
    if (r.sum == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<i64*>(out.column[0])[at] = r.i_id_;
    static_cast<i64*>(out.column[1])[at] = r.sum;
  });
  e.overflow |= o;
}
static u64 size_first_view_orders(Env& e) {
  State& s = *e.state;
  return s.m_first_view_orders.size();
}

__attribute__((cold)) static void dump_first_view_2_orders(Env& e, Output& out) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  s.m_first_view_orders.each(e.arena, [&](const Rec_m_first_view_orders& r) {
    if (r.sum_2 == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<i64*>(out.column[0])[at] = r.i_id_;
    static_cast<i64*>(out.column[1])[at] = r.sum_2;
  });
  e.overflow |= o;
}
static u64 size_first_view_2_orders(Env& e) {
  State& s = *e.state;
  return s.m_first_view_orders.size();
}

static const Column in_orders[] = {
  {"id", Int, 0, false, true},
  {"customer", Text, 0, false, true, true},
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
  {"first_view", 3, out_first_view, read_first_view, key_first_view, find_first_view, true},
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
