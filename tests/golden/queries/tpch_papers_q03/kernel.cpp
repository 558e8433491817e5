#include "flat.hpp"
#include "kernel.hpp"
#include "ordered.hpp"
#include "pool.hpp"
#include "rows.hpp"
#include "sum.hpp"
namespace fr {

struct Rec_m_q03 {
  struct Key { i32 o_orderdate_; i64 o_orderkey_; i64 o_shippriority_; };
  i64 o_orderkey_; i64 o_shippriority_; i64 sum; i64 sum_2; i32 o_orderdate_;
  static u64 hash(const Key& k) { return mix(mix(mix(word(k.o_orderdate_), 0), word(k.o_orderkey_)), word(k.o_shippriority_)); }
  bool is(const Key& k) const { return same(o_orderdate_, k.o_orderdate_) && same(o_orderkey_, k.o_orderkey_) && same(o_shippriority_, k.o_shippriority_); }
  u64 hash() const { return hash(Key{o_orderdate_, o_orderkey_, o_shippriority_}); }
  void set(const Key& k) { o_orderdate_ = k.o_orderdate_; o_orderkey_ = k.o_orderkey_; o_shippriority_ = k.o_shippriority_; }
  bool empty() const { return sum == 0 && sum_2 == 0; }
};

struct Rec_m_q03_Lineitem {
  struct Key { i32 o_orderdate_; i64 o_shippriority_; i64 orderkey_; };
  i64 o_shippriority_; i64 orderkey_; i64 sum; i32 o_orderdate_; u32 link[2];
  static u64 hash(const Key& k) { return mix(mix(mix(word(k.o_orderdate_), 0), word(k.o_shippriority_)), word(k.orderkey_)); }
  bool is(const Key& k) const { return same(o_orderdate_, k.o_orderdate_) && same(o_shippriority_, k.o_shippriority_) && same(orderkey_, k.orderkey_); }
  u64 hash() const { return hash(Key{o_orderdate_, o_shippriority_, orderkey_}); }
  void set(const Key& k) { o_orderdate_ = k.o_orderdate_; o_shippriority_ = k.o_shippriority_; orderkey_ = k.orderkey_; }
  bool empty() const { return sum == 0; }
};
struct Head0_m_q03_Lineitem {
  struct Key { i64 orderkey_; };
  i64 orderkey_; u32 first; u32 count;
  template <class R> static Key of(const R& r) { return Key{r.orderkey_}; }
  static u64 hash(const Key& k) { return mix(word(k.orderkey_), 0); }
  bool is(const Key& k) const { return same(orderkey_, k.orderkey_); }
  u64 hash() const { return hash(Key{orderkey_}); }
  void set(const Key& k) { orderkey_ = k.orderkey_; }
  bool empty() const { return first == 0; }
};

struct Rec_m_q03_Orders {
  struct Key { i64 custkey_; };
  i64 custkey_; i64 sum;
  static u64 hash(const Key& k) { return mix(word(k.custkey_), 0); }
  bool is(const Key& k) const { return same(custkey_, k.custkey_); }
  u64 hash() const { return hash(Key{custkey_}); }
  void set(const Key& k) { custkey_ = k.custkey_; }
  bool empty() const { return sum == 0; }
};

struct Rec_m_q03_Orders_2 {
  struct Key { i64 orderkey_; };
  i64 orderkey_; i64 sum; i64 sum_2;
  static u64 hash(const Key& k) { return mix(word(k.orderkey_), 0); }
  bool is(const Key& k) const { return same(orderkey_, k.orderkey_); }
  u64 hash() const { return hash(Key{orderkey_}); }
  void set(const Key& k) { orderkey_ = k.orderkey_; }
  bool empty() const { return sum == 0 && sum_2 == 0; }
};

struct Rec_m_q03_Customer_Lineitem {
  struct Key { i64 custkey_; i32 o_orderdate_; i64 o_shippriority_; i64 orderkey_; };
  i64 custkey_; i64 o_shippriority_; i64 orderkey_; i64 sum; i32 o_orderdate_; u32 link[2];
  static u64 hash(const Key& k) { return mix(mix(mix(mix(word(k.custkey_), 0), word(k.o_orderdate_)), word(k.o_shippriority_)), word(k.orderkey_)); }
  bool is(const Key& k) const { return same(custkey_, k.custkey_) && same(o_orderdate_, k.o_orderdate_) && same(o_shippriority_, k.o_shippriority_) && same(orderkey_, k.orderkey_); }
  u64 hash() const { return hash(Key{custkey_, o_orderdate_, o_shippriority_, orderkey_}); }
  void set(const Key& k) { custkey_ = k.custkey_; o_orderdate_ = k.o_orderdate_; o_shippriority_ = k.o_shippriority_; orderkey_ = k.orderkey_; }
  bool empty() const { return sum == 0; }
};
struct Head0_m_q03_Customer_Lineitem {
  struct Key { i64 custkey_; };
  i64 custkey_; u32 first; u32 count;
  template <class R> static Key of(const R& r) { return Key{r.custkey_}; }
  static u64 hash(const Key& k) { return mix(word(k.custkey_), 0); }
  bool is(const Key& k) const { return same(custkey_, k.custkey_); }
  u64 hash() const { return hash(Key{custkey_}); }
  void set(const Key& k) { custkey_ = k.custkey_; }
  bool empty() const { return first == 0; }
};






struct State {
  Strings strings;
  bool stale;
  Flat<Rec_m_q03> m_q03;
  Pool<Rec_m_q03_Lineitem, Head0_m_q03_Lineitem> m_q03_Lineitem;
  Flat<Rec_m_q03_Orders> m_q03_Orders;
  Flat<Rec_m_q03_Orders_2> m_q03_Orders_2;
  Pool<Rec_m_q03_Customer_Lineitem, Head0_m_q03_Customer_Lineitem> m_q03_Customer_Lineitem;
};

}  // namespace fr

#include "support.hpp"

namespace fr {






static void on_Lineitem(Env& e, const Batch& b) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  (void)b;
  const i64* all_orderkey = static_cast<const i64*>(b.column[0]);
  const i64* all_extendedprice = static_cast<const i64*>(b.column[5]);
  const i64* all_discount = static_cast<const i64*>(b.column[6]);
  const i32* all_shipdate = static_cast<const i32*>(b.column[10]);
  for (i64 from = 0; from < b.size; from += 1024) {
    u32 rows[1024];
    i64 chosen = 0;
    const i64 end = b.size - from < 1024 ? b.size : from + 1024;
    for (i64 i_1 = from; i_1 < end; i_1++) {
      const i32 shipdate_1 = all_shipdate[i_1];
      rows[chosen] = u32(i_1 - from);
      chosen += ((shipdate_1 > i32(9204ll)));
    }
    for (i64 j = 0; j < chosen; j++) {
      const i64 i_1 = from + rows[j];
      const i64 orderkey_1 = all_orderkey[i_1];
      const i64 extendedprice_1 = all_extendedprice[i_1];
      const i64 discount_1 = all_discount[i_1];
      if (const i64 next = j + 8; next < chosen) {
        const i64 later = from + rows[next];
        s.m_q03_Lineitem.template prefetch_slice<0>(e.arena, Head0_m_q03_Lineitem::hash(Head0_m_q03_Lineitem::Key{all_orderkey[later]}));
        s.m_q03_Orders_2.prefetch_write(e.arena, {all_orderkey[later]});
      }
      const i64 sign_2 = b.count[i_1];
      // q03[o_orderdate, d_orderkey, o_shippriority] +=
      //   {d_shipdate > date '1995-03-15'} * q03_Lineitem[o_orderdate, o_shippriority, d_orderkey];
      // q03_2[o_orderdate, d_orderkey, o_shippriority] +=
      //   {d_shipdate > date '1995-03-15'} * d_extendedprice * (1 - d_discount) *
      //   q03_Lineitem[o_orderdate, o_shippriority, d_orderkey];
      // q03_Orders_2[d_orderkey] += {d_shipdate > date '1995-03-15'};
      // q03_2_Orders[d_orderkey] += {d_shipdate > date '1995-03-15'} * d_extendedprice * (1 - d_discount);
      {
        s.m_q03_Lineitem.template slice<0>(e.arena, Head0_m_q03_Lineitem::Key{orderkey_1}, [&](const Rec_m_q03_Lineitem& q03_Lineitem_3) {
          FR_VISIT(1);
          {
            auto* into_5 = s.m_q03.at(e.arena, {q03_Lineitem_3.o_orderdate_, orderkey_1, q03_Lineitem_3.o_shippriority_});
            FR_WRITE;
            into_5->sum = known(o, add<i64>(o, into_5->sum, mul<i64>(o, sign_2, q03_Lineitem_3.sum)));
            into_5->sum_2 = known(o, add<i64>(o, into_5->sum_2, mul<i64>(o, mul<i64>(o, mul<i64>(o, sign_2, extendedprice_1), add<i64>(o, scaled<i64>(o, i64(1ll), i64(100ll)), mul<i64>(o, i64(-1ll), discount_1))), q03_Lineitem_3.sum)));
            if (into_5->empty()) s.m_q03.drop(e.arena, into_5);
          }
        });
        {
          auto* into_7 = s.m_q03_Orders_2.at(e.arena, {orderkey_1});
          FR_WRITE;
          into_7->sum = known(o, add<i64>(o, into_7->sum, sign_2));
          into_7->sum_2 = known(o, add<i64>(o, into_7->sum_2, mul<i64>(o, mul<i64>(o, sign_2, extendedprice_1), add<i64>(o, scaled<i64>(o, i64(1ll), i64(100ll)), mul<i64>(o, i64(-1ll), discount_1)))));
          if (into_7->empty()) s.m_q03_Orders_2.drop(e.arena, into_7);
        }
      }
    }
  }
  e.overflow |= o;
}

static void on_Orders(Env& e, const Batch& b) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  (void)b;
  const i64* all_orderkey = static_cast<const i64*>(b.column[0]);
  const i64* all_custkey = static_cast<const i64*>(b.column[1]);
  const i32* all_orderdate = static_cast<const i32*>(b.column[4]);
  const i64* all_shippriority = static_cast<const i64*>(b.column[7]);
  for (i64 from = 0; from < b.size; from += 1024) {
    u32 rows[1024];
    i64 chosen = 0;
    const i64 end = b.size - from < 1024 ? b.size : from + 1024;
    for (i64 i_1 = from; i_1 < end; i_1++) {
      const i32 orderdate_1 = all_orderdate[i_1];
      rows[chosen] = u32(i_1 - from);
      chosen += ((orderdate_1 < i32(9204ll)));
    }
    for (i64 j = 0; j < chosen; j++) {
      const i64 i_1 = from + rows[j];
      const i64 orderkey_1 = all_orderkey[i_1];
      const i64 custkey_1 = all_custkey[i_1];
      const i32 orderdate_1 = all_orderdate[i_1];
      const i64 shippriority_1 = all_shippriority[i_1];
      if (const i64 next = j + 8; next < chosen) {
        const i64 later = from + rows[next];
        s.m_q03_Orders.prefetch(e.arena, Rec_m_q03_Orders::hash(Rec_m_q03_Orders::Key{all_custkey[later]}));
        s.m_q03_Orders_2.prefetch(e.arena, Rec_m_q03_Orders_2::hash(Rec_m_q03_Orders_2::Key{all_orderkey[later]}));
        s.m_q03.prefetch_write(e.arena, {all_orderdate[later], all_orderkey[later], all_shippriority[later]});
        s.m_q03_Lineitem.prefetch_write(e.arena, {all_orderdate[later], all_shippriority[later], all_orderkey[later]});
        s.m_q03_Customer_Lineitem.prefetch_write(e.arena, {all_custkey[later], all_orderdate[later], all_shippriority[later], all_orderkey[later]});
      }
      const i64 sign_2 = b.count[i_1];
      // q03[d_orderdate, d_orderkey, d_shippriority] +=
      //   {d_orderdate < date '1995-03-15'} * q03_Orders[d_custkey] * q03_Orders_2[d_orderkey];
      // q03_2[d_orderdate, d_orderkey, d_shippriority] +=
      //   {d_orderdate < date '1995-03-15'} * q03_Orders[d_custkey] * q03_2_Orders[d_orderkey];
      // q03_Lineitem[d_orderdate, d_shippriority, d_orderkey] +=
      //   {d_orderdate < date '1995-03-15'} * q03_Orders[d_custkey];
      // q03_Customer_Lineitem[d_custkey, d_orderdate, d_shippriority, d_orderkey] +=
      //   {d_orderdate < date '1995-03-15'};
      {
        if (const auto* q03_Orders_3 = s.m_q03_Orders.find(e.arena, Rec_m_q03_Orders::Key{custkey_1})) {
          FR_VISIT(1);
          if (const auto* q03_Orders_4 = s.m_q03_Orders_2.find(e.arena, Rec_m_q03_Orders_2::Key{orderkey_1})) {
            FR_VISIT(1);
            {
              auto* into_8 = s.m_q03.at(e.arena, {orderdate_1, orderkey_1, shippriority_1});
              FR_WRITE;
              into_8->sum = known(o, add<i64>(o, into_8->sum, mul<i64>(o, mul<i64>(o, sign_2, q03_Orders_3->sum), q03_Orders_4->sum)));
              into_8->sum_2 = known(o, add<i64>(o, into_8->sum_2, mul<i64>(o, mul<i64>(o, sign_2, q03_Orders_3->sum), q03_Orders_4->sum_2)));
              if (into_8->empty()) s.m_q03.drop(e.arena, into_8);
            }
          }
          {
            auto* into_10 = s.m_q03_Lineitem.at(e.arena, {orderdate_1, shippriority_1, orderkey_1});
            FR_WRITE;
            into_10->sum = known(o, add<i64>(o, into_10->sum, mul<i64>(o, sign_2, q03_Orders_3->sum)));
            if (into_10->empty()) s.m_q03_Lineitem.drop(e.arena, into_10);
          }
        }
        {
          auto* into_11 = s.m_q03_Customer_Lineitem.at(e.arena, {custkey_1, orderdate_1, shippriority_1, orderkey_1});
          FR_WRITE;
          into_11->sum = known(o, add<i64>(o, into_11->sum, sign_2));
          if (into_11->empty()) s.m_q03_Customer_Lineitem.drop(e.arena, into_11);
        }
      }
    }
  }
  e.overflow |= o;
}

static void on_Customer(Env& e, const Batch& b) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  (void)b;
  const i64* all_custkey = static_cast<const i64*>(b.column[0]);
  const Str* all_mktsegment = static_cast<const Str*>(b.column[6]);
  for (i64 from = 0; from < b.size; from += 1024) {
    u32 rows[1024];
    i64 chosen = 0;
    const i64 end = b.size - from < 1024 ? b.size : from + 1024;
    for (i64 i_1 = from; i_1 < end; i_1++) {
      const Str mktsegment_1 = all_mktsegment[i_1];
      rows[chosen] = u32(i_1 - from);
      chosen += text_same(mktsegment_1, Str{"BUILDING", 8});
    }
    for (i64 j = 0; j < chosen; j++) {
      const i64 i_1 = from + rows[j];
      const i64 custkey_1 = all_custkey[i_1];
      if (const i64 next = j + 8; next < chosen) {
        const i64 later = from + rows[next];
        s.m_q03_Customer_Lineitem.template prefetch_slice<0>(e.arena, Head0_m_q03_Customer_Lineitem::hash(Head0_m_q03_Customer_Lineitem::Key{all_custkey[later]}));
        s.m_q03_Orders.prefetch_write(e.arena, {all_custkey[later]});
      }
      const i64 sign_2 = b.count[i_1];
      // q03[o_orderdate, o_orderkey, o_shippriority] +=
      //   {d_mktsegment = 'BUILDING'} *
      //   q03_Customer_Lineitem[d_custkey, o_orderdate, o_shippriority, o_orderkey] *
      //   q03_Orders_2[o_orderkey];
      // q03_2[o_orderdate, o_orderkey, o_shippriority] +=
      //   {d_mktsegment = 'BUILDING'} *
      //   q03_Customer_Lineitem[d_custkey, o_orderdate, o_shippriority, o_orderkey] *
      //   q03_2_Orders[o_orderkey];
      // q03_Lineitem[o_orderdate, o_shippriority, orderkey] +=
      //   {d_mktsegment = 'BUILDING'} *
      //   q03_Customer_Lineitem[d_custkey, o_orderdate, o_shippriority, orderkey];
      // q03_Orders[d_custkey] += {d_mktsegment = 'BUILDING'};
      {
        s.m_q03_Customer_Lineitem.template slice<0>(e.arena, Head0_m_q03_Customer_Lineitem::Key{custkey_1}, [&](const Rec_m_q03_Customer_Lineitem& q03_Customer_Lineitem_3) {
          FR_VISIT(1);
          if (const auto* q03_Orders_4 = s.m_q03_Orders_2.find(e.arena, Rec_m_q03_Orders_2::Key{q03_Customer_Lineitem_3.orderkey_})) {
            FR_VISIT(1);
            {
              auto* into_8 = s.m_q03.at(e.arena, {q03_Customer_Lineitem_3.o_orderdate_, q03_Customer_Lineitem_3.orderkey_, q03_Customer_Lineitem_3.o_shippriority_});
              FR_WRITE;
              into_8->sum = known(o, add<i64>(o, into_8->sum, mul<i64>(o, mul<i64>(o, sign_2, q03_Customer_Lineitem_3.sum), q03_Orders_4->sum)));
              into_8->sum_2 = known(o, add<i64>(o, into_8->sum_2, mul<i64>(o, mul<i64>(o, sign_2, q03_Customer_Lineitem_3.sum), q03_Orders_4->sum_2)));
              if (into_8->empty()) s.m_q03.drop(e.arena, into_8);
            }
          }
          {
            auto* into_10 = s.m_q03_Lineitem.at(e.arena, {q03_Customer_Lineitem_3.o_orderdate_, q03_Customer_Lineitem_3.o_shippriority_, q03_Customer_Lineitem_3.orderkey_});
            FR_WRITE;
            into_10->sum = known(o, add<i64>(o, into_10->sum, mul<i64>(o, sign_2, q03_Customer_Lineitem_3.sum)));
            if (into_10->empty()) s.m_q03_Lineitem.drop(e.arena, into_10);
          }
        });
        {
          auto* into_11 = s.m_q03_Orders.at(e.arena, {custkey_1});
          FR_WRITE;
          into_11->sum = known(o, add<i64>(o, into_11->sum, sign_2));
          if (into_11->empty()) s.m_q03_Orders.drop(e.arena, into_11);
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

__attribute__((cold)) static void read_q03(Env& e, Output& out) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  s.m_q03.each(e.arena, [&](const Rec_m_q03& q03_1) {
    FR_VISIT(1);
    if (q03_1.sum != 0) {
      i64 total_2{};
      {
        total_2 = add<i64>(o, total_2, q03_1.sum_2);
      }
      const i64 sum_3 = known(o, total_2);
      if (const i64 n = i64(1ll); n > 0) {
        const i64 at = out.next();
        out.count[at] = n;
        static_cast<i64*>(out.column[0])[at] = q03_1.o_orderkey_;
        static_cast<i32*>(out.column[1])[at] = q03_1.o_orderdate_;
        static_cast<i64*>(out.column[2])[at] = q03_1.o_shippriority_;
        static_cast<i64*>(out.column[3])[at] = sum_3;
      }
    }
  });
  e.overflow |= o;
}

static const bool key_q03[] = {true, true, true, false};
static void find_q03(Env& e, const Batch& b, Output& out) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  (void)b;
  const i64 orderkey_key = *static_cast<const i64*>(b.column[0]);
  const i32 orderdate_key = *static_cast<const i32*>(b.column[1]);
  const i64 shippriority_key = *static_cast<const i64*>(b.column[2]);
  if (const auto* q03_1 = s.m_q03.find(e.arena, Rec_m_q03::Key{orderdate_key, orderkey_key, shippriority_key})) {
    FR_VISIT(1);
    if (q03_1->sum != 0) {
      i64 total_2{};
      {
        if (const auto* q03_a1 = s.m_q03.find(e.arena, Rec_m_q03::Key{orderdate_key, orderkey_key, shippriority_key})) {
          FR_VISIT(1);
          total_2 = add<i64>(o, total_2, q03_a1->sum_2);
        }
      }
      const i64 sum_3 = known(o, total_2);
      if (const i64 n = i64(1ll); n > 0) {
        const i64 at = out.next();
        out.count[at] = n;
        static_cast<i64*>(out.column[0])[at] = orderkey_key;
        static_cast<i32*>(out.column[1])[at] = orderdate_key;
        static_cast<i64*>(out.column[2])[at] = shippriority_key;
        static_cast<i64*>(out.column[3])[at] = sum_3;
      }
    }
  }
  e.overflow |= o;
}

__attribute__((cold)) static void dump_q03(Env& e, Output& out) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  s.m_q03.each(e.arena, [&](const Rec_m_q03& r) {
    if (r.sum == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<i32*>(out.column[0])[at] = r.o_orderdate_;
    static_cast<i64*>(out.column[1])[at] = r.o_orderkey_;
    static_cast<i64*>(out.column[2])[at] = r.o_shippriority_;
    static_cast<i64*>(out.column[3])[at] = r.sum;
  });
  e.overflow |= o;
}
static u64 size_q03(Env& e) {
  State& s = *e.state;
  return s.m_q03.size();
}

__attribute__((cold)) static void dump_q03_2(Env& e, Output& out) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  s.m_q03.each(e.arena, [&](const Rec_m_q03& r) {
    if (r.sum_2 == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<i32*>(out.column[0])[at] = r.o_orderdate_;
    static_cast<i64*>(out.column[1])[at] = r.o_orderkey_;
    static_cast<i64*>(out.column[2])[at] = r.o_shippriority_;
    static_cast<i64*>(out.column[3])[at] = r.sum_2;
  });
  e.overflow |= o;
}
static u64 size_q03_2(Env& e) {
  State& s = *e.state;
  return s.m_q03.size();
}

__attribute__((cold)) static void dump_q03_Lineitem(Env& e, Output& out) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  s.m_q03_Lineitem.each(e.arena, [&](const Rec_m_q03_Lineitem& r) {
    if (r.sum == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<i32*>(out.column[0])[at] = r.o_orderdate_;
    static_cast<i64*>(out.column[1])[at] = r.o_shippriority_;
    static_cast<i64*>(out.column[2])[at] = r.orderkey_;
    static_cast<i64*>(out.column[3])[at] = r.sum;
  });
  e.overflow |= o;
}
static u64 size_q03_Lineitem(Env& e) {
  State& s = *e.state;
  return s.m_q03_Lineitem.size();
}

__attribute__((cold)) static void dump_q03_Orders(Env& e, Output& out) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  s.m_q03_Orders.each(e.arena, [&](const Rec_m_q03_Orders& r) {
    if (r.sum == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<i64*>(out.column[0])[at] = r.custkey_;
    static_cast<i64*>(out.column[1])[at] = r.sum;
  });
  e.overflow |= o;
}
static u64 size_q03_Orders(Env& e) {
  State& s = *e.state;
  return s.m_q03_Orders.size();
}

__attribute__((cold)) static void dump_q03_Orders_2(Env& e, Output& out) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  s.m_q03_Orders_2.each(e.arena, [&](const Rec_m_q03_Orders_2& r) {
    if (r.sum == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<i64*>(out.column[0])[at] = r.orderkey_;
    static_cast<i64*>(out.column[1])[at] = r.sum;
  });
  e.overflow |= o;
}
static u64 size_q03_Orders_2(Env& e) {
  State& s = *e.state;
  return s.m_q03_Orders_2.size();
}

__attribute__((cold)) static void dump_q03_2_Orders(Env& e, Output& out) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  s.m_q03_Orders_2.each(e.arena, [&](const Rec_m_q03_Orders_2& r) {
    if (r.sum_2 == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<i64*>(out.column[0])[at] = r.orderkey_;
    static_cast<i64*>(out.column[1])[at] = r.sum_2;
  });
  e.overflow |= o;
}
static u64 size_q03_2_Orders(Env& e) {
  State& s = *e.state;
  return s.m_q03_Orders_2.size();
}

__attribute__((cold)) static void dump_q03_Customer_Lineitem(Env& e, Output& out) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  s.m_q03_Customer_Lineitem.each(e.arena, [&](const Rec_m_q03_Customer_Lineitem& r) {
    if (r.sum == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<i64*>(out.column[0])[at] = r.custkey_;
    static_cast<i32*>(out.column[1])[at] = r.o_orderdate_;
    static_cast<i64*>(out.column[2])[at] = r.o_shippriority_;
    static_cast<i64*>(out.column[3])[at] = r.orderkey_;
    static_cast<i64*>(out.column[4])[at] = r.sum;
  });
  e.overflow |= o;
}
static u64 size_q03_Customer_Lineitem(Env& e) {
  State& s = *e.state;
  return s.m_q03_Customer_Lineitem.size();
}

static const Column in_Lineitem[] = {
  {"orderkey", Int, 0, false, true},
  {"partkey", Int, 0, false, false},
  {"suppkey", Int, 0, false, false},
  {"linenumber", Int, 0, false, false},
  {"quantity", Decimal64, 2, false, false},
  {"extendedprice", Decimal64, 2, false, true},
  {"discount", Decimal64, 2, false, true},
  {"tax", Decimal64, 2, false, false},
  {"returnflag", Text, 0, false, false},
  {"linestatus", Text, 0, false, false},
  {"shipdate", Date, 0, false, true},
  {"commitdate", Date, 0, false, false},
  {"receiptdate", Date, 0, false, false},
  {"shipinstruct", Text, 0, false, false},
  {"shipmode", Text, 0, false, false},
  {"comment", Text, 0, false, false},
};

static const Column in_Orders[] = {
  {"orderkey", Int, 0, false, true},
  {"custkey", Int, 0, false, true},
  {"orderstatus", Text, 0, false, false},
  {"totalprice", Decimal64, 2, false, false},
  {"orderdate", Date, 0, false, true},
  {"orderpriority", Text, 0, false, false},
  {"clerk", Text, 0, false, false},
  {"shippriority", Int, 0, false, true},
  {"comment", Text, 0, false, false},
};

static const Column in_Customer[] = {
  {"custkey", Int, 0, false, true},
  {"name", Text, 0, false, false},
  {"address", Text, 0, false, false},
  {"nationkey", Int, 0, false, false},
  {"phone", Text, 0, false, false},
  {"acctbal", Decimal64, 2, false, false},
  {"mktsegment", Text, 0, false, true},
  {"comment", Text, 0, false, false},
};

static const Column out_q03[] = {
  {"orderkey", Int, 0, false, true},
  {"orderdate", Date, 0, false, true},
  {"shippriority", Int, 0, false, true},
  {"query3", Decimal64, 4, false, true},
};

static const Column map_q03[] = {
  {"o_orderdate", Date, 0, false, true},
  {"o_orderkey", Int, 0, false, true},
  {"o_shippriority", Int, 0, false, true},
  {"", Int, 0, false, true},
};

static const Column map_q03_2[] = {
  {"o_orderdate", Date, 0, false, true},
  {"o_orderkey", Int, 0, false, true},
  {"o_shippriority", Int, 0, false, true},
  {"", Decimal64, 4, false, true},
};

static const Column map_q03_Lineitem[] = {
  {"o_orderdate", Date, 0, false, true},
  {"o_shippriority", Int, 0, false, true},
  {"orderkey", Int, 0, false, true},
  {"", Int, 0, false, true},
};

static const Column map_q03_Orders[] = {
  {"custkey", Int, 0, false, true},
  {"", Int, 0, false, true},
};

static const Column map_q03_Orders_2[] = {
  {"orderkey", Int, 0, false, true},
  {"", Int, 0, false, true},
};

static const Column map_q03_2_Orders[] = {
  {"orderkey", Int, 0, false, true},
  {"", Decimal64, 4, false, true},
};

static const Column map_q03_Customer_Lineitem[] = {
  {"custkey", Int, 0, false, true},
  {"o_orderdate", Date, 0, false, true},
  {"o_shippriority", Int, 0, false, true},
  {"orderkey", Int, 0, false, true},
  {"", Int, 0, false, true},
};

static const Relation all_relations[] = {
  {"Lineitem", 16, in_Lineitem, false, on_Lineitem},
  {"Orders", 9, in_Orders, false, on_Orders},
  {"Customer", 8, in_Customer, false, on_Customer},
};

static const Query all_queries[] = {
  {"q03", 4, out_q03, read_q03, key_q03, find_q03},
};

static const Map all_maps[] = {
  {"q03", 4, map_q03, dump_q03, size_q03},
  {"q03_2", 4, map_q03_2, dump_q03_2, size_q03_2},
  {"q03_Lineitem", 4, map_q03_Lineitem, dump_q03_Lineitem, size_q03_Lineitem},
  {"q03_Orders", 2, map_q03_Orders, dump_q03_Orders, size_q03_Orders},
  {"q03_Orders_2", 2, map_q03_Orders_2, dump_q03_Orders_2, size_q03_Orders_2},
  {"q03_2_Orders", 2, map_q03_2_Orders, dump_q03_2_Orders, size_q03_2_Orders},
  {"q03_Customer_Lineitem", 5, map_q03_Customer_Lineitem, dump_q03_Customer_Lineitem, size_q03_Customer_Lineitem},
};

static void create(Env& e) {
  State& s = *e.state;
  s.strings.init(e.arena);
  s.m_q03.init(e.arena);
  s.m_q03_Lineitem.init(e.arena);
  s.m_q03_Orders.init(e.arena);
  s.m_q03_Orders_2.init(e.arena);
  s.m_q03_Customer_Lineitem.init(e.arena);
}
static Strings& strings_of(State& s) { return s.strings; }
static const char* const all_slots[] = {nullptr};
static Watch watch_of(State&) { return {}; }
static f64* gone_of(State&) { return nullptr; }
const Kernel kernel = {3, 1, 7, all_relations, all_queries, all_maps, sizeof(State), strings_of, create, ready, 0, all_slots, watch_of, gone_of};

}  // namespace fr

#include "boundary.hpp"
