#include "flat.hpp"
#include "kernel.hpp"
#include "ordered.hpp"
#include "pool.hpp"
#include "rows.hpp"
#include "sum.hpp"
namespace fr {

struct Rec_m_q03 {
  struct Key { i64 o_orderkey_; i32 o_orderdate_; i64 o_shippriority_; };
  i64 o_orderkey_; i64 o_shippriority_; i64 sum; i64 sum_2; i32 o_orderdate_;
  static u64 hash(const Key& k) { return mix(mix(mix(word(k.o_orderkey_), 0), word(k.o_orderdate_)), word(k.o_shippriority_)); }
  bool is(const Key& k) const { return same(o_orderkey_, k.o_orderkey_) && same(o_orderdate_, k.o_orderdate_) && same(o_shippriority_, k.o_shippriority_); }
  u64 hash() const { return hash(Key{o_orderkey_, o_orderdate_, o_shippriority_}); }
  void set(const Key& k) { o_orderkey_ = k.o_orderkey_; o_orderdate_ = k.o_orderdate_; o_shippriority_ = k.o_shippriority_; }
  bool empty() const { return sum == 0 && sum_2 == 0; }
};

struct Rec_m_V_Customer_Orders_at_o_orderdate {
  struct Key { i64 o_orderkey_; i32 o_orderdate_; i64 o_shippriority_; };
  i64 o_orderkey_; i64 o_shippriority_; i64 sum; i32 o_orderdate_; u32 link[2];
  static u64 hash(const Key& k) { return mix(mix(mix(word(k.o_orderkey_), 0), word(k.o_orderdate_)), word(k.o_shippriority_)); }
  bool is(const Key& k) const { return same(o_orderkey_, k.o_orderkey_) && same(o_orderdate_, k.o_orderdate_) && same(o_shippriority_, k.o_shippriority_); }
  u64 hash() const { return hash(Key{o_orderkey_, o_orderdate_, o_shippriority_}); }
  void set(const Key& k) { o_orderkey_ = k.o_orderkey_; o_orderdate_ = k.o_orderdate_; o_shippriority_ = k.o_shippriority_; }
  bool empty() const { return sum == 0; }
};
struct Head0_m_V_Customer_Orders_at_o_orderdate {
  struct Key { i64 o_orderkey_; };
  i64 o_orderkey_; u32 first; u32 count;
  template <class R> static Key of(const R& r) { return Key{r.o_orderkey_}; }
  static u64 hash(const Key& k) { return mix(word(k.o_orderkey_), 0); }
  bool is(const Key& k) const { return same(o_orderkey_, k.o_orderkey_); }
  u64 hash() const { return hash(Key{o_orderkey_}); }
  void set(const Key& k) { o_orderkey_ = k.o_orderkey_; }
  bool empty() const { return first == 0; }
};

struct Rec_m_V_Customer_at_c_name {
  struct Key { i64 c_custkey_; };
  i64 c_custkey_; i64 sum;
  static u64 hash(const Key& k) { return mix(word(k.c_custkey_), 0); }
  bool is(const Key& k) const { return same(c_custkey_, k.c_custkey_); }
  u64 hash() const { return hash(Key{c_custkey_}); }
  void set(const Key& k) { c_custkey_ = k.c_custkey_; }
  bool empty() const { return sum == 0; }
};

struct Rec_m_V_Orders_at_o_orderstatus {
  struct Key { i64 o_orderkey_; i32 o_orderdate_; i64 o_shippriority_; i64 c_custkey_; };
  i64 o_orderkey_; i64 o_shippriority_; i64 c_custkey_; i64 sum; i32 o_orderdate_; u32 link[2];
  static u64 hash(const Key& k) { return mix(mix(mix(mix(word(k.o_orderkey_), 0), word(k.o_orderdate_)), word(k.o_shippriority_)), word(k.c_custkey_)); }
  bool is(const Key& k) const { return same(o_orderkey_, k.o_orderkey_) && same(o_orderdate_, k.o_orderdate_) && same(o_shippriority_, k.o_shippriority_) && same(c_custkey_, k.c_custkey_); }
  u64 hash() const { return hash(Key{o_orderkey_, o_orderdate_, o_shippriority_, c_custkey_}); }
  void set(const Key& k) { o_orderkey_ = k.o_orderkey_; o_orderdate_ = k.o_orderdate_; o_shippriority_ = k.o_shippriority_; c_custkey_ = k.c_custkey_; }
  bool empty() const { return sum == 0; }
};
struct Head0_m_V_Orders_at_o_orderstatus {
  struct Key { i64 c_custkey_; };
  i64 c_custkey_; u32 first; u32 count;
  template <class R> static Key of(const R& r) { return Key{r.c_custkey_}; }
  static u64 hash(const Key& k) { return mix(word(k.c_custkey_), 0); }
  bool is(const Key& k) const { return same(c_custkey_, k.c_custkey_); }
  u64 hash() const { return hash(Key{c_custkey_}); }
  void set(const Key& k) { c_custkey_ = k.c_custkey_; }
  bool empty() const { return first == 0; }
};

struct Rec_m_V_Lineitem_at_l_partkey {
  struct Key { i64 o_orderkey_; };
  i64 o_orderkey_; i64 sum; i64 sum_2;
  static u64 hash(const Key& k) { return mix(word(k.o_orderkey_), 0); }
  bool is(const Key& k) const { return same(o_orderkey_, k.o_orderkey_); }
  u64 hash() const { return hash(Key{o_orderkey_}); }
  void set(const Key& k) { o_orderkey_ = k.o_orderkey_; }
  bool empty() const { return sum == 0 && sum_2 == 0; }
};






struct State {
  Strings strings;
  bool stale, late;
  Flat<Rec_m_q03> m_q03;
  Pool<Rec_m_V_Customer_Orders_at_o_orderdate, Head0_m_V_Customer_Orders_at_o_orderdate> m_V_Customer_Orders_at_o_orderdate;
  Flat<Rec_m_V_Customer_at_c_name> m_V_Customer_at_c_name;
  Pool<Rec_m_V_Orders_at_o_orderstatus, Head0_m_V_Orders_at_o_orderstatus> m_V_Orders_at_o_orderstatus;
  Flat<Rec_m_V_Lineitem_at_l_partkey> m_V_Lineitem_at_l_partkey;
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
    const i64 end = b.size - from < 1024 ? b.size : from + 1024;
    u8 marks[1024 + SPARE];
    mark<true>(marks, end - from, [](auto shipdate_1) { return (shipdate_1 > i32(9204ll)); }, all_shipdate + from);
    u32 rows[1024 + SPARE];
    const i64 chosen = number_rows(marks, end - from, rows);
    const auto fetch_row = [&](const i64 later) __attribute__((always_inline)) {
      s.m_V_Customer_Orders_at_o_orderdate.template prefetch_slice<0>(e.arena, Head0_m_V_Customer_Orders_at_o_orderdate::hash(Head0_m_V_Customer_Orders_at_o_orderdate::Key{all_orderkey[later]}));
      s.m_V_Lineitem_at_l_partkey.prefetch_write(e.arena, {all_orderkey[later]});
    };
    for (i64 n = 0; chosen >= 4 && n < 8 && n < chosen; n++) fetch_row(from + rows[n]);
    for (i64 j = 0; j < chosen; j++) {
      const i64 i_1 = from + rows[j];
      const i64 orderkey_1 = all_orderkey[i_1];
      const i64 extendedprice_1 = all_extendedprice[i_1];
      const i64 discount_1 = all_discount[i_1];
      if (const i64 next = j + 8; next < chosen) fetch_row(from + rows[next]);
      const i64 sign_2 = b.count[i_1];
      // q03[d_orderkey, o_orderdate, o_shippriority] +=
      //   {d_shipdate > date '1995-03-15'} *
      //   V_Customer_Orders_at_o_orderdate[d_orderkey, o_orderdate, o_shippriority];
      // V_Lineitem_at_l_partkey[d_orderkey] += {d_shipdate > date '1995-03-15'};
      // q03_2[d_orderkey, o_orderdate, o_shippriority] +=
      //   {d_shipdate > date '1995-03-15'} * (1 - d_discount) * d_extendedprice *
      //   V_Customer_Orders_at_o_orderdate[d_orderkey, o_orderdate, o_shippriority];
      // V_Lineitem_at_l_partkey_2[d_orderkey] +=
      //   {d_shipdate > date '1995-03-15'} * (1 - d_discount) * d_extendedprice;
      {
        s.m_V_Customer_Orders_at_o_orderdate.template slice<0>(e.arena, Head0_m_V_Customer_Orders_at_o_orderdate::Key{orderkey_1}, [&](const Rec_m_V_Customer_Orders_at_o_orderdate& V_Customer_Orders_at_o_orderdate_3) {
          FR_VISIT(1);
          if (__builtin_expect(e.collecting >> 0 & 1, 0)) touch<i64, i32, i64>(e, 0, orderkey_1, V_Customer_Orders_at_o_orderdate_3.o_orderdate_, V_Customer_Orders_at_o_orderdate_3.o_shippriority_);
          {
            auto* into_5 = s.m_q03.at(e.arena, {orderkey_1, V_Customer_Orders_at_o_orderdate_3.o_orderdate_, V_Customer_Orders_at_o_orderdate_3.o_shippriority_});
            FR_WRITE;
            into_5->sum = known(o, add<i64>(o, into_5->sum, mul<i64>(o, sign_2, V_Customer_Orders_at_o_orderdate_3.sum)));
            into_5->sum_2 = known(o, add<i64>(o, into_5->sum_2, mul<i64>(o, mul<i64>(o, mul<i64>(o, sign_2, add<i64>(o, scaled<i64>(o, i64(1ll), i64(100ll)), mul<i64>(o, i64(-1ll), discount_1))), extendedprice_1), V_Customer_Orders_at_o_orderdate_3.sum)));
            if (into_5->empty()) s.m_q03.drop(e.arena, into_5);
          }
        });
        {
          auto* into_6 = s.m_V_Lineitem_at_l_partkey.at(e.arena, {orderkey_1});
          FR_WRITE;
          into_6->sum = known(o, add<i64>(o, into_6->sum, sign_2));
          into_6->sum_2 = known(o, add<i64>(o, into_6->sum_2, mul<i64>(o, mul<i64>(o, sign_2, add<i64>(o, scaled<i64>(o, i64(1ll), i64(100ll)), mul<i64>(o, i64(-1ll), discount_1))), extendedprice_1)));
          if (into_6->empty()) s.m_V_Lineitem_at_l_partkey.drop(e.arena, into_6);
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
    const i64 end = b.size - from < 1024 ? b.size : from + 1024;
    u8 marks[1024 + SPARE];
    mark<true>(marks, end - from, [](auto orderdate_1) { return (orderdate_1 < i32(9204ll)); }, all_orderdate + from);
    u32 rows[1024 + SPARE];
    const i64 chosen = number_rows(marks, end - from, rows);
    const auto fetch_row = [&](const i64 later) __attribute__((always_inline)) {
      s.m_V_Customer_at_c_name.prefetch(e.arena, Rec_m_V_Customer_at_c_name::hash(Rec_m_V_Customer_at_c_name::Key{all_custkey[later]}));
      s.m_V_Lineitem_at_l_partkey.prefetch(e.arena, Rec_m_V_Lineitem_at_l_partkey::hash(Rec_m_V_Lineitem_at_l_partkey::Key{all_orderkey[later]}));
      s.m_q03.prefetch_write(e.arena, {all_orderkey[later], all_orderdate[later], all_shippriority[later]});
      s.m_V_Customer_Orders_at_o_orderdate.prefetch_write(e.arena, {all_orderkey[later], all_orderdate[later], all_shippriority[later]});
      s.m_V_Orders_at_o_orderstatus.prefetch_write(e.arena, {all_orderkey[later], all_orderdate[later], all_shippriority[later], all_custkey[later]});
    };
    for (i64 n = 0; chosen >= 4 && n < 8 && n < chosen; n++) fetch_row(from + rows[n]);
    for (i64 j = 0; j < chosen; j++) {
      const i64 i_1 = from + rows[j];
      const i64 orderkey_1 = all_orderkey[i_1];
      const i64 custkey_1 = all_custkey[i_1];
      const i32 orderdate_1 = all_orderdate[i_1];
      const i64 shippriority_1 = all_shippriority[i_1];
      if (const i64 next = j + 8; next < chosen) fetch_row(from + rows[next]);
      const i64 sign_2 = b.count[i_1];
      // q03[d_orderkey, d_orderdate, d_shippriority] +=
      //   {d_orderdate < date '1995-03-15'} * V_Customer_at_c_name[d_custkey] *
      //   V_Lineitem_at_l_partkey[d_orderkey];
      // V_Customer_Orders_at_o_orderdate[d_orderkey, d_orderdate, d_shippriority] +=
      //   {d_orderdate < date '1995-03-15'} * V_Customer_at_c_name[d_custkey];
      // V_Orders_at_o_orderstatus[d_orderkey, d_orderdate, d_shippriority, d_custkey] +=
      //   {d_orderdate < date '1995-03-15'};
      // q03_2[d_orderkey, d_orderdate, d_shippriority] +=
      //   {d_orderdate < date '1995-03-15'} * V_Customer_at_c_name[d_custkey] *
      //   V_Lineitem_at_l_partkey_2[d_orderkey];
      {
        if (const auto* V_Customer_at_c_name_3 = s.m_V_Customer_at_c_name.find(e.arena, Rec_m_V_Customer_at_c_name::Key{custkey_1})) {
          FR_VISIT(1);
          if (const auto* V_Lineitem_at_l_partkey_4 = s.m_V_Lineitem_at_l_partkey.find(e.arena, Rec_m_V_Lineitem_at_l_partkey::Key{orderkey_1})) {
            FR_VISIT(1);
            if (__builtin_expect(e.collecting >> 0 & 1, 0)) touch<i64, i32, i64>(e, 0, orderkey_1, orderdate_1, shippriority_1);
            {
              auto* into_8 = s.m_q03.at(e.arena, {orderkey_1, orderdate_1, shippriority_1});
              FR_WRITE;
              into_8->sum = known(o, add<i64>(o, into_8->sum, mul<i64>(o, mul<i64>(o, sign_2, V_Customer_at_c_name_3->sum), V_Lineitem_at_l_partkey_4->sum)));
              into_8->sum_2 = known(o, add<i64>(o, into_8->sum_2, mul<i64>(o, mul<i64>(o, sign_2, V_Customer_at_c_name_3->sum), V_Lineitem_at_l_partkey_4->sum_2)));
              if (into_8->empty()) s.m_q03.drop(e.arena, into_8);
            }
          }
          {
            auto* into_9 = s.m_V_Customer_Orders_at_o_orderdate.at(e.arena, {orderkey_1, orderdate_1, shippriority_1});
            FR_WRITE;
            into_9->sum = known(o, add<i64>(o, into_9->sum, mul<i64>(o, sign_2, V_Customer_at_c_name_3->sum)));
            if (into_9->empty()) s.m_V_Customer_Orders_at_o_orderdate.drop(e.arena, into_9);
          }
        }
        {
          auto* into_10 = s.m_V_Orders_at_o_orderstatus.at(e.arena, {orderkey_1, orderdate_1, shippriority_1, custkey_1});
          FR_WRITE;
          into_10->sum = known(o, add<i64>(o, into_10->sum, sign_2));
          if (into_10->empty()) s.m_V_Orders_at_o_orderstatus.drop(e.arena, into_10);
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
  const Texts all_mktsegment(b, 6);
  for (i64 from = 0; from < b.size; from += 1024) {
    const i64 end = b.size - from < 1024 ? b.size : from + 1024;
    u8 marks[1024 + SPARE];
    mark_sizes<true>(marks, end - from, all_mktsegment + from, 8);
    for (i64 i_1 = from; i_1 < end; i_1++) {
      if (!marks[i_1 - from]) continue;
      const Str mktsegment_1 = all_mktsegment[i_1];
      marks[i_1 - from] = text_same(mktsegment_1, Str{"BUILDING", 8});
    }
    u32 rows[1024 + SPARE];
    const i64 chosen = number_rows(marks, end - from, rows);
    const auto fetch_row = [&](const i64 later) __attribute__((always_inline)) {
      s.m_V_Orders_at_o_orderstatus.template prefetch_slice<0>(e.arena, Head0_m_V_Orders_at_o_orderstatus::hash(Head0_m_V_Orders_at_o_orderstatus::Key{all_custkey[later]}));
      s.m_V_Customer_at_c_name.prefetch_write(e.arena, {all_custkey[later]});
    };
    for (i64 n = 0; chosen >= 4 && n < 8 && n < chosen; n++) fetch_row(from + rows[n]);
    for (i64 j = 0; j < chosen; j++) {
      const i64 i_1 = from + rows[j];
      const i64 custkey_1 = all_custkey[i_1];
      if (const i64 next = j + 8; next < chosen) fetch_row(from + rows[next]);
      const i64 sign_2 = b.count[i_1];
      // q03[o_orderkey, o_orderdate, o_shippriority] +=
      //   {d_mktsegment = 'BUILDING'} *
      //   V_Orders_at_o_orderstatus[o_orderkey, o_orderdate, o_shippriority, d_custkey] *
      //   V_Lineitem_at_l_partkey[o_orderkey];
      // V_Customer_Orders_at_o_orderdate[o_orderkey, o_orderdate, o_shippriority] +=
      //   {d_mktsegment = 'BUILDING'} *
      //   V_Orders_at_o_orderstatus[o_orderkey, o_orderdate, o_shippriority, d_custkey];
      // V_Customer_at_c_name[d_custkey] += {d_mktsegment = 'BUILDING'};
      // q03_2[o_orderkey, o_orderdate, o_shippriority] +=
      //   {d_mktsegment = 'BUILDING'} *
      //   V_Orders_at_o_orderstatus[o_orderkey, o_orderdate, o_shippriority, d_custkey] *
      //   V_Lineitem_at_l_partkey_2[o_orderkey];
      {
        s.m_V_Orders_at_o_orderstatus.template slice<0>(e.arena, Head0_m_V_Orders_at_o_orderstatus::Key{custkey_1}, [&](const Rec_m_V_Orders_at_o_orderstatus& V_Orders_at_o_orderstatus_3) {
          FR_VISIT(1);
          if (const auto* V_Lineitem_at_l_partkey_4 = s.m_V_Lineitem_at_l_partkey.find(e.arena, Rec_m_V_Lineitem_at_l_partkey::Key{V_Orders_at_o_orderstatus_3.o_orderkey_})) {
            FR_VISIT(1);
            if (__builtin_expect(e.collecting >> 0 & 1, 0)) touch<i64, i32, i64>(e, 0, V_Orders_at_o_orderstatus_3.o_orderkey_, V_Orders_at_o_orderstatus_3.o_orderdate_, V_Orders_at_o_orderstatus_3.o_shippriority_);
            {
              auto* into_8 = s.m_q03.at(e.arena, {V_Orders_at_o_orderstatus_3.o_orderkey_, V_Orders_at_o_orderstatus_3.o_orderdate_, V_Orders_at_o_orderstatus_3.o_shippriority_});
              FR_WRITE;
              into_8->sum = known(o, add<i64>(o, into_8->sum, mul<i64>(o, mul<i64>(o, sign_2, V_Orders_at_o_orderstatus_3.sum), V_Lineitem_at_l_partkey_4->sum)));
              into_8->sum_2 = known(o, add<i64>(o, into_8->sum_2, mul<i64>(o, mul<i64>(o, sign_2, V_Orders_at_o_orderstatus_3.sum), V_Lineitem_at_l_partkey_4->sum_2)));
              if (into_8->empty()) s.m_q03.drop(e.arena, into_8);
            }
          }
          {
            auto* into_9 = s.m_V_Customer_Orders_at_o_orderdate.at(e.arena, {V_Orders_at_o_orderstatus_3.o_orderkey_, V_Orders_at_o_orderstatus_3.o_orderdate_, V_Orders_at_o_orderstatus_3.o_shippriority_});
            FR_WRITE;
            into_9->sum = known(o, add<i64>(o, into_9->sum, mul<i64>(o, sign_2, V_Orders_at_o_orderstatus_3.sum)));
            if (into_9->empty()) s.m_V_Customer_Orders_at_o_orderdate.drop(e.arena, into_9);
          }
        });
        {
          auto* into_10 = s.m_V_Customer_at_c_name.at(e.arena, {custkey_1});
          FR_WRITE;
          into_10->sum = known(o, add<i64>(o, into_10->sum, sign_2));
          if (into_10->empty()) s.m_V_Customer_at_c_name.drop(e.arena, into_10);
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
  if (const auto* q03_1 = s.m_q03.find(e.arena, Rec_m_q03::Key{orderkey_key, orderdate_key, shippriority_key})) {
    FR_VISIT(1);
    if (q03_1->sum != 0) {
      i64 total_2{};
      {
        if (const auto* q03_a1 = s.m_q03.find(e.arena, Rec_m_q03::Key{orderkey_key, orderdate_key, shippriority_key})) {
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
    static_cast<i64*>(out.column[0])[at] = r.o_orderkey_;
    static_cast<i32*>(out.column[1])[at] = r.o_orderdate_;
    static_cast<i64*>(out.column[2])[at] = r.o_shippriority_;
    static_cast<i64*>(out.column[3])[at] = r.sum;
  });
  e.overflow |= o;
}
static u64 size_q03(Env& e) {
  State& s = *e.state;
  return s.m_q03.size();
}

__attribute__((cold)) static void dump_V_Customer_Orders_at_o_orderdate(Env& e, Output& out) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  s.m_V_Customer_Orders_at_o_orderdate.each(e.arena, [&](const Rec_m_V_Customer_Orders_at_o_orderdate& r) {
    if (r.sum == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<i64*>(out.column[0])[at] = r.o_orderkey_;
    static_cast<i32*>(out.column[1])[at] = r.o_orderdate_;
    static_cast<i64*>(out.column[2])[at] = r.o_shippriority_;
    static_cast<i64*>(out.column[3])[at] = r.sum;
  });
  e.overflow |= o;
}
static u64 size_V_Customer_Orders_at_o_orderdate(Env& e) {
  State& s = *e.state;
  return s.m_V_Customer_Orders_at_o_orderdate.size();
}

__attribute__((cold)) static void dump_V_Customer_at_c_name(Env& e, Output& out) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  s.m_V_Customer_at_c_name.each(e.arena, [&](const Rec_m_V_Customer_at_c_name& r) {
    if (r.sum == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<i64*>(out.column[0])[at] = r.c_custkey_;
    static_cast<i64*>(out.column[1])[at] = r.sum;
  });
  e.overflow |= o;
}
static u64 size_V_Customer_at_c_name(Env& e) {
  State& s = *e.state;
  return s.m_V_Customer_at_c_name.size();
}

__attribute__((cold)) static void dump_V_Orders_at_o_orderstatus(Env& e, Output& out) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  s.m_V_Orders_at_o_orderstatus.each(e.arena, [&](const Rec_m_V_Orders_at_o_orderstatus& r) {
    if (r.sum == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<i64*>(out.column[0])[at] = r.o_orderkey_;
    static_cast<i32*>(out.column[1])[at] = r.o_orderdate_;
    static_cast<i64*>(out.column[2])[at] = r.o_shippriority_;
    static_cast<i64*>(out.column[3])[at] = r.c_custkey_;
    static_cast<i64*>(out.column[4])[at] = r.sum;
  });
  e.overflow |= o;
}
static u64 size_V_Orders_at_o_orderstatus(Env& e) {
  State& s = *e.state;
  return s.m_V_Orders_at_o_orderstatus.size();
}

__attribute__((cold)) static void dump_V_Lineitem_at_l_partkey(Env& e, Output& out) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  s.m_V_Lineitem_at_l_partkey.each(e.arena, [&](const Rec_m_V_Lineitem_at_l_partkey& r) {
    if (r.sum == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<i64*>(out.column[0])[at] = r.o_orderkey_;
    static_cast<i64*>(out.column[1])[at] = r.sum;
  });
  e.overflow |= o;
}
static u64 size_V_Lineitem_at_l_partkey(Env& e) {
  State& s = *e.state;
  return s.m_V_Lineitem_at_l_partkey.size();
}

__attribute__((cold)) static void dump_q03_2(Env& e, Output& out) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  s.m_q03.each(e.arena, [&](const Rec_m_q03& r) {
    if (r.sum_2 == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<i64*>(out.column[0])[at] = r.o_orderkey_;
    static_cast<i32*>(out.column[1])[at] = r.o_orderdate_;
    static_cast<i64*>(out.column[2])[at] = r.o_shippriority_;
    static_cast<i64*>(out.column[3])[at] = r.sum_2;
  });
  e.overflow |= o;
}
static u64 size_q03_2(Env& e) {
  State& s = *e.state;
  return s.m_q03.size();
}

__attribute__((cold)) static void dump_V_Lineitem_at_l_partkey_2(Env& e, Output& out) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  s.m_V_Lineitem_at_l_partkey.each(e.arena, [&](const Rec_m_V_Lineitem_at_l_partkey& r) {
    if (r.sum_2 == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<i64*>(out.column[0])[at] = r.o_orderkey_;
    static_cast<i64*>(out.column[1])[at] = r.sum_2;
  });
  e.overflow |= o;
}
static u64 size_V_Lineitem_at_l_partkey_2(Env& e) {
  State& s = *e.state;
  return s.m_V_Lineitem_at_l_partkey.size();
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
  {"returnflag", Text, 0, false, false, true},
  {"linestatus", Text, 0, false, false, true},
  {"shipdate", Date, 0, false, true},
  {"commitdate", Date, 0, false, false},
  {"receiptdate", Date, 0, false, false},
  {"shipinstruct", Text, 0, false, false, true},
  {"shipmode", Text, 0, false, false, true},
  {"comment", Text, 0, false, false, true},
};

static const Column in_Orders[] = {
  {"orderkey", Int, 0, false, true},
  {"custkey", Int, 0, false, true},
  {"orderstatus", Text, 0, false, false, true},
  {"totalprice", Decimal64, 2, false, false},
  {"orderdate", Date, 0, false, true},
  {"orderpriority", Text, 0, false, false, true},
  {"clerk", Text, 0, false, false, true},
  {"shippriority", Int, 0, false, true},
  {"comment", Text, 0, false, false, true},
};

static const Column in_Customer[] = {
  {"custkey", Int, 0, false, true},
  {"name", Text, 0, false, false, true},
  {"address", Text, 0, false, false, true},
  {"nationkey", Int, 0, false, false},
  {"phone", Text, 0, false, false, true},
  {"acctbal", Decimal64, 2, false, false},
  {"mktsegment", Text, 0, false, true, true},
  {"comment", Text, 0, false, false, true},
};

static const Column out_q03[] = {
  {"orderkey", Int, 0, false, true},
  {"orderdate", Date, 0, false, true},
  {"shippriority", Int, 0, false, true},
  {"query3", Decimal64, 4, false, true},
};

static const Column map_q03[] = {
  {"o_orderkey", Int, 0, false, true},
  {"o_orderdate", Date, 0, false, true},
  {"o_shippriority", Int, 0, false, true},
  {"", Int, 0, false, true},
};

static const Column map_V_Customer_Orders_at_o_orderdate[] = {
  {"o_orderkey", Int, 0, false, true},
  {"o_orderdate", Date, 0, false, true},
  {"o_shippriority", Int, 0, false, true},
  {"", Int, 0, false, true},
};

static const Column map_V_Customer_at_c_name[] = {
  {"c_custkey", Int, 0, false, true},
  {"", Int, 0, false, true},
};

static const Column map_V_Orders_at_o_orderstatus[] = {
  {"o_orderkey", Int, 0, false, true},
  {"o_orderdate", Date, 0, false, true},
  {"o_shippriority", Int, 0, false, true},
  {"c_custkey", Int, 0, false, true},
  {"", Int, 0, false, true},
};

static const Column map_V_Lineitem_at_l_partkey[] = {
  {"o_orderkey", Int, 0, false, true},
  {"", Int, 0, false, true},
};

static const Column map_q03_2[] = {
  {"o_orderkey", Int, 0, false, true},
  {"o_orderdate", Date, 0, false, true},
  {"o_shippriority", Int, 0, false, true},
  {"", Decimal64, 4, false, true},
};

static const Column map_V_Lineitem_at_l_partkey_2[] = {
  {"o_orderkey", Int, 0, false, true},
  {"", Decimal64, 4, false, true},
};

static const Relation all_relations[] = {
  {"Lineitem", 16, in_Lineitem, false, on_Lineitem},
  {"Orders", 9, in_Orders, false, on_Orders},
  {"Customer", 8, in_Customer, false, on_Customer},
};

static const Query all_queries[] = {
  {"q03", 4, out_q03, read_q03, key_q03, find_q03, true},
};

static const Map all_maps[] = {
  {"q03", 4, map_q03, dump_q03, size_q03},
  {"V_Customer_Orders_at_o_orderdate", 4, map_V_Customer_Orders_at_o_orderdate, dump_V_Customer_Orders_at_o_orderdate, size_V_Customer_Orders_at_o_orderdate},
  {"V_Customer_at_c_name", 2, map_V_Customer_at_c_name, dump_V_Customer_at_c_name, size_V_Customer_at_c_name},
  {"V_Orders_at_o_orderstatus", 5, map_V_Orders_at_o_orderstatus, dump_V_Orders_at_o_orderstatus, size_V_Orders_at_o_orderstatus},
  {"V_Lineitem_at_l_partkey", 2, map_V_Lineitem_at_l_partkey, dump_V_Lineitem_at_l_partkey, size_V_Lineitem_at_l_partkey},
  {"q03_2", 4, map_q03_2, dump_q03_2, size_q03_2},
  {"V_Lineitem_at_l_partkey_2", 2, map_V_Lineitem_at_l_partkey_2, dump_V_Lineitem_at_l_partkey_2, size_V_Lineitem_at_l_partkey_2},
};

static void create(Env& e) {
  State& s = *e.state;
  s.strings.init(e.arena);
  s.m_q03.init(e.arena);
  s.m_V_Customer_Orders_at_o_orderdate.init(e.arena);
  s.m_V_Customer_at_c_name.init(e.arena);
  s.m_V_Orders_at_o_orderstatus.init(e.arena);
  s.m_V_Lineitem_at_l_partkey.init(e.arena);
}
static Strings& strings_of(State& s) { return s.strings; }
static const char* const all_slots[] = {nullptr};
static Watch watch_of(State&) { return {}; }
static f64* gone_of(State&) { return nullptr; }
const Kernel kernel = {3, 1, 7, all_relations, all_queries, all_maps, sizeof(State), strings_of, create, ready, 0, all_slots, watch_of, gone_of};

}  // namespace fr

#include "boundary.hpp"
