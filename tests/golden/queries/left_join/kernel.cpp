#include "flat.hpp"
#include "kernel.hpp"
#include "ordered.hpp"
#include "pool.hpp"
#include "rows.hpp"
#include "sum.hpp"
namespace fr {

struct Rec_m_left_join {
  struct Key { Sym c_name_; i64 o_id_; i64 o_price_; };
  Sym c_name_; i64 o_id_; i64 o_price_; i64 sum;
  static u64 hash(const Key& k) { return mix(mix(mix(word(k.c_name_), 0), word(k.o_id_)), word(k.o_price_)); }
  bool is(const Key& k) const { return same(c_name_, k.c_name_) && same(o_id_, k.o_id_) && same(o_price_, k.o_price_); }
  u64 hash() const { return hash(Key{c_name_, o_id_, o_price_}); }
  void set(const Key& k) { c_name_ = k.c_name_; o_id_ = k.o_id_; o_price_ = k.o_price_; }
  bool empty() const { return sum == 0; }
};

struct Rec_m_left_join_customers {
  struct Key { i64 id_; i64 o_id_; i64 o_price_; };
  i64 id_; i64 o_id_; i64 o_price_; i64 sum; u32 link[2];
  static u64 hash(const Key& k) { return mix(mix(mix(word(k.id_), 0), word(k.o_id_)), word(k.o_price_)); }
  bool is(const Key& k) const { return same(id_, k.id_) && same(o_id_, k.o_id_) && same(o_price_, k.o_price_); }
  u64 hash() const { return hash(Key{id_, o_id_, o_price_}); }
  void set(const Key& k) { id_ = k.id_; o_id_ = k.o_id_; o_price_ = k.o_price_; }
  bool empty() const { return sum == 0; }
};
struct Head0_m_left_join_customers {
  struct Key { i64 id_; };
  i64 id_; i64 sum; u32 first; u32 count;
  template <class R> static Key of(const R& r) { return Key{r.id_}; }
  static u64 hash(const Key& k) { return mix(word(k.id_), 0); }
  bool is(const Key& k) const { return same(id_, k.id_); }
  u64 hash() const { return hash(Key{id_}); }
  void set(const Key& k) { id_ = k.id_; }
  bool empty() const { return first == 0 && sum == 0; }
};

using Rec_m_left_join_customers_2 = Head0_m_left_join_customers;
struct Rec_m_left_join_orders {
  struct Key { Sym c_name_; i64 customer_; };
  Sym c_name_; i64 customer_; i64 sum; u32 link[2];
  static u64 hash(const Key& k) { return mix(mix(word(k.c_name_), 0), word(k.customer_)); }
  bool is(const Key& k) const { return same(c_name_, k.c_name_) && same(customer_, k.customer_); }
  u64 hash() const { return hash(Key{c_name_, customer_}); }
  void set(const Key& k) { c_name_ = k.c_name_; customer_ = k.customer_; }
  bool empty() const { return sum == 0; }
};
struct Head0_m_left_join_orders {
  struct Key { i64 customer_; };
  i64 customer_; u32 first; u32 count;
  template <class R> static Key of(const R& r) { return Key{r.customer_}; }
  static u64 hash(const Key& k) { return mix(word(k.customer_), 0); }
  bool is(const Key& k) const { return same(customer_, k.customer_); }
  u64 hash() const { return hash(Key{customer_}); }
  void set(const Key& k) { customer_ = k.customer_; }
  bool empty() const { return first == 0; }
};





struct State {
  Strings strings;
  bool stale, late;
  Flat<Rec_m_left_join> m_left_join;
  Pool<Rec_m_left_join_customers, Head0_m_left_join_customers> m_left_join_customers;
  Pool<Rec_m_left_join_orders, Head0_m_left_join_orders> m_left_join_orders;
};

}  // namespace fr

#include "support.hpp"

namespace fr {





static void on_customers(Env& e, const Batch& b) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  (void)b;
  const i64* all_id = static_cast<const i64*>(b.column[0]);
  const Texts all_name(b, 1);
  {
    const auto fetch_row = [&](const i64 later) __attribute__((always_inline)) {
      s.m_left_join_customers.template prefetch_slice<0>(e.arena, Head0_m_left_join_customers::hash(Head0_m_left_join_customers::Key{all_id[later]}));
    };
    for (i64 n = 0; b.size >= 4 && n < 8 && n < b.size; n++) fetch_row(n);
    for (i64 i_1 = 0; i_1 < b.size; i_1++) {
      const i64 id_1 = all_id[i_1];
      const Str name_1 = all_name[i_1];
      if (const i64 next = i_1 + 8; next < b.size) fetch_row(next);
      const i64 sign_2 = b.count[i_1];
      // left_join[d_name, o_id, o_price] +=
      //   sign' * left_join_customers[d_id, o_id, o_price] + sign' * (o_id := null) * (o_price := null) *
      //   Sum[]((n := left_join_customers_2[d_id]) * {n = 0});
      // left_join_orders[d_name, d_id] += sign';
      {
        s.m_left_join_customers.template slice<0>(e.arena, Head0_m_left_join_customers::Key{id_1}, [&](const Rec_m_left_join_customers& left_join_customers_3) {
          FR_VISIT(1);
          const Sym text_14 = put_text(e, name_1);
          if (__builtin_expect(e.collecting >> 0 & 1, 0)) touch<Sym, i64, i64>(e, 0, text_14, left_join_customers_3.o_id_, left_join_customers_3.o_price_);
          {
            auto* into_15 = s.m_left_join.at(e.arena, {text_14, left_join_customers_3.o_id_, left_join_customers_3.o_price_});
            FR_WRITE;
            into_15->sum = known(o, add<i64>(o, into_15->sum, mul<i64>(o, sign_2, left_join_customers_3.sum)));
            if (into_15->empty()) s.m_left_join.drop(e.arena, into_15);
          }
        });
        const i8 o_id_4 = null<i8>();
        i64 total_6{};
        {
          if (const auto* left_join_customers_a1 = s.m_left_join_customers.template directory<0>().find(e.arena, Rec_m_left_join_customers_2::Key{id_1})) {
            FR_VISIT(1);
            total_6 = add<i64>(o, total_6, left_join_customers_a1->sum);
          }
        }
        const i64 n_7 = known(o, total_6);
        if ((n_7 == i64(0ll))) {
          const Sym text_16 = put_text(e, name_1);
          if (__builtin_expect(e.collecting >> 0 & 1, 0)) touch<Sym, i64, i64>(e, 0, text_16, null<i64>(), null<i64>());
          {
            auto* into_17 = s.m_left_join.at(e.arena, {text_16, null<i64>(), null<i64>()});
            FR_WRITE;
            into_17->sum = known(o, add<i64>(o, into_17->sum, sign_2));
            if (into_17->empty()) s.m_left_join.drop(e.arena, into_17);
          }
        }
        const Sym text_18 = put_text(e, name_1);
        {
          auto* into_19 = s.m_left_join_orders.at(e.arena, {text_18, id_1});
          FR_WRITE;
          into_19->sum = known(o, add<i64>(o, into_19->sum, sign_2));
          if (into_19->empty()) s.m_left_join_orders.drop(e.arena, into_19);
        }
      }
    }
  }
  e.overflow |= o;
}

static void on_orders(Env& e, const Batch& b) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  (void)b;
  const i64* all_id = static_cast<const i64*>(b.column[0]);
  const i64* all_customer = static_cast<const i64*>(b.column[1]);
  const i64* all_price = static_cast<const i64*>(b.column[2]);
  {
    const auto fetch_row = [&](const i64 later) __attribute__((always_inline)) {
      s.m_left_join_orders.template prefetch_slice<0>(e.arena, Head0_m_left_join_orders::hash(Head0_m_left_join_orders::Key{all_customer[later]}));
      s.m_left_join_customers.prefetch_write(e.arena, {all_customer[later], all_id[later], all_price[later]});
      s.m_left_join_customers.template prefetch_slice<0>(e.arena, Head0_m_left_join_customers::hash(Head0_m_left_join_customers::Key{all_customer[later]}));
    };
    for (i64 n = 0; b.size >= 4 && n < 8 && n < b.size; n++) fetch_row(n);
    for (i64 i_1 = 0; i_1 < b.size; i_1++) {
      const i64 id_1 = all_id[i_1];
      const i64 customer_1 = all_customer[i_1];
      const i64 price_1 = all_price[i_1];
      if (const i64 next = i_1 + 8; next < b.size) fetch_row(next);
      const i64 sign_2 = b.count[i_1];
      // left_join[c_name, d_id, d_price] += sign' * left_join_orders[c_name, d_customer];
      // left_join[c_name, o_id, o_price] +=
      //   (o_id := null) * (o_price := null) *
      //   (Sum[c_name, d_customer](
      //        (n := left_join_customers_2[d_customer] + sign') * {n = 0} *
      //        left_join_orders[c_name, d_customer])
      //    - Sum[c_name, d_customer](
      //        (n := left_join_customers_2[d_customer]) * {n = 0} * left_join_orders[c_name, d_customer]));
      {
        const auto* g0 = s.m_left_join_customers.template directory<0>().find(e.arena, Rec_m_left_join_customers_2::Key{customer_1});
        s.m_left_join_orders.template slice<0>(e.arena, Head0_m_left_join_orders::Key{customer_1}, [&](const Rec_m_left_join_orders& left_join_orders_3) {
          FR_VISIT(1);
          if (__builtin_expect(e.collecting >> 0 & 1, 0)) touch<Sym, i64, i64>(e, 0, left_join_orders_3.c_name_, id_1, price_1);
          {
            auto* into_17 = s.m_left_join.at(e.arena, {left_join_orders_3.c_name_, id_1, price_1});
            FR_WRITE;
            into_17->sum = known(o, add<i64>(o, into_17->sum, mul<i64>(o, sign_2, left_join_orders_3.sum)));
            if (into_17->empty()) s.m_left_join.drop(e.arena, into_17);
          }
        });
        const i8 o_id_4 = null<i8>();
        i64 total_6{};
        {
          if (const auto* left_join_customers_a1 = g0) {
            FR_VISIT(1);
            total_6 = add<i64>(o, total_6, left_join_customers_a1->sum);
          }
          total_6 = add<i64>(o, total_6, sign_2);
        }
        const i64 n_7 = known(o, total_6);
        if ((n_7 == i64(0ll))) {
          s.m_left_join_orders.template slice<0>(e.arena, Head0_m_left_join_orders::Key{customer_1}, [&](const Rec_m_left_join_orders& left_join_orders_8) {
            FR_VISIT(1);
            if (__builtin_expect(e.collecting >> 0 & 1, 0)) touch<Sym, i64, i64>(e, 0, left_join_orders_8.c_name_, null<i64>(), null<i64>());
            {
              auto* into_18 = s.m_left_join.at(e.arena, {left_join_orders_8.c_name_, null<i64>(), null<i64>()});
              FR_WRITE;
              into_18->sum = known(o, add<i64>(o, into_18->sum, left_join_orders_8.sum));
              if (into_18->empty()) s.m_left_join.drop(e.arena, into_18);
            }
          });
        }
        i64 total_9{};
        {
          if (const auto* left_join_customers_a1 = g0) {
            FR_VISIT(1);
            total_9 = add<i64>(o, total_9, left_join_customers_a1->sum);
          }
        }
        const i64 n_10 = known(o, total_9);
        if ((n_10 == i64(0ll))) {
          s.m_left_join_orders.template slice<0>(e.arena, Head0_m_left_join_orders::Key{customer_1}, [&](const Rec_m_left_join_orders& left_join_orders_11) {
            FR_VISIT(1);
            if (__builtin_expect(e.collecting >> 0 & 1, 0)) touch<Sym, i64, i64>(e, 0, left_join_orders_11.c_name_, null<i64>(), null<i64>());
            {
              auto* into_19 = s.m_left_join.at(e.arena, {left_join_orders_11.c_name_, null<i64>(), null<i64>()});
              FR_WRITE;
              into_19->sum = known(o, add<i64>(o, into_19->sum, mul<i64>(o, i64(-1ll), left_join_orders_11.sum)));
              if (into_19->empty()) s.m_left_join.drop(e.arena, into_19);
            }
          });
        }
      }
      // left_join_customers[d_customer, d_id, d_price] += sign';
      // left_join_customers_2[d_customer] += sign';
      {
        {
          auto* into_20 = s.m_left_join_customers.at(e.arena, {customer_1, id_1, price_1});
          FR_WRITE;
          into_20->sum = known(o, add<i64>(o, into_20->sum, sign_2));
          if (into_20->empty()) s.m_left_join_customers.drop(e.arena, into_20);
        }
        {
          auto* into_21 = s.m_left_join_customers.template directory<0>().at(e.arena, {customer_1});
          FR_WRITE;
          into_21->sum = known(o, add<i64>(o, into_21->sum, sign_2));
          if (into_21->empty()) s.m_left_join_customers.template directory<0>().drop(e.arena, into_21);
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

__attribute__((cold)) static void read_left_join(Env& e, Output& out) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  s.m_left_join.each(e.arena, [&](const Rec_m_left_join& left_join_1) {
    FR_VISIT(1);
    if (const i64 n = left_join_1.sum; n > 0) {
      const i64 at = out.next();
      out.count[at] = n;
      static_cast<Sym*>(out.column[0])[at] = left_join_1.c_name_;
      static_cast<i64*>(out.column[1])[at] = left_join_1.o_id_;
      static_cast<i64*>(out.column[2])[at] = left_join_1.o_price_;
    }
  });
  e.overflow |= o;
}

static const bool key_left_join[] = {true, true, true};
static void find_left_join(Env& e, const Batch& b, Output& out) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  (void)b;
  const Str name_key = *static_cast<const Str*>(b.column[0]);
  const i64 bought_key = *static_cast<const i64*>(b.column[1]);
  const i64 price_key = *static_cast<const i64*>(b.column[2]);
  if (Sym key_1; find_text(e, name_key, key_1)) {
    if (const auto* left_join_2 = s.m_left_join.find(e.arena, Rec_m_left_join::Key{key_1, bought_key, price_key})) {
      FR_VISIT(1);
      const Sym text_3 = put_text(e, name_key);
      if (const i64 n = left_join_2->sum; n > 0) {
        const i64 at = out.next();
        out.count[at] = n;
        static_cast<Sym*>(out.column[0])[at] = text_3;
        static_cast<i64*>(out.column[1])[at] = bought_key;
        static_cast<i64*>(out.column[2])[at] = price_key;
      }
    }
  }
  e.overflow |= o;
}

__attribute__((cold)) static void dump_left_join(Env& e, Output& out) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  s.m_left_join.each(e.arena, [&](const Rec_m_left_join& r) {
    if (r.sum == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<Sym*>(out.column[0])[at] = r.c_name_;
    static_cast<i64*>(out.column[1])[at] = r.o_id_;
    static_cast<i64*>(out.column[2])[at] = r.o_price_;
    static_cast<i64*>(out.column[3])[at] = r.sum;
  });
  e.overflow |= o;
}
static u64 size_left_join(Env& e) {
  State& s = *e.state;
  return s.m_left_join.size();
}

__attribute__((cold)) static void dump_left_join_customers(Env& e, Output& out) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  s.m_left_join_customers.each(e.arena, [&](const Rec_m_left_join_customers& r) {
    if (r.sum == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<i64*>(out.column[0])[at] = r.id_;
    static_cast<i64*>(out.column[1])[at] = r.o_id_;
    static_cast<i64*>(out.column[2])[at] = r.o_price_;
    static_cast<i64*>(out.column[3])[at] = r.sum;
  });
  e.overflow |= o;
}
static u64 size_left_join_customers(Env& e) {
  State& s = *e.state;
  return s.m_left_join_customers.size();
}

__attribute__((cold)) static void dump_left_join_customers_2(Env& e, Output& out) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  s.m_left_join_customers.template directory<0>().each(e.arena, [&](const Rec_m_left_join_customers_2& r) {
    if (r.sum == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<i64*>(out.column[0])[at] = r.id_;
    static_cast<i64*>(out.column[1])[at] = r.sum;
  });
  e.overflow |= o;
}
static u64 size_left_join_customers_2(Env& e) {
  State& s = *e.state;
  return s.m_left_join_customers.template directory<0>().size();
}

__attribute__((cold)) static void dump_left_join_orders(Env& e, Output& out) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  s.m_left_join_orders.each(e.arena, [&](const Rec_m_left_join_orders& r) {
    if (r.sum == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<Sym*>(out.column[0])[at] = r.c_name_;
    static_cast<i64*>(out.column[1])[at] = r.customer_;
    static_cast<i64*>(out.column[2])[at] = r.sum;
  });
  e.overflow |= o;
}
static u64 size_left_join_orders(Env& e) {
  State& s = *e.state;
  return s.m_left_join_orders.size();
}

static const Column in_customers[] = {
  {"id", Int, 0, false, true},
  {"name", Text, 0, false, true, true},
};

static const Column in_orders[] = {
  {"id", Int, 0, false, true},
  {"customer", Int, 0, false, true},
  {"price", Decimal64, 2, false, true},
};

static const Column out_left_join[] = {
  {"name", Text, 0, false, true},
  {"bought", Int, 0, true, true},
  {"price", Decimal64, 2, true, true},
};

static const Column map_left_join[] = {
  {"c_name", Text, 0, false, true},
  {"o_id", Int, 0, true, true},
  {"o_price", Decimal64, 2, true, true},
  {"", Int, 0, false, true},
};

static const Column map_left_join_customers[] = {
  {"id", Int, 0, false, true},
  {"o_id", Int, 0, false, true},
  {"o_price", Decimal64, 2, false, true},
  {"", Int, 0, false, true},
};

static const Column map_left_join_customers_2[] = {
  {"id", Int, 0, false, true},
  {"", Int, 0, false, true},
};

static const Column map_left_join_orders[] = {
  {"c_name", Text, 0, false, true},
  {"customer", Int, 0, false, true},
  {"", Int, 0, false, true},
};

static const Relation all_relations[] = {
  {"customers", 2, in_customers, false, on_customers},
  {"orders", 3, in_orders, false, on_orders},
};

static const Query all_queries[] = {
  {"left_join", 3, out_left_join, read_left_join, key_left_join, find_left_join, true},
};

static const Map all_maps[] = {
  {"left_join", 4, map_left_join, dump_left_join, size_left_join},
  {"left_join_customers", 4, map_left_join_customers, dump_left_join_customers, size_left_join_customers},
  {"left_join_customers_2", 2, map_left_join_customers_2, dump_left_join_customers_2, size_left_join_customers_2},
  {"left_join_orders", 3, map_left_join_orders, dump_left_join_orders, size_left_join_orders},
};

static void create(Env& e) {
  State& s = *e.state;
  s.strings.init(e.arena);
  s.m_left_join.init(e.arena);
  s.m_left_join_customers.init(e.arena);
  s.m_left_join_orders.init(e.arena);
}
static Strings& strings_of(State& s) { return s.strings; }
static const char* const all_slots[] = {nullptr};
static Watch watch_of(State&) { return {}; }
static f64* gone_of(State&) { return nullptr; }
const Kernel kernel = {2, 1, 4, all_relations, all_queries, all_maps, sizeof(State), strings_of, create, ready, 0, all_slots, watch_of, gone_of};

}  // namespace fr

#include "boundary.hpp"
