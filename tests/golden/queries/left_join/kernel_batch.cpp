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
  struct Key { i64 c_id_; i64 o_id_; i64 o_price_; };
  i64 c_id_; i64 o_id_; i64 o_price_; i64 sum; u32 link[2];
  static u64 hash(const Key& k) { return mix(mix(mix(word(k.c_id_), 0), word(k.o_id_)), word(k.o_price_)); }
  bool is(const Key& k) const { return same(c_id_, k.c_id_) && same(o_id_, k.o_id_) && same(o_price_, k.o_price_); }
  u64 hash() const { return hash(Key{c_id_, o_id_, o_price_}); }
  void set(const Key& k) { c_id_ = k.c_id_; o_id_ = k.o_id_; o_price_ = k.o_price_; }
  bool empty() const { return sum == 0; }
};
struct Head0_m_left_join_customers {
  struct Key { i64 c_id_; };
  i64 c_id_; u32 first; u32 count;
  template <class R> static Key of(const R& r) { return Key{r.c_id_}; }
  static u64 hash(const Key& k) { return mix(word(k.c_id_), 0); }
  bool is(const Key& k) const { return same(c_id_, k.c_id_); }
  u64 hash() const { return hash(Key{c_id_}); }
  void set(const Key& k) { c_id_ = k.c_id_; }
  bool empty() const { return first == 0; }
};

struct Rec_m_left_join_customers_2 {
  struct Key { i64 c_id_; };
  i64 c_id_; i64 sum;
  static u64 hash(const Key& k) { return mix(word(k.c_id_), 0); }
  bool is(const Key& k) const { return same(c_id_, k.c_id_); }
  u64 hash() const { return hash(Key{c_id_}); }
  void set(const Key& k) { c_id_ = k.c_id_; }
  bool empty() const { return sum == 0; }
};

struct Rec_m_left_join_orders {
  struct Key { i64 c_id_; Sym c_name_; };
  i64 c_id_; Sym c_name_; i64 sum; u32 link[2];
  static u64 hash(const Key& k) { return mix(mix(word(k.c_id_), 0), word(k.c_name_)); }
  bool is(const Key& k) const { return same(c_id_, k.c_id_) && same(c_name_, k.c_name_); }
  u64 hash() const { return hash(Key{c_id_, c_name_}); }
  void set(const Key& k) { c_id_ = k.c_id_; c_name_ = k.c_name_; }
  bool empty() const { return sum == 0; }
};
struct Head0_m_left_join_orders {
  struct Key { i64 c_id_; };
  i64 c_id_; u32 first; u32 count;
  template <class R> static Key of(const R& r) { return Key{r.c_id_}; }
  static u64 hash(const Key& k) { return mix(word(k.c_id_), 0); }
  bool is(const Key& k) const { return same(c_id_, k.c_id_); }
  u64 hash() const { return hash(Key{c_id_}); }
  void set(const Key& k) { c_id_ = k.c_id_; }
  bool empty() const { return first == 0; }
};

struct Rec_d_orders {
  struct Key { i64 k0_; i64 k1_; i64 k2_; };
  i64 k0_; i64 k1_; i64 k2_; i64 sum; u32 link[2];
  static u64 hash(const Key& k) { return mix(mix(mix(word(k.k0_), 0), word(k.k1_)), word(k.k2_)); }
  bool is(const Key& k) const { return same(k0_, k.k0_) && same(k1_, k.k1_) && same(k2_, k.k2_); }
  u64 hash() const { return hash(Key{k0_, k1_, k2_}); }
  void set(const Key& k) { k0_ = k.k0_; k1_ = k.k1_; k2_ = k.k2_; }
  bool empty() const { return sum == 0; }
};
struct Head0_d_orders {
  struct Key { i64 k1_; };
  i64 k1_; u32 first; u32 count;
  template <class R> static Key of(const R& r) { return Key{r.k1_}; }
  static u64 hash(const Key& k) { return mix(word(k.k1_), 0); }
  bool is(const Key& k) const { return same(k1_, k.k1_); }
  u64 hash() const { return hash(Key{k1_}); }
  void set(const Key& k) { k1_ = k.k1_; }
  bool empty() const { return first == 0; }
};

struct Rec_tmp0 {
  struct Key { i64 k0_; };
  i64 k0_; i64 sum;
  static u64 hash(const Key& k) { return mix(word(k.k0_), 0); }
  bool is(const Key& k) const { return same(k0_, k.k0_); }
  u64 hash() const { return hash(Key{k0_}); }
  void set(const Key& k) { k0_ = k.k0_; }
  bool empty() const { return sum == 0; }
};

using Rec_tmp1 = Rec_tmp0;




struct State {
  Strings strings;
  bool stale, late;
  Flat<Rec_m_left_join> m_left_join;
  Pool<Rec_m_left_join_customers, Head0_m_left_join_customers> m_left_join_customers;
  Flat<Rec_m_left_join_customers_2> m_left_join_customers_2;
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
  // left_join[c_name, o_id, o_price] += Sum[c_name, o_id, o_price](
  //     (DELTA customers)(c_id, c_name) *
  //     (left_join_customers[c_id, o_id, o_price]
  //      + (o_id := null) * (o_price := null) * Sum[]((n := left_join_customers_2[c_id]) * {n = 0})));
  // left_join_orders[c_id, c_name] += (DELTA customers)(c_id, c_name);
  {
    {
      const auto fetch_row = [&](const i64 later) __attribute__((always_inline)) {
        s.m_left_join_customers.template prefetch_slice<0>(e.arena, Head0_m_left_join_customers::hash(Head0_m_left_join_customers::Key{all_id[later]}));
        s.m_left_join_customers_2.prefetch(e.arena, Rec_m_left_join_customers_2::hash(Rec_m_left_join_customers_2::Key{all_id[later]}));
      };
      for (i64 n = 0; b.size >= 4 && n < 8 && n < b.size; n++) fetch_row(n);
      for (i64 i_1 = 0; i_1 < b.size; i_1++) {
        const i64 id_1 = all_id[i_1];
        const Str name_1 = all_name[i_1];
        if (const i64 next = i_1 + 8; next < b.size) fetch_row(next);
        s.m_left_join_customers.template slice<0>(e.arena, Head0_m_left_join_customers::Key{id_1}, [&](const Rec_m_left_join_customers& left_join_customers_2) {
          FR_VISIT(1);
          const Sym text_8 = put_text(e, name_1);
          if (__builtin_expect(e.collecting >> 0 & 1, 0)) touch<Sym, i64, i64>(e, 0, text_8, left_join_customers_2.o_id_, left_join_customers_2.o_price_);
          {
            auto* into_9 = s.m_left_join.at(e.arena, {text_8, left_join_customers_2.o_id_, left_join_customers_2.o_price_});
            FR_WRITE;
            into_9->sum = known(o, add<i64>(o, into_9->sum, mul<i64>(o, b.count[i_1], left_join_customers_2.sum)));
            if (into_9->empty()) s.m_left_join.drop(e.arena, into_9);
          }
        });
        const i8 o_id_3 = null<i8>();
        i64 total_5{};
        {
          if (const auto* left_join_customers_a1 = s.m_left_join_customers_2.find(e.arena, Rec_m_left_join_customers_2::Key{id_1})) {
            FR_VISIT(1);
            total_5 = add<i64>(o, total_5, left_join_customers_a1->sum);
          }
        }
        const i64 n_6 = known(o, total_5);
        if ((n_6 == i64(0ll))) {
          const Sym text_10 = put_text(e, name_1);
          if (__builtin_expect(e.collecting >> 0 & 1, 0)) touch<Sym, i64, i64>(e, 0, text_10, null<i64>(), null<i64>());
          {
            auto* into_11 = s.m_left_join.at(e.arena, {text_10, null<i64>(), null<i64>()});
            FR_WRITE;
            into_11->sum = known(o, add<i64>(o, into_11->sum, b.count[i_1]));
            if (into_11->empty()) s.m_left_join.drop(e.arena, into_11);
          }
        }
        const Sym text_12 = put_text(e, name_1);
        {
          auto* into_13 = s.m_left_join_orders.at(e.arena, {id_1, text_12});
          FR_WRITE;
          into_13->sum = known(o, add<i64>(o, into_13->sum, b.count[i_1]));
          if (into_13->empty()) s.m_left_join_orders.drop(e.arena, into_13);
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
  Pool<Rec_d_orders, Head0_d_orders> d_orders{};
  {
    for (i64 i_a1 = 0; i_a1 < b.size; i_a1++) {
      const i64 id_a1 = all_id[i_a1];
      const i64 customer_a1 = all_customer[i_a1];
      const i64 price_a1 = all_price[i_a1];
      {
        auto* into_a2 = d_orders.at(e.scratch, {id_a1, customer_a1, price_a1});
        FR_WRITE;
        into_a2->sum = known(o, add<i64>(o, into_a2->sum, b.count[i_a1]));
        if (into_a2->empty()) d_orders.drop(e.scratch, into_a2);
      }
    }
  }
  // left_join[c_name, o_id, o_price] += Sum[c_name, o_id, o_price](
  //     ((o_id := null) * (o_price := null) *
  //        (Sum[c_id](
  //             Exists(Sum[c_id]((DELTA orders)(o_id_1_d, c_id, o_price_1_d))) *
  //             (n := left_join_customers_2[c_id] + Sum[c_id]((DELTA orders)(o_id_1, c_id, o_price_1))) *
  //             {n = 0})
  //         - Sum[c_id](
  //             Exists(Sum[c_id]((DELTA orders)(o_id_1_d, c_id, o_price_1_d))) *
  //             (n := left_join_customers_2[c_id]) * {n = 0}))
  //      + (DELTA orders)(o_id, c_id, o_price)) *
  //     left_join_orders[c_id, c_name]);
  // left_join_customers[c_id, o_id, o_price] += (DELTA orders)(o_id, c_id, o_price);
  {
    const i8 o_id_1 = null<i8>();
    Rows<Rec_tmp0> tmp0{};
    {
      for (i64 i_a1 = 0; i_a1 < b.size; i_a1++) {
        const i64 customer_a1 = all_customer[i_a1];
        {
          auto* into_a2 = tmp0.at(e.scratch, {customer_a1});
          FR_WRITE;
          into_a2->sum = known(o, add<i64>(o, into_a2->sum, b.count[i_a1]));
          if (into_a2->empty()) tmp0.drop(e.scratch, into_a2);
        }
      }
    }
    tmp0.each(e.scratch, 8, [&](const Rec_tmp0& soon) { s.m_left_join_customers_2.prefetch(e.arena, Rec_m_left_join_customers_2::hash(Rec_m_left_join_customers_2::Key{soon.k0_})); s.m_left_join_orders.template prefetch_slice<0>(e.arena, Head0_m_left_join_orders::hash(Head0_m_left_join_orders::Key{soon.k0_})); }, [&](const Rec_tmp0& row_4) {
      FR_VISIT(1);
      i64 total_5{};
      {
        if (const auto* left_join_customers_a1 = s.m_left_join_customers_2.find(e.arena, Rec_m_left_join_customers_2::Key{row_4.k0_})) {
          FR_VISIT(1);
          total_5 = add<i64>(o, total_5, left_join_customers_a1->sum);
        }
        d_orders.template slice<0>(e.scratch, Head0_d_orders::Key{row_4.k0_}, [&](const Rec_d_orders& row_a2) {
          FR_VISIT(1);
          total_5 = add<i64>(o, total_5, row_a2.sum);
        });
      }
      const i64 n_6 = known(o, total_5);
      if ((n_6 == i64(0ll))) {
        s.m_left_join_orders.template slice<0>(e.arena, Head0_m_left_join_orders::Key{row_4.k0_}, [&](const Rec_m_left_join_orders& left_join_orders_7) {
          FR_VISIT(1);
          if (__builtin_expect(e.collecting >> 0 & 1, 0)) touch<Sym, i64, i64>(e, 0, left_join_orders_7.c_name_, null<i64>(), null<i64>());
          {
            auto* into_17 = s.m_left_join.at(e.arena, {left_join_orders_7.c_name_, null<i64>(), null<i64>()});
            FR_WRITE;
            into_17->sum = known(o, add<i64>(o, into_17->sum, left_join_orders_7.sum));
            if (into_17->empty()) s.m_left_join.drop(e.arena, into_17);
          }
        });
      }
    });
    Rows<Rec_tmp1> tmp1{};
    {
      for (i64 i_a1 = 0; i_a1 < b.size; i_a1++) {
        const i64 customer_a1 = all_customer[i_a1];
        {
          auto* into_a2 = tmp1.at(e.scratch, {customer_a1});
          FR_WRITE;
          into_a2->sum = known(o, add<i64>(o, into_a2->sum, b.count[i_a1]));
          if (into_a2->empty()) tmp1.drop(e.scratch, into_a2);
        }
      }
    }
    tmp1.each(e.scratch, 8, [&](const Rec_tmp1& soon) { s.m_left_join_customers_2.prefetch(e.arena, Rec_m_left_join_customers_2::hash(Rec_m_left_join_customers_2::Key{soon.k0_})); s.m_left_join_orders.template prefetch_slice<0>(e.arena, Head0_m_left_join_orders::hash(Head0_m_left_join_orders::Key{soon.k0_})); }, [&](const Rec_tmp1& row_9) {
      FR_VISIT(1);
      i64 total_10{};
      {
        if (const auto* left_join_customers_a1 = s.m_left_join_customers_2.find(e.arena, Rec_m_left_join_customers_2::Key{row_9.k0_})) {
          FR_VISIT(1);
          total_10 = add<i64>(o, total_10, left_join_customers_a1->sum);
        }
      }
      const i64 n_11 = known(o, total_10);
      if ((n_11 == i64(0ll))) {
        s.m_left_join_orders.template slice<0>(e.arena, Head0_m_left_join_orders::Key{row_9.k0_}, [&](const Rec_m_left_join_orders& left_join_orders_12) {
          FR_VISIT(1);
          if (__builtin_expect(e.collecting >> 0 & 1, 0)) touch<Sym, i64, i64>(e, 0, left_join_orders_12.c_name_, null<i64>(), null<i64>());
          {
            auto* into_18 = s.m_left_join.at(e.arena, {left_join_orders_12.c_name_, null<i64>(), null<i64>()});
            FR_WRITE;
            into_18->sum = known(o, add<i64>(o, into_18->sum, mul<i64>(o, i64(-1ll), left_join_orders_12.sum)));
            if (into_18->empty()) s.m_left_join.drop(e.arena, into_18);
          }
        });
      }
    });
    {
      const auto fetch_row = [&](const i64 later) __attribute__((always_inline)) {
        s.m_left_join_orders.template prefetch_slice<0>(e.arena, Head0_m_left_join_orders::hash(Head0_m_left_join_orders::Key{all_customer[later]}));
        s.m_left_join_customers.prefetch_write(e.arena, {all_customer[later], all_id[later], all_price[later]});
      };
      for (i64 n = 0; b.size >= 4 && n < 8 && n < b.size; n++) fetch_row(n);
      for (i64 i_13 = 0; i_13 < b.size; i_13++) {
        const i64 id_13 = all_id[i_13];
        const i64 customer_13 = all_customer[i_13];
        const i64 price_13 = all_price[i_13];
        if (const i64 next = i_13 + 8; next < b.size) fetch_row(next);
        s.m_left_join_orders.template slice<0>(e.arena, Head0_m_left_join_orders::Key{customer_13}, [&](const Rec_m_left_join_orders& left_join_orders_14) {
          FR_VISIT(1);
          if (__builtin_expect(e.collecting >> 0 & 1, 0)) touch<Sym, i64, i64>(e, 0, left_join_orders_14.c_name_, id_13, price_13);
          {
            auto* into_19 = s.m_left_join.at(e.arena, {left_join_orders_14.c_name_, id_13, price_13});
            FR_WRITE;
            into_19->sum = known(o, add<i64>(o, into_19->sum, mul<i64>(o, b.count[i_13], left_join_orders_14.sum)));
            if (into_19->empty()) s.m_left_join.drop(e.arena, into_19);
          }
        });
        {
          auto* into_20 = s.m_left_join_customers.at(e.arena, {customer_13, id_13, price_13});
          FR_WRITE;
          into_20->sum = known(o, add<i64>(o, into_20->sum, b.count[i_13]));
          if (into_20->empty()) s.m_left_join_customers.drop(e.arena, into_20);
        }
      }
    }
  }
  // left_join_customers_2[c_id] += Sum[c_id]((DELTA orders)(o_id, c_id, o_price));
  {
    {
      const auto fetch_row = [&](const i64 later) __attribute__((always_inline)) {
        s.m_left_join_customers_2.prefetch_write(e.arena, {all_customer[later]});
      };
      for (i64 n = 0; b.size >= 4 && n < 8 && n < b.size; n++) fetch_row(n);
      for (i64 i_16 = 0; i_16 < b.size; i_16++) {
        const i64 customer_16 = all_customer[i_16];
        if (const i64 next = i_16 + 8; next < b.size) fetch_row(next);
        {
          auto* into_21 = s.m_left_join_customers_2.at(e.arena, {customer_16});
          FR_WRITE;
          into_21->sum = known(o, add<i64>(o, into_21->sum, b.count[i_16]));
          if (into_21->empty()) s.m_left_join_customers_2.drop(e.arena, into_21);
        }
      }
    }
  }
  e.overflow |= o;
  e.scratch.reset();
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
    static_cast<i64*>(out.column[0])[at] = r.c_id_;
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
  s.m_left_join_customers_2.each(e.arena, [&](const Rec_m_left_join_customers_2& r) {
    if (r.sum == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<i64*>(out.column[0])[at] = r.c_id_;
    static_cast<i64*>(out.column[1])[at] = r.sum;
  });
  e.overflow |= o;
}
static u64 size_left_join_customers_2(Env& e) {
  State& s = *e.state;
  return s.m_left_join_customers_2.size();
}

__attribute__((cold)) static void dump_left_join_orders(Env& e, Output& out) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  s.m_left_join_orders.each(e.arena, [&](const Rec_m_left_join_orders& r) {
    if (r.sum == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<i64*>(out.column[0])[at] = r.c_id_;
    static_cast<Sym*>(out.column[1])[at] = r.c_name_;
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
  {"c_id", Int, 0, false, true},
  {"o_id", Int, 0, false, true},
  {"o_price", Decimal64, 2, false, true},
  {"", Int, 0, false, true},
};

static const Column map_left_join_customers_2[] = {
  {"c_id", Int, 0, false, true},
  {"", Int, 0, false, true},
};

static const Column map_left_join_orders[] = {
  {"c_id", Int, 0, false, true},
  {"c_name", Text, 0, false, true},
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
  s.m_left_join_customers_2.init(e.arena);
  s.m_left_join_orders.init(e.arena);
}
static Strings& strings_of(State& s) { return s.strings; }
static const char* const all_slots[] = {nullptr};
static Watch watch_of(State&) { return {}; }
static f64* gone_of(State&) { return nullptr; }
const Kernel kernel = {2, 1, 4, all_relations, all_queries, all_maps, sizeof(State), strings_of, create, ready, 0, all_slots, watch_of, gone_of};

}  // namespace fr

#include "boundary.hpp"
