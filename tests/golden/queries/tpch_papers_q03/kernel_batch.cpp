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

struct Rec_m_Orders_base {
  struct Key { i64 c_custkey_; Sym o_clerk_; Sym o_comment_; i32 o_orderdate_; i64 o_orderkey_; Sym o_orderpriority_; Sym o_orderstatus_; i64 o_shippriority_; i64 o_totalprice_; };
  i64 c_custkey_; Sym o_clerk_; Sym o_comment_; i64 o_orderkey_; Sym o_orderpriority_; Sym o_orderstatus_; i64 o_shippriority_; i64 o_totalprice_; i64 sum; i32 o_orderdate_; u32 link[4];
  static u64 hash(const Key& k) { return mix(mix(mix(mix(mix(mix(mix(mix(mix(word(k.c_custkey_), 0), word(k.o_clerk_)), word(k.o_comment_)), word(k.o_orderdate_)), word(k.o_orderkey_)), word(k.o_orderpriority_)), word(k.o_orderstatus_)), word(k.o_shippriority_)), word(k.o_totalprice_)); }
  bool is(const Key& k) const { return same(c_custkey_, k.c_custkey_) && same(o_clerk_, k.o_clerk_) && same(o_comment_, k.o_comment_) && same(o_orderdate_, k.o_orderdate_) && same(o_orderkey_, k.o_orderkey_) && same(o_orderpriority_, k.o_orderpriority_) && same(o_orderstatus_, k.o_orderstatus_) && same(o_shippriority_, k.o_shippriority_) && same(o_totalprice_, k.o_totalprice_); }
  u64 hash() const { return hash(Key{c_custkey_, o_clerk_, o_comment_, o_orderdate_, o_orderkey_, o_orderpriority_, o_orderstatus_, o_shippriority_, o_totalprice_}); }
  void set(const Key& k) { c_custkey_ = k.c_custkey_; o_clerk_ = k.o_clerk_; o_comment_ = k.o_comment_; o_orderdate_ = k.o_orderdate_; o_orderkey_ = k.o_orderkey_; o_orderpriority_ = k.o_orderpriority_; o_orderstatus_ = k.o_orderstatus_; o_shippriority_ = k.o_shippriority_; o_totalprice_ = k.o_totalprice_; }
  bool empty() const { return sum == 0; }
};
struct Head0_m_Orders_base {
  struct Key { i64 o_orderkey_; };
  i64 o_orderkey_; u32 first; u32 count;
  template <class R> static Key of(const R& r) { return Key{r.o_orderkey_}; }
  static u64 hash(const Key& k) { return mix(word(k.o_orderkey_), 0); }
  bool is(const Key& k) const { return same(o_orderkey_, k.o_orderkey_); }
  u64 hash() const { return hash(Key{o_orderkey_}); }
  void set(const Key& k) { o_orderkey_ = k.o_orderkey_; }
  bool empty() const { return first == 0; }
};
struct Head1_m_Orders_base {
  struct Key { i64 c_custkey_; };
  i64 c_custkey_; u32 first; u32 count;
  template <class R> static Key of(const R& r) { return Key{r.c_custkey_}; }
  static u64 hash(const Key& k) { return mix(word(k.c_custkey_), 0); }
  bool is(const Key& k) const { return same(c_custkey_, k.c_custkey_); }
  u64 hash() const { return hash(Key{c_custkey_}); }
  void set(const Key& k) { c_custkey_ = k.c_custkey_; }
  bool empty() const { return first == 0; }
};

struct Rec_m_Lineitem_base {
  struct Key { Sym l_comment_; i32 l_commitdate_; i64 l_discount_; i64 l_extendedprice_; i64 l_linenumber_; Sym l_linestatus_; i64 l_partkey_; i64 l_quantity_; i32 l_receiptdate_; Sym l_returnflag_; i32 l_shipdate_; Sym l_shipinstruct_; Sym l_shipmode_; i64 l_suppkey_; i64 l_tax_; i64 o_orderkey_; };
  Sym l_comment_; i64 l_discount_; i64 l_extendedprice_; i64 l_linenumber_; Sym l_linestatus_; i64 l_partkey_; i64 l_quantity_; Sym l_returnflag_; Sym l_shipinstruct_; Sym l_shipmode_; i64 l_suppkey_; i64 l_tax_; i64 o_orderkey_; i64 sum; i32 l_commitdate_; i32 l_receiptdate_; i32 l_shipdate_; u32 link[2];
  static u64 hash(const Key& k) { return mix(mix(mix(mix(mix(mix(mix(mix(mix(mix(mix(mix(mix(mix(mix(mix(word(k.l_comment_), 0), word(k.l_commitdate_)), word(k.l_discount_)), word(k.l_extendedprice_)), word(k.l_linenumber_)), word(k.l_linestatus_)), word(k.l_partkey_)), word(k.l_quantity_)), word(k.l_receiptdate_)), word(k.l_returnflag_)), word(k.l_shipdate_)), word(k.l_shipinstruct_)), word(k.l_shipmode_)), word(k.l_suppkey_)), word(k.l_tax_)), word(k.o_orderkey_)); }
  bool is(const Key& k) const { return same(l_comment_, k.l_comment_) && same(l_commitdate_, k.l_commitdate_) && same(l_discount_, k.l_discount_) && same(l_extendedprice_, k.l_extendedprice_) && same(l_linenumber_, k.l_linenumber_) && same(l_linestatus_, k.l_linestatus_) && same(l_partkey_, k.l_partkey_) && same(l_quantity_, k.l_quantity_) && same(l_receiptdate_, k.l_receiptdate_) && same(l_returnflag_, k.l_returnflag_) && same(l_shipdate_, k.l_shipdate_) && same(l_shipinstruct_, k.l_shipinstruct_) && same(l_shipmode_, k.l_shipmode_) && same(l_suppkey_, k.l_suppkey_) && same(l_tax_, k.l_tax_) && same(o_orderkey_, k.o_orderkey_); }
  u64 hash() const { return hash(Key{l_comment_, l_commitdate_, l_discount_, l_extendedprice_, l_linenumber_, l_linestatus_, l_partkey_, l_quantity_, l_receiptdate_, l_returnflag_, l_shipdate_, l_shipinstruct_, l_shipmode_, l_suppkey_, l_tax_, o_orderkey_}); }
  void set(const Key& k) { l_comment_ = k.l_comment_; l_commitdate_ = k.l_commitdate_; l_discount_ = k.l_discount_; l_extendedprice_ = k.l_extendedprice_; l_linenumber_ = k.l_linenumber_; l_linestatus_ = k.l_linestatus_; l_partkey_ = k.l_partkey_; l_quantity_ = k.l_quantity_; l_receiptdate_ = k.l_receiptdate_; l_returnflag_ = k.l_returnflag_; l_shipdate_ = k.l_shipdate_; l_shipinstruct_ = k.l_shipinstruct_; l_shipmode_ = k.l_shipmode_; l_suppkey_ = k.l_suppkey_; l_tax_ = k.l_tax_; o_orderkey_ = k.o_orderkey_; }
  bool empty() const { return sum == 0; }
};
struct Head0_m_Lineitem_base {
  struct Key { i64 o_orderkey_; };
  i64 o_orderkey_; u32 first; u32 count;
  template <class R> static Key of(const R& r) { return Key{r.o_orderkey_}; }
  static u64 hash(const Key& k) { return mix(word(k.o_orderkey_), 0); }
  bool is(const Key& k) const { return same(o_orderkey_, k.o_orderkey_); }
  u64 hash() const { return hash(Key{o_orderkey_}); }
  void set(const Key& k) { o_orderkey_ = k.o_orderkey_; }
  bool empty() const { return first == 0; }
};

struct Rec_m_Customer_base {
  struct Key { i64 c_acctbal_; Sym c_address_; Sym c_comment_; i64 c_custkey_; Sym c_mktsegment_; Sym c_name_; i64 c_nationkey_; Sym c_phone_; };
  i64 c_acctbal_; Sym c_address_; Sym c_comment_; i64 c_custkey_; Sym c_mktsegment_; Sym c_name_; i64 c_nationkey_; Sym c_phone_; i64 sum; u32 link[2];
  static u64 hash(const Key& k) { return mix(mix(mix(mix(mix(mix(mix(mix(word(k.c_acctbal_), 0), word(k.c_address_)), word(k.c_comment_)), word(k.c_custkey_)), word(k.c_mktsegment_)), word(k.c_name_)), word(k.c_nationkey_)), word(k.c_phone_)); }
  bool is(const Key& k) const { return same(c_acctbal_, k.c_acctbal_) && same(c_address_, k.c_address_) && same(c_comment_, k.c_comment_) && same(c_custkey_, k.c_custkey_) && same(c_mktsegment_, k.c_mktsegment_) && same(c_name_, k.c_name_) && same(c_nationkey_, k.c_nationkey_) && same(c_phone_, k.c_phone_); }
  u64 hash() const { return hash(Key{c_acctbal_, c_address_, c_comment_, c_custkey_, c_mktsegment_, c_name_, c_nationkey_, c_phone_}); }
  void set(const Key& k) { c_acctbal_ = k.c_acctbal_; c_address_ = k.c_address_; c_comment_ = k.c_comment_; c_custkey_ = k.c_custkey_; c_mktsegment_ = k.c_mktsegment_; c_name_ = k.c_name_; c_nationkey_ = k.c_nationkey_; c_phone_ = k.c_phone_; }
  bool empty() const { return sum == 0; }
};
struct Head0_m_Customer_base {
  struct Key { i64 c_custkey_; };
  i64 c_custkey_; u32 first; u32 count;
  template <class R> static Key of(const R& r) { return Key{r.c_custkey_}; }
  static u64 hash(const Key& k) { return mix(word(k.c_custkey_), 0); }
  bool is(const Key& k) const { return same(c_custkey_, k.c_custkey_); }
  u64 hash() const { return hash(Key{c_custkey_}); }
  void set(const Key& k) { c_custkey_ = k.c_custkey_; }
  bool empty() const { return first == 0; }
};





struct State {
  Strings strings;
  bool stale, late;
  Flat<Rec_m_q03> m_q03;
  Pool<Rec_m_Orders_base, Head0_m_Orders_base, Head1_m_Orders_base> m_Orders_base;
  Pool<Rec_m_Lineitem_base, Head0_m_Lineitem_base> m_Lineitem_base;
  Pool<Rec_m_Customer_base, Head0_m_Customer_base> m_Customer_base;
};

}  // namespace fr

#include "support.hpp"

namespace fr {





static void on_Lineitem(Env& e, const Batch& b) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  (void)b;
  const i64* all_orderkey = static_cast<const i64*>(b.column[0]);
  const i64* all_partkey = static_cast<const i64*>(b.column[1]);
  const i64* all_suppkey = static_cast<const i64*>(b.column[2]);
  const i64* all_linenumber = static_cast<const i64*>(b.column[3]);
  const i64* all_quantity = static_cast<const i64*>(b.column[4]);
  const i64* all_extendedprice = static_cast<const i64*>(b.column[5]);
  const i64* all_discount = static_cast<const i64*>(b.column[6]);
  const i64* all_tax = static_cast<const i64*>(b.column[7]);
  const Texts all_returnflag(b, 8);
  const Texts all_linestatus(b, 9);
  const i32* all_shipdate = static_cast<const i32*>(b.column[10]);
  const i32* all_commitdate = static_cast<const i32*>(b.column[11]);
  const i32* all_receiptdate = static_cast<const i32*>(b.column[12]);
  const Texts all_shipinstruct(b, 13);
  const Texts all_shipmode(b, 14);
  const Texts all_comment(b, 15);
  // q03[o_orderdate, o_orderkey, o_shippriority] += Sum[o_orderkey](
  //     (DELTA Lineitem)(o_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment) *
  //     {l_shipdate > date '1995-03-15'}) *
  //   Sum[o_orderdate, o_orderkey, o_shippriority](
  //     Orders_base[c_custkey, o_clerk, o_comment, o_orderdate, o_orderkey, o_orderpriority, o_orderstatus, o_shippriority, o_totalprice] *
  //     {o_orderdate < date '1995-03-15'} *
  //     Customer_base[c_acctbal, c_address, c_comment, c_custkey, c_mktsegment, c_name, c_nationkey, c_phone] *
  //     {c_mktsegment = 'BUILDING'});
  // q03_2[o_orderdate, o_orderkey, o_shippriority] += Sum[o_orderkey](
  //     (DELTA Lineitem)(o_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment) *
  //     {l_shipdate > date '1995-03-15'} * l_extendedprice * (1 - l_discount)) *
  //   Sum[o_orderdate, o_orderkey, o_shippriority](
  //     Orders_base[c_custkey, o_clerk, o_comment, o_orderdate, o_orderkey, o_orderpriority, o_orderstatus, o_shippriority, o_totalprice] *
  //     {o_orderdate < date '1995-03-15'} *
  //     Customer_base[c_acctbal, c_address, c_comment, c_custkey, c_mktsegment, c_name, c_nationkey, c_phone] *
  //     {c_mktsegment = 'BUILDING'});
  // Lineitem_base[l_comment, l_commitdate, l_discount, l_extendedprice, l_linenumber, l_linestatus, l_partkey, l_quantity, l_receiptdate, l_returnflag, l_shipdate, l_shipinstruct, l_shipmode, l_suppkey, l_tax, o_orderkey] +=
  //   (DELTA Lineitem)(o_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment);
  {
    {
      const auto fetch_row = [&](const i64 later) __attribute__((always_inline)) {
        s.m_Orders_base.template prefetch_slice<0>(e.arena, Head0_m_Orders_base::hash(Head0_m_Orders_base::Key{all_orderkey[later]}));
      };
      for (i64 n = 0; b.size >= 4 && n < 8 && n < b.size; n++) fetch_row(n);
      for (i64 i_1 = 0; i_1 < b.size; i_1++) {
        const i64 orderkey_1 = all_orderkey[i_1];
        const i64 partkey_1 = all_partkey[i_1];
        const i64 suppkey_1 = all_suppkey[i_1];
        const i64 linenumber_1 = all_linenumber[i_1];
        const i64 quantity_1 = all_quantity[i_1];
        const i64 extendedprice_1 = all_extendedprice[i_1];
        const i64 discount_1 = all_discount[i_1];
        const i64 tax_1 = all_tax[i_1];
        const Str returnflag_1 = all_returnflag[i_1];
        const Str linestatus_1 = all_linestatus[i_1];
        const i32 shipdate_1 = all_shipdate[i_1];
        const i32 commitdate_1 = all_commitdate[i_1];
        const i32 receiptdate_1 = all_receiptdate[i_1];
        const Str shipinstruct_1 = all_shipinstruct[i_1];
        const Str shipmode_1 = all_shipmode[i_1];
        const Str comment_1 = all_comment[i_1];
        if (const i64 next = i_1 + 8; next < b.size) fetch_row(next);
        if ((shipdate_1 > i32(9204ll))) {
          s.m_Orders_base.template slice<0>(e.arena, Head0_m_Orders_base::Key{orderkey_1}, [&](const Rec_m_Orders_base& Orders_base_2) {
            FR_VISIT(1);
            if ((Orders_base_2.o_orderdate_ < i32(9204ll))) {
              s.m_Customer_base.template slice<0>(e.arena, Head0_m_Customer_base::Key{Orders_base_2.c_custkey_}, [&](const Rec_m_Customer_base& Customer_base_3) {
                FR_VISIT(1);
                if (text_same(text(e, Customer_base_3.c_mktsegment_), Str{"BUILDING", 8})) {
                  if (__builtin_expect(e.collecting >> 0 & 1, 0)) touch<i64, i32, i64>(e, 0, orderkey_1, Orders_base_2.o_orderdate_, Orders_base_2.o_shippriority_);
                  {
                    auto* into_8 = s.m_q03.at(e.arena, {Orders_base_2.o_orderdate_, orderkey_1, Orders_base_2.o_shippriority_});
                    FR_WRITE;
                    into_8->sum = known(o, add<i64>(o, into_8->sum, mul<i64>(o, mul<i64>(o, b.count[i_1], Orders_base_2.sum), Customer_base_3.sum)));
                    into_8->sum_2 = known(o, add<i64>(o, into_8->sum_2, mul<i64>(o, mul<i64>(o, mul<i64>(o, mul<i64>(o, b.count[i_1], extendedprice_1), add<i64>(o, scaled<i64>(o, i64(1ll), i64(100ll)), mul<i64>(o, i64(-1ll), discount_1))), Orders_base_2.sum), Customer_base_3.sum)));
                    if (into_8->empty()) s.m_q03.drop(e.arena, into_8);
                  }
                }
              });
            }
          });
        }
        const Sym text_10 = put_text(e, comment_1);
        const Sym text_11 = put_text(e, linestatus_1);
        const Sym text_12 = put_text(e, returnflag_1);
        const Sym text_13 = put_text(e, shipinstruct_1);
        const Sym text_14 = put_text(e, shipmode_1);
        {
          auto* into_15 = s.m_Lineitem_base.at(e.arena, {text_10, commitdate_1, discount_1, extendedprice_1, linenumber_1, text_11, partkey_1, quantity_1, receiptdate_1, text_12, shipdate_1, text_13, text_14, suppkey_1, tax_1, orderkey_1});
          FR_WRITE;
          into_15->sum = known(o, add<i64>(o, into_15->sum, b.count[i_1]));
          if (into_15->empty()) s.m_Lineitem_base.drop(e.arena, into_15);
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
  const Texts all_orderstatus(b, 2);
  const i64* all_totalprice = static_cast<const i64*>(b.column[3]);
  const i32* all_orderdate = static_cast<const i32*>(b.column[4]);
  const Texts all_orderpriority(b, 5);
  const Texts all_clerk(b, 6);
  const i64* all_shippriority = static_cast<const i64*>(b.column[7]);
  const Texts all_comment(b, 8);
  // q03[o_orderdate, o_orderkey, o_shippriority] += Sum[o_orderdate, o_orderkey, o_shippriority](
  //     (DELTA Orders)(o_orderkey, c_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment) *
  //     {o_orderdate < date '1995-03-15'} *
  //     Customer_base[c_acctbal, c_address, c_comment, c_custkey, c_mktsegment, c_name, c_nationkey, c_phone] *
  //     {c_mktsegment = 'BUILDING'}) *
  //   Sum[o_orderkey](
  //     Lineitem_base[l_comment, l_commitdate, l_discount, l_extendedprice, l_linenumber, l_linestatus, l_partkey, l_quantity, l_receiptdate, l_returnflag, l_shipdate, l_shipinstruct, l_shipmode, l_suppkey, l_tax, o_orderkey] *
  //     {l_shipdate > date '1995-03-15'});
  // q03_2[o_orderdate, o_orderkey, o_shippriority] += Sum[o_orderdate, o_orderkey, o_shippriority](
  //     (DELTA Orders)(o_orderkey, c_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment) *
  //     {o_orderdate < date '1995-03-15'} *
  //     Customer_base[c_acctbal, c_address, c_comment, c_custkey, c_mktsegment, c_name, c_nationkey, c_phone] *
  //     {c_mktsegment = 'BUILDING'}) *
  //   Sum[o_orderkey](
  //     Lineitem_base[l_comment, l_commitdate, l_discount, l_extendedprice, l_linenumber, l_linestatus, l_partkey, l_quantity, l_receiptdate, l_returnflag, l_shipdate, l_shipinstruct, l_shipmode, l_suppkey, l_tax, o_orderkey] *
  //     {l_shipdate > date '1995-03-15'} * l_extendedprice * (1 - l_discount));
  // Orders_base[c_custkey, o_clerk, o_comment, o_orderdate, o_orderkey, o_orderpriority, o_orderstatus, o_shippriority, o_totalprice] +=
  //   (DELTA Orders)(o_orderkey, c_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment);
  {
    {
      const auto fetch_row = [&](const i64 later) __attribute__((always_inline)) {
        s.m_Customer_base.template prefetch_slice<0>(e.arena, Head0_m_Customer_base::hash(Head0_m_Customer_base::Key{all_custkey[later]}));
        s.m_Lineitem_base.template prefetch_slice<0>(e.arena, Head0_m_Lineitem_base::hash(Head0_m_Lineitem_base::Key{all_orderkey[later]}));
        s.m_q03.prefetch_write(e.arena, {all_orderdate[later], all_orderkey[later], all_shippriority[later]});
      };
      for (i64 n = 0; b.size >= 4 && n < 8 && n < b.size; n++) fetch_row(n);
      for (i64 i_1 = 0; i_1 < b.size; i_1++) {
        const i64 orderkey_1 = all_orderkey[i_1];
        const i64 custkey_1 = all_custkey[i_1];
        const Str orderstatus_1 = all_orderstatus[i_1];
        const i64 totalprice_1 = all_totalprice[i_1];
        const i32 orderdate_1 = all_orderdate[i_1];
        const Str orderpriority_1 = all_orderpriority[i_1];
        const Str clerk_1 = all_clerk[i_1];
        const i64 shippriority_1 = all_shippriority[i_1];
        const Str comment_1 = all_comment[i_1];
        if (const i64 next = i_1 + 8; next < b.size) fetch_row(next);
        if ((orderdate_1 < i32(9204ll))) {
          s.m_Customer_base.template slice<0>(e.arena, Head0_m_Customer_base::Key{custkey_1}, [&](const Rec_m_Customer_base& Customer_base_2) {
            FR_VISIT(1);
            if (text_same(text(e, Customer_base_2.c_mktsegment_), Str{"BUILDING", 8})) {
              s.m_Lineitem_base.template slice<0>(e.arena, Head0_m_Lineitem_base::Key{orderkey_1}, [&](const Rec_m_Lineitem_base& Lineitem_base_3) {
                FR_VISIT(1);
                if ((Lineitem_base_3.l_shipdate_ > i32(9204ll))) {
                  if (__builtin_expect(e.collecting >> 0 & 1, 0)) touch<i64, i32, i64>(e, 0, orderkey_1, orderdate_1, shippriority_1);
                  {
                    auto* into_8 = s.m_q03.at(e.arena, {orderdate_1, orderkey_1, shippriority_1});
                    FR_WRITE;
                    into_8->sum = known(o, add<i64>(o, into_8->sum, mul<i64>(o, mul<i64>(o, b.count[i_1], Customer_base_2.sum), Lineitem_base_3.sum)));
                    into_8->sum_2 = known(o, add<i64>(o, into_8->sum_2, mul<i64>(o, mul<i64>(o, mul<i64>(o, mul<i64>(o, b.count[i_1], Customer_base_2.sum), Lineitem_base_3.sum), Lineitem_base_3.l_extendedprice_), add<i64>(o, scaled<i64>(o, i64(1ll), i64(100ll)), mul<i64>(o, i64(-1ll), Lineitem_base_3.l_discount_)))));
                    if (into_8->empty()) s.m_q03.drop(e.arena, into_8);
                  }
                }
              });
            }
          });
        }
        const Sym text_10 = put_text(e, clerk_1);
        const Sym text_11 = put_text(e, comment_1);
        const Sym text_12 = put_text(e, orderpriority_1);
        const Sym text_13 = put_text(e, orderstatus_1);
        {
          auto* into_14 = s.m_Orders_base.at(e.arena, {custkey_1, text_10, text_11, orderdate_1, orderkey_1, text_12, text_13, shippriority_1, totalprice_1});
          FR_WRITE;
          into_14->sum = known(o, add<i64>(o, into_14->sum, b.count[i_1]));
          if (into_14->empty()) s.m_Orders_base.drop(e.arena, into_14);
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
  const Texts all_name(b, 1);
  const Texts all_address(b, 2);
  const i64* all_nationkey = static_cast<const i64*>(b.column[3]);
  const Texts all_phone(b, 4);
  const i64* all_acctbal = static_cast<const i64*>(b.column[5]);
  const Texts all_mktsegment(b, 6);
  const Texts all_comment(b, 7);
  // q03[o_orderdate, o_orderkey, o_shippriority] += Sum[o_orderdate, o_orderkey, o_shippriority](
  //     (DELTA Customer)(c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment) *
  //     {c_mktsegment = 'BUILDING'} *
  //     Orders_base[c_custkey, o_clerk, o_comment, o_orderdate, o_orderkey, o_orderpriority, o_orderstatus, o_shippriority, o_totalprice] *
  //     {o_orderdate < date '1995-03-15'}) *
  //   Sum[o_orderkey](
  //     Lineitem_base[l_comment, l_commitdate, l_discount, l_extendedprice, l_linenumber, l_linestatus, l_partkey, l_quantity, l_receiptdate, l_returnflag, l_shipdate, l_shipinstruct, l_shipmode, l_suppkey, l_tax, o_orderkey] *
  //     {l_shipdate > date '1995-03-15'});
  // q03_2[o_orderdate, o_orderkey, o_shippriority] += Sum[o_orderdate, o_orderkey, o_shippriority](
  //     (DELTA Customer)(c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment) *
  //     {c_mktsegment = 'BUILDING'} *
  //     Orders_base[c_custkey, o_clerk, o_comment, o_orderdate, o_orderkey, o_orderpriority, o_orderstatus, o_shippriority, o_totalprice] *
  //     {o_orderdate < date '1995-03-15'}) *
  //   Sum[o_orderkey](
  //     Lineitem_base[l_comment, l_commitdate, l_discount, l_extendedprice, l_linenumber, l_linestatus, l_partkey, l_quantity, l_receiptdate, l_returnflag, l_shipdate, l_shipinstruct, l_shipmode, l_suppkey, l_tax, o_orderkey] *
  //     {l_shipdate > date '1995-03-15'} * l_extendedprice * (1 - l_discount));
  // Customer_base[c_acctbal, c_address, c_comment, c_custkey, c_mktsegment, c_name, c_nationkey, c_phone] +=
  //   (DELTA Customer)(c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment);
  {
    {
      const auto fetch_row = [&](const i64 later) __attribute__((always_inline)) {
        s.m_Orders_base.template prefetch_slice<1>(e.arena, Head1_m_Orders_base::hash(Head1_m_Orders_base::Key{all_custkey[later]}));
      };
      for (i64 n = 0; b.size >= 4 && n < 8 && n < b.size; n++) fetch_row(n);
      for (i64 i_1 = 0; i_1 < b.size; i_1++) {
        const i64 custkey_1 = all_custkey[i_1];
        const Str name_1 = all_name[i_1];
        const Str address_1 = all_address[i_1];
        const i64 nationkey_1 = all_nationkey[i_1];
        const Str phone_1 = all_phone[i_1];
        const i64 acctbal_1 = all_acctbal[i_1];
        const Str mktsegment_1 = all_mktsegment[i_1];
        const Str comment_1 = all_comment[i_1];
        if (const i64 next = i_1 + 8; next < b.size) fetch_row(next);
        if (text_same(mktsegment_1, Str{"BUILDING", 8})) {
          s.m_Orders_base.template slice<1>(e.arena, Head1_m_Orders_base::Key{custkey_1}, [&](const Rec_m_Orders_base& Orders_base_2) {
            FR_VISIT(1);
            if ((Orders_base_2.o_orderdate_ < i32(9204ll))) {
              s.m_Lineitem_base.template slice<0>(e.arena, Head0_m_Lineitem_base::Key{Orders_base_2.o_orderkey_}, [&](const Rec_m_Lineitem_base& Lineitem_base_3) {
                FR_VISIT(1);
                if ((Lineitem_base_3.l_shipdate_ > i32(9204ll))) {
                  if (__builtin_expect(e.collecting >> 0 & 1, 0)) touch<i64, i32, i64>(e, 0, Orders_base_2.o_orderkey_, Orders_base_2.o_orderdate_, Orders_base_2.o_shippriority_);
                  {
                    auto* into_8 = s.m_q03.at(e.arena, {Orders_base_2.o_orderdate_, Orders_base_2.o_orderkey_, Orders_base_2.o_shippriority_});
                    FR_WRITE;
                    into_8->sum = known(o, add<i64>(o, into_8->sum, mul<i64>(o, mul<i64>(o, b.count[i_1], Orders_base_2.sum), Lineitem_base_3.sum)));
                    into_8->sum_2 = known(o, add<i64>(o, into_8->sum_2, mul<i64>(o, mul<i64>(o, mul<i64>(o, mul<i64>(o, b.count[i_1], Orders_base_2.sum), Lineitem_base_3.sum), Lineitem_base_3.l_extendedprice_), add<i64>(o, scaled<i64>(o, i64(1ll), i64(100ll)), mul<i64>(o, i64(-1ll), Lineitem_base_3.l_discount_)))));
                    if (into_8->empty()) s.m_q03.drop(e.arena, into_8);
                  }
                }
              });
            }
          });
        }
        const Sym text_10 = put_text(e, address_1);
        const Sym text_11 = put_text(e, comment_1);
        const Sym text_12 = put_text(e, mktsegment_1);
        const Sym text_13 = put_text(e, name_1);
        const Sym text_14 = put_text(e, phone_1);
        {
          auto* into_15 = s.m_Customer_base.at(e.arena, {acctbal_1, text_10, text_11, custkey_1, text_12, text_13, nationkey_1, text_14});
          FR_WRITE;
          into_15->sum = known(o, add<i64>(o, into_15->sum, b.count[i_1]));
          if (into_15->empty()) s.m_Customer_base.drop(e.arena, into_15);
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

__attribute__((cold)) static void dump_Orders_base(Env& e, Output& out) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  s.m_Orders_base.each(e.arena, [&](const Rec_m_Orders_base& r) {
    if (r.sum == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<i64*>(out.column[0])[at] = r.c_custkey_;
    static_cast<Sym*>(out.column[1])[at] = r.o_clerk_;
    static_cast<Sym*>(out.column[2])[at] = r.o_comment_;
    static_cast<i32*>(out.column[3])[at] = r.o_orderdate_;
    static_cast<i64*>(out.column[4])[at] = r.o_orderkey_;
    static_cast<Sym*>(out.column[5])[at] = r.o_orderpriority_;
    static_cast<Sym*>(out.column[6])[at] = r.o_orderstatus_;
    static_cast<i64*>(out.column[7])[at] = r.o_shippriority_;
    static_cast<i64*>(out.column[8])[at] = r.o_totalprice_;
    static_cast<i64*>(out.column[9])[at] = r.sum;
  });
  e.overflow |= o;
}
static u64 size_Orders_base(Env& e) {
  State& s = *e.state;
  return s.m_Orders_base.size();
}

__attribute__((cold)) static void dump_Lineitem_base(Env& e, Output& out) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  s.m_Lineitem_base.each(e.arena, [&](const Rec_m_Lineitem_base& r) {
    if (r.sum == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<Sym*>(out.column[0])[at] = r.l_comment_;
    static_cast<i32*>(out.column[1])[at] = r.l_commitdate_;
    static_cast<i64*>(out.column[2])[at] = r.l_discount_;
    static_cast<i64*>(out.column[3])[at] = r.l_extendedprice_;
    static_cast<i64*>(out.column[4])[at] = r.l_linenumber_;
    static_cast<Sym*>(out.column[5])[at] = r.l_linestatus_;
    static_cast<i64*>(out.column[6])[at] = r.l_partkey_;
    static_cast<i64*>(out.column[7])[at] = r.l_quantity_;
    static_cast<i32*>(out.column[8])[at] = r.l_receiptdate_;
    static_cast<Sym*>(out.column[9])[at] = r.l_returnflag_;
    static_cast<i32*>(out.column[10])[at] = r.l_shipdate_;
    static_cast<Sym*>(out.column[11])[at] = r.l_shipinstruct_;
    static_cast<Sym*>(out.column[12])[at] = r.l_shipmode_;
    static_cast<i64*>(out.column[13])[at] = r.l_suppkey_;
    static_cast<i64*>(out.column[14])[at] = r.l_tax_;
    static_cast<i64*>(out.column[15])[at] = r.o_orderkey_;
    static_cast<i64*>(out.column[16])[at] = r.sum;
  });
  e.overflow |= o;
}
static u64 size_Lineitem_base(Env& e) {
  State& s = *e.state;
  return s.m_Lineitem_base.size();
}

__attribute__((cold)) static void dump_Customer_base(Env& e, Output& out) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  s.m_Customer_base.each(e.arena, [&](const Rec_m_Customer_base& r) {
    if (r.sum == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<i64*>(out.column[0])[at] = r.c_acctbal_;
    static_cast<Sym*>(out.column[1])[at] = r.c_address_;
    static_cast<Sym*>(out.column[2])[at] = r.c_comment_;
    static_cast<i64*>(out.column[3])[at] = r.c_custkey_;
    static_cast<Sym*>(out.column[4])[at] = r.c_mktsegment_;
    static_cast<Sym*>(out.column[5])[at] = r.c_name_;
    static_cast<i64*>(out.column[6])[at] = r.c_nationkey_;
    static_cast<Sym*>(out.column[7])[at] = r.c_phone_;
    static_cast<i64*>(out.column[8])[at] = r.sum;
  });
  e.overflow |= o;
}
static u64 size_Customer_base(Env& e) {
  State& s = *e.state;
  return s.m_Customer_base.size();
}

static const Column in_Lineitem[] = {
  {"orderkey", Int, 0, false, true},
  {"partkey", Int, 0, false, true},
  {"suppkey", Int, 0, false, true},
  {"linenumber", Int, 0, false, true},
  {"quantity", Decimal64, 2, false, true},
  {"extendedprice", Decimal64, 2, false, true},
  {"discount", Decimal64, 2, false, true},
  {"tax", Decimal64, 2, false, true},
  {"returnflag", Text, 0, false, true, true},
  {"linestatus", Text, 0, false, true, true},
  {"shipdate", Date, 0, false, true},
  {"commitdate", Date, 0, false, true},
  {"receiptdate", Date, 0, false, true},
  {"shipinstruct", Text, 0, false, true, true},
  {"shipmode", Text, 0, false, true, true},
  {"comment", Text, 0, false, true, true},
};

static const Column in_Orders[] = {
  {"orderkey", Int, 0, false, true},
  {"custkey", Int, 0, false, true},
  {"orderstatus", Text, 0, false, true, true},
  {"totalprice", Decimal64, 2, false, true},
  {"orderdate", Date, 0, false, true},
  {"orderpriority", Text, 0, false, true, true},
  {"clerk", Text, 0, false, true, true},
  {"shippriority", Int, 0, false, true},
  {"comment", Text, 0, false, true, true},
};

static const Column in_Customer[] = {
  {"custkey", Int, 0, false, true},
  {"name", Text, 0, false, true, true},
  {"address", Text, 0, false, true, true},
  {"nationkey", Int, 0, false, true},
  {"phone", Text, 0, false, true, true},
  {"acctbal", Decimal64, 2, false, true},
  {"mktsegment", Text, 0, false, true, true},
  {"comment", Text, 0, false, true, true},
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

static const Column map_Orders_base[] = {
  {"c_custkey", Int, 0, false, true},
  {"o_clerk", Text, 0, false, true},
  {"o_comment", Text, 0, false, true},
  {"o_orderdate", Date, 0, false, true},
  {"o_orderkey", Int, 0, false, true},
  {"o_orderpriority", Text, 0, false, true},
  {"o_orderstatus", Text, 0, false, true},
  {"o_shippriority", Int, 0, false, true},
  {"o_totalprice", Decimal64, 2, false, true},
  {"", Int, 0, false, true},
};

static const Column map_Lineitem_base[] = {
  {"l_comment", Text, 0, false, true},
  {"l_commitdate", Date, 0, false, true},
  {"l_discount", Decimal64, 2, false, true},
  {"l_extendedprice", Decimal64, 2, false, true},
  {"l_linenumber", Int, 0, false, true},
  {"l_linestatus", Text, 0, false, true},
  {"l_partkey", Int, 0, false, true},
  {"l_quantity", Decimal64, 2, false, true},
  {"l_receiptdate", Date, 0, false, true},
  {"l_returnflag", Text, 0, false, true},
  {"l_shipdate", Date, 0, false, true},
  {"l_shipinstruct", Text, 0, false, true},
  {"l_shipmode", Text, 0, false, true},
  {"l_suppkey", Int, 0, false, true},
  {"l_tax", Decimal64, 2, false, true},
  {"o_orderkey", Int, 0, false, true},
  {"", Int, 0, false, true},
};

static const Column map_Customer_base[] = {
  {"c_acctbal", Decimal64, 2, false, true},
  {"c_address", Text, 0, false, true},
  {"c_comment", Text, 0, false, true},
  {"c_custkey", Int, 0, false, true},
  {"c_mktsegment", Text, 0, false, true},
  {"c_name", Text, 0, false, true},
  {"c_nationkey", Int, 0, false, true},
  {"c_phone", Text, 0, false, true},
  {"", Int, 0, false, true},
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
  {"q03_2", 4, map_q03_2, dump_q03_2, size_q03_2},
  {"Orders_base", 10, map_Orders_base, dump_Orders_base, size_Orders_base},
  {"Lineitem_base", 17, map_Lineitem_base, dump_Lineitem_base, size_Lineitem_base},
  {"Customer_base", 9, map_Customer_base, dump_Customer_base, size_Customer_base},
};

static void create(Env& e) {
  State& s = *e.state;
  s.strings.init(e.arena);
  s.m_q03.init(e.arena);
  s.m_Orders_base.init(e.arena);
  s.m_Lineitem_base.init(e.arena);
  s.m_Customer_base.init(e.arena);
}
static Strings& strings_of(State& s) { return s.strings; }
static const char* const all_slots[] = {nullptr};
static Watch watch_of(State&) { return {}; }
static f64* gone_of(State&) { return nullptr; }
const Kernel kernel = {3, 1, 5, all_relations, all_queries, all_maps, sizeof(State), strings_of, create, ready, 0, all_slots, watch_of, gone_of};

}  // namespace fr

#include "boundary.hpp"
