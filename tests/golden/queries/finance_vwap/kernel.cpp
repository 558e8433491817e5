#include "flat.hpp"
#include "kernel.hpp"
#include "ordered.hpp"
#include "pool.hpp"
#include "rows.hpp"
#include "sum.hpp"
namespace fr {

struct Rec_m_vwap {
  struct Key { };
  Sum sum; i64 sum_2;
  static u64 hash(const Key&) { return 0x9e3779b97f4a7c15ull; }
  bool is(const Key&) const { return true; }
  u64 hash() const { return hash(Key{}); }
  void set(const Key&) { }
  bool empty() const { return sum.gone() && sum_2 == 0; }
};

struct Rec_m_vwap_Bids {
  struct Key { f64 b1_price_; };
  Sum sum; Sum sum_3; f64 b1_price_; i64 sum_2;
  static u64 hash(const Key& k) { return mix(word(k.b1_price_), 0); }
  bool is(const Key& k) const { return same(b1_price_, k.b1_price_); }
  u64 hash() const { return hash(Key{b1_price_}); }
  void set(const Key& k) { b1_price_ = k.b1_price_; }
  bool empty() const { return sum.gone() && sum_2 == 0 && sum_3.gone(); }
};

struct Rec_m_vwap_Bids_2 {
  struct Key { };
  Sum sum_2; i64 sum;
  static u64 hash(const Key&) { return 0x9e3779b97f4a7c15ull; }
  bool is(const Key&) const { return true; }
  u64 hash() const { return hash(Key{}); }
  void set(const Key&) { }
  bool empty() const { return sum == 0 && sum_2.gone(); }
};

struct Rec_tmp0 {
  struct Key { };
  Sum sum; i64 sum_2; i64 sum_3;
  static u64 hash(const Key&) { return 0x9e3779b97f4a7c15ull; }
  bool is(const Key&) const { return true; }
  u64 hash() const { return hash(Key{}); }
  void set(const Key&) { }
  bool empty() const { return sum.gone() && sum_2 == 0 && sum_3 == 0; }
};

struct Rec_tmp1 {
  struct Key { f64 k0_; };
  f64 k0_; i64 sum;
  static u64 hash(const Key& k) { return mix(word(k.k0_), 0); }
  bool is(const Key& k) const { return same(k0_, k.k0_); }
  u64 hash() const { return hash(Key{k0_}); }
  void set(const Key& k) { k0_ = k.k0_; }
  bool empty() const { return sum == 0; }
};


struct Sum_m_vwap_Bids {
  Sum sum; i128 sum_2; Sum sum_3;
  static constexpr bool exact = false;
  void add(const Sum_m_vwap_Bids& x) { gain(sum, x.sum); sum_2 += x.sum_2; gain(sum_3, x.sum_3); }
  bool empty() const { return sum.gone() && sum_2 == 0 && sum_3.gone(); }
  Sum_m_vwap_Bids operator-() const { return Sum_m_vwap_Bids{-sum, -sum_2, -sum_3}; }
  bool is_near() const { return fr::is_near(sum) && fr::is_near(sum_3); }
  // What the index is told when a record changes: the difference, or, where that would
  // be rounded, the new value.
  static Sum_m_vwap_Bids change(const Rec_m_vwap_Bids& a, const Rec_m_vwap_Bids& b) {
    (void)a; return Sum_m_vwap_Bids{Sum(b.sum), i128(b.sum_2), Sum(b.sum_3)};
  }
};
struct Ord0_m_vwap_Bids {
  f64 b1_price_;
  static Ord0_m_vwap_Bids of(const Rec_m_vwap_Bids& r) { return Ord0_m_vwap_Bids{r.b1_price_}; }
  bool less(Arena& arena, const Ord0_m_vwap_Bids& x) const {
    (void)arena; return sorts(b1_price_, x.b1_price_);
  }
  bool is(const Ord0_m_vwap_Bids& x) const { return same(b1_price_, x.b1_price_); }
  static constexpr bool plain = true;
};


struct State {
  Strings strings;
  bool stale, late;
  Flat<Rec_m_vwap> m_vwap;
  Flat<Rec_m_vwap_Bids> m_vwap_Bids;
  Ordered<Ord0_m_vwap_Bids, Sum_m_vwap_Bids> m_vwap_Bids_U_o0;
  i64 m_vwap_Bids_U_below0;
  i64 m_vwap_Bids_U_below1;
  i64 m_vwap_Bids_U_below2;
  Flat<Rec_m_vwap_Bids_2> m_vwap_Bids_2;
};

}  // namespace fr

#include "support.hpp"

namespace fr {


static inline void follow_m_vwap_Bids(Env& e, const Rec_m_vwap_Bids& a, const Rec_m_vwap_Bids& b) {
  State& s = *e.state;
  s.m_vwap_Bids_U_o0.add(e.arena, Ord0_m_vwap_Bids::of(b), Sum_m_vwap_Bids::change(a, b));
  s.m_vwap_Bids_U_below0 += (b.sum < 0) - (a.sum < 0);
  s.m_vwap_Bids_U_below1 += (b.sum_2 < 0) - (a.sum_2 < 0);
  s.m_vwap_Bids_U_below2 += (b.sum_3 < 0) - (a.sum_3 < 0);
}


static void after_vwap_vwap_2(Env& e) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  if (s.late) {
    s.late = false;
    // vwap[] :=
    //   Exists(vwap_Bids_2[]) *
    //   Sum[](
    //     (sum := vwap_Bids_3[]) * vwap_Bids[b1_price] *
    //     Exists(Sum[](vwap_Bids_4[b2_price_1] * {b2_price_1 > b1_price})) *
    //     (sum_1 := Sum[](vwap_Bids_5[b2_price] * {b2_price > b1_price})) * {0.25e0 * sum > sum_1});
    // vwap_2[] :=
    //   Exists(vwap_Bids_2[]) *
    //   Sum[](
    //     (sum := vwap_Bids_3[]) * vwap_Bids_4[b1_price] *
    //     Exists(Sum[](vwap_Bids_4[b2_price] * {b2_price > b1_price})) *
    //     (sum_1 := Sum[](vwap_Bids_5[b2_price_1] * {b2_price_1 > b1_price})) * {0.25e0 * sum > sum_1});
    {
      Rows<Rec_tmp0> tmp0{};
      {
        if (const auto* vwap_Bids_1 = s.m_vwap_Bids_2.find(e.arena, Rec_m_vwap_Bids_2::Key{})) {
          FR_VISIT(1);
          if (vwap_Bids_1->sum != 0) {
            if (s.m_vwap_Bids_U_below1 == 0 && s.m_vwap_Bids_U_below2 == 0) {
              Sum total_2{};
              {
                if (const auto* vwap_Bids_a1 = s.m_vwap_Bids_2.find(e.arena, Rec_m_vwap_Bids_2::Key{})) {
                  FR_VISIT(1);
                  gain(total_2, vwap_Bids_a1->sum_2);
                }
              }
              const f64 sum_3 = value(total_2);
              Sum_m_vwap_Bids sums_4{};
              {
                struct Total_before {
                  Addition sum_3;
                  void add(const Sum_m_vwap_Bids& x) { sum_3.add(x.sum_3); }
                  void add_far(const Sum_m_vwap_Bids& x) { sum_3.add_far(x.sum_3); }
                  bool is_near() const { return sum_3.is_near(); }
                };
                Ord0_m_vwap_Bids before_at;
                const bool before_ends = s.m_vwap_Bids_U_o0.template turn<true, false, Total_before>(e.arena, [&](const Total_before& all) -> bool {
                  FR_VISIT(1);
                  Sum_m_vwap_Bids sums_aa1{};
                  sums_aa1.sum_3 = all.sum_3.sum();
                  Sum total_a2{};
                  {
                    if (!sums_aa1.sum_3.gone()) {
                      gain(total_a2, sums_aa1.sum_3);
                    }
                  }
                  const f64 x_a3 = value(total_a2);
                  if ((mul<f64>(o, f64(0.25), sum_3) > x_a3)) {
                    return false;
                  }
                  return true;
                }, before_at);
                auto before = [&](const Ord0_m_vwap_Bids& entry_a1) -> bool {
                  FR_VISIT(1);
                  return !before_ends || entry_a1.less(e.arena, before_at);
                };
                struct Total_upto {
                  i128 sum_2;
                  void add(const Sum_m_vwap_Bids& x) { sum_2 += x.sum_2; }
                  void add_far(const Sum_m_vwap_Bids& x) { sum_2 += x.sum_2; }
                  bool is_near() const { return true; }
                };
                Ord0_m_vwap_Bids upto_at;
                const bool upto_ends = s.m_vwap_Bids_U_o0.template turn<true, false, Total_upto>(e.arena, [&](const Total_upto& all) -> bool {
                  FR_VISIT(1);
                  Sum_m_vwap_Bids sums_aa1{};
                  sums_aa1.sum_2 = all.sum_2;
                  i64 total_a4{};
                  {
                    if (sums_aa1.sum_2 != 0) {
                      total_a4 = add<i64>(o, total_a4, narrow<i64>(o, sums_aa1.sum_2));
                    }
                  }
                  if (total_a4 != 0) {
                    return true;
                  }
                  return false;
                }, upto_at);
                auto upto = [&](const Ord0_m_vwap_Bids& entry_a1) -> bool {
                  FR_VISIT(1);
                  return !upto_ends || entry_a1.less(e.arena, upto_at);
                };
                struct {
                  Addition sum; i128 sum_2;
                  void add(const Sum_m_vwap_Bids& x) { sum.add(x.sum); sum_2 += x.sum_2; }
                  void add_far(const Sum_m_vwap_Bids& x) { sum.add_far(x.sum); sum_2 += x.sum_2; }
                  bool is_near() const { return sum.is_near(); }
                } all{};
                s.m_vwap_Bids_U_o0.sum_between(e.arena, before, upto, all);
                sums_4.sum = all.sum.sum();
                sums_4.sum_2 = all.sum_2;
              }
              {
                auto* into_24 = tmp0.at(e.scratch, {});
                FR_WRITE;
                if (!sums_4.sum.gone()) {
                  gain(into_24->sum, sums_4.sum);
                }
                if (sums_4.sum_2 != 0) {
                  into_24->sum_2 = known(o, add<i64>(o, into_24->sum_2, narrow<i64>(o, sums_4.sum_2)));
                }
                if (into_24->empty()) tmp0.drop(e.scratch, into_24);
              }
            }
            if (!(s.m_vwap_Bids_U_below1 == 0 && s.m_vwap_Bids_U_below2 == 0)) [&]() __attribute__((noinline, cold)) {
              Sum total_5{};
              {
                if (const auto* vwap_Bids_a1 = s.m_vwap_Bids_2.find(e.arena, Rec_m_vwap_Bids_2::Key{})) {
                  FR_VISIT(1);
                  gain(total_5, vwap_Bids_a1->sum_2);
                }
              }
              const f64 sum_6 = value(total_5);
              s.m_vwap_Bids.each(e.arena, [&](const Rec_m_vwap_Bids& vwap_Bids_7) {
                FR_VISIT(1);
                i64 total_8{};
                {
                  Sum_m_vwap_Bids sums_a1{};
                  {
                    auto before = [&](const Ord0_m_vwap_Bids& entry_aa1) -> bool {
                      FR_VISIT(1);
                      (void)entry_aa1;
                      if ((entry_aa1.b1_price_ > vwap_Bids_7.b1_price_)) {
                        return false;
                      }
                      return true;
                    };
                    auto upto = [&](const Ord0_m_vwap_Bids& entry_aa1) -> bool {
                      FR_VISIT(1);
                      (void)entry_aa1;
                      return true;
                    };
                    struct {
                      i128 sum_2;
                      void add(const Sum_m_vwap_Bids& x) { sum_2 += x.sum_2; }
                      void add_far(const Sum_m_vwap_Bids& x) { sum_2 += x.sum_2; }
                      bool is_near() const { return true; }
                    } all{};
                    s.m_vwap_Bids_U_o0.sum_between(e.arena, before, upto, all);
                    sums_a1.sum_2 = all.sum_2;
                  }
                  if (sums_a1.sum_2 != 0) {
                    total_8 = add<i64>(o, total_8, narrow<i64>(o, sums_a1.sum_2));
                  }
                }
                if (total_8 != 0) {
                  Sum total_9{};
                  {
                    Sum_m_vwap_Bids sums_a1{};
                    {
                      auto before = [&](const Ord0_m_vwap_Bids& entry_aa1) -> bool {
                        FR_VISIT(1);
                        (void)entry_aa1;
                        if ((entry_aa1.b1_price_ > vwap_Bids_7.b1_price_)) {
                          return false;
                        }
                        return true;
                      };
                      auto upto = [&](const Ord0_m_vwap_Bids& entry_aa1) -> bool {
                        FR_VISIT(1);
                        (void)entry_aa1;
                        return true;
                      };
                      struct {
                        Addition sum_3;
                        void add(const Sum_m_vwap_Bids& x) { sum_3.add(x.sum_3); }
                        void add_far(const Sum_m_vwap_Bids& x) { sum_3.add_far(x.sum_3); }
                        bool is_near() const { return sum_3.is_near(); }
                      } all{};
                      s.m_vwap_Bids_U_o0.sum_between(e.arena, before, upto, all);
                      sums_a1.sum_3 = all.sum_3.sum();
                    }
                    if (!sums_a1.sum_3.gone()) {
                      gain(total_9, sums_a1.sum_3);
                    }
                  }
                  const f64 sum_10 = value(total_9);
                  if ((mul<f64>(o, f64(0.25), sum_6) > sum_10)) {
                    {
                      auto* into_25 = tmp0.at(e.scratch, {});
                      FR_WRITE;
                      gain(into_25->sum, vwap_Bids_7.sum);
                      into_25->sum_2 = known(o, add<i64>(o, into_25->sum_2, vwap_Bids_7.sum_2));
                      if (into_25->empty()) tmp0.drop(e.scratch, into_25);
                    }
                  }
                }
              });
            }();
          }
        }
        if (const auto* vwap_22 = s.m_vwap.find(e.arena, Rec_m_vwap::Key{})) {
          FR_VISIT(1);
          {
            auto* into_23 = tmp0.at(e.scratch, {});
            FR_WRITE;
            into_23->sum_3 = known(o, add<i64>(o, into_23->sum_3, i64(1ll)));
            if (into_23->empty()) tmp0.drop(e.scratch, into_23);
          }
        }
      }
      tmp0.each(e.scratch, [&](const Rec_tmp0& row_28) {
        FR_VISIT(1);
        if (__builtin_expect(e.collecting >> 0 & 1, 0)) touch(e, 0);
        {
          auto* into_29 = s.m_vwap.at(e.arena, {});
          FR_WRITE;
          into_29->sum = row_28.sum;
          into_29->sum_2 = known(o, row_28.sum_2);
          if (into_29->empty()) s.m_vwap.drop(e.arena, into_29);
        }
      });
    }
  }
  e.overflow |= o;
  e.scratch.reset();
}

static void on_Bids(Env& e, const Batch& b) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  (void)b;
  const f64* all_volume = static_cast<const f64*>(b.column[3]);
  const f64* all_price = static_cast<const f64*>(b.column[4]);
  for (i64 i_1 = 0; i_1 < b.size; i_1++) {
    const f64 volume_1 = all_volume[i_1];
    const f64 price_1 = all_price[i_1];
    const i64 sign_2 = b.count[i_1];
    // vwap_Bids[d_price] += d_price * d_volume;
    // vwap_Bids_2[] += 1;
    // vwap_Bids_3[] += d_volume;
    // vwap_Bids_4[d_price] += 1;
    // vwap_Bids_5[d_price] += d_volume;
    {
      s.late = true;  // vwap, vwap_2: recomputed after the rows
      {
        auto* into_3 = s.m_vwap_Bids.at(e.arena, {as_key(price_1)});
        FR_WRITE;
        const auto into_3_old = *into_3;
        gain(into_3->sum, times(sign_2, times(lift(price_1), lift(volume_1))));
        into_3->sum_2 = known(o, add<i64>(o, into_3->sum_2, sign_2));
        gain(into_3->sum_3, times(sign_2, lift(volume_1)));
        follow_m_vwap_Bids(e, into_3_old, *into_3);
        if (into_3->empty()) s.m_vwap_Bids.drop(e.arena, into_3);
      }
      s.late = true;  // vwap, vwap_2: recomputed after the rows
      {
        auto* into_4 = s.m_vwap_Bids_2.at(e.arena, {});
        FR_WRITE;
        into_4->sum = known(o, add<i64>(o, into_4->sum, sign_2));
        gain(into_4->sum_2, times(sign_2, lift(volume_1)));
        if (into_4->empty()) s.m_vwap_Bids_2.drop(e.arena, into_4);
      }
    }
  }
  after_vwap_vwap_2(e);
  e.overflow |= o;
}

__attribute__((cold)) static void ready(Env& e) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  e.overflow |= o;
}

__attribute__((cold)) static void read_vwap(Env& e, Output& out) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  Rows<Rec_tmp1> tmp1{};
  {
    Sum total_a1{};
    {
      if (const auto* vwap_aa1 = s.m_vwap.find(e.arena, Rec_m_vwap::Key{})) {
        FR_VISIT(1);
        gain(total_a1, vwap_aa1->sum);
      }
    }
    const f64 x_a2 = value(total_a1);
    i64 total_a3{};
    {
      if (const auto* vwap_aa1 = s.m_vwap.find(e.arena, Rec_m_vwap::Key{})) {
        FR_VISIT(1);
        total_a3 = add<i64>(o, total_a3, vwap_aa1->sum_2);
      }
    }
    const i64 x_a4 = known(o, total_a3);
    const f64 x_a5 = (truth(x_a4) ? x_a2 : null<f64>());
    {
      auto* into_a6 = tmp1.at(e.scratch, {as_key(x_a5)});
      FR_WRITE;
      into_a6->sum = known(o, add<i64>(o, into_a6->sum, i64(1ll)));
      if (into_a6->empty()) tmp1.drop(e.scratch, into_a6);
    }
  }
  tmp1.each(e.scratch, [&](const Rec_tmp1& row_2) {
    FR_VISIT(1);
    if (const i64 n = row_2.sum; n > 0) {
      const i64 at = out.next();
      out.count[at] = n;
      static_cast<f64*>(out.column[0])[at] = row_2.k0_;
    }
  });
  e.overflow |= o;
  e.scratch.reset();
}

__attribute__((cold)) static void dump_vwap(Env& e, Output& out) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  s.m_vwap.each(e.arena, [&](const Rec_m_vwap& r) {
    if (r.sum == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<f64*>(out.column[0])[at] = value(r.sum);
  });
  e.overflow |= o;
}
static u64 size_vwap(Env& e) {
  State& s = *e.state;
  return s.m_vwap.size();
}

__attribute__((cold)) static void dump_vwap_2(Env& e, Output& out) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  s.m_vwap.each(e.arena, [&](const Rec_m_vwap& r) {
    if (r.sum_2 == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<i64*>(out.column[0])[at] = r.sum_2;
  });
  e.overflow |= o;
}
static u64 size_vwap_2(Env& e) {
  State& s = *e.state;
  return s.m_vwap.size();
}

__attribute__((cold)) static void dump_vwap_Bids(Env& e, Output& out) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  s.m_vwap_Bids.each(e.arena, [&](const Rec_m_vwap_Bids& r) {
    if (r.sum == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<f64*>(out.column[0])[at] = r.b1_price_;
    static_cast<f64*>(out.column[1])[at] = value(r.sum);
  });
  e.overflow |= o;
}
static u64 size_vwap_Bids(Env& e) {
  State& s = *e.state;
  return s.m_vwap_Bids.size();
}

__attribute__((cold)) static void dump_vwap_Bids_2(Env& e, Output& out) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  s.m_vwap_Bids_2.each(e.arena, [&](const Rec_m_vwap_Bids_2& r) {
    if (r.sum == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<i64*>(out.column[0])[at] = r.sum;
  });
  e.overflow |= o;
}
static u64 size_vwap_Bids_2(Env& e) {
  State& s = *e.state;
  return s.m_vwap_Bids_2.size();
}

__attribute__((cold)) static void dump_vwap_Bids_3(Env& e, Output& out) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  s.m_vwap_Bids_2.each(e.arena, [&](const Rec_m_vwap_Bids_2& r) {
    if (r.sum_2 == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<f64*>(out.column[0])[at] = value(r.sum_2);
  });
  e.overflow |= o;
}
static u64 size_vwap_Bids_3(Env& e) {
  State& s = *e.state;
  return s.m_vwap_Bids_2.size();
}

__attribute__((cold)) static void dump_vwap_Bids_4(Env& e, Output& out) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  s.m_vwap_Bids.each(e.arena, [&](const Rec_m_vwap_Bids& r) {
    if (r.sum_2 == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<f64*>(out.column[0])[at] = r.b1_price_;
    static_cast<i64*>(out.column[1])[at] = r.sum_2;
  });
  e.overflow |= o;
}
static u64 size_vwap_Bids_4(Env& e) {
  State& s = *e.state;
  return s.m_vwap_Bids.size();
}

__attribute__((cold)) static void dump_vwap_Bids_5(Env& e, Output& out) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  s.m_vwap_Bids.each(e.arena, [&](const Rec_m_vwap_Bids& r) {
    if (r.sum_3 == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<f64*>(out.column[0])[at] = r.b1_price_;
    static_cast<f64*>(out.column[1])[at] = value(r.sum_3);
  });
  e.overflow |= o;
}
static u64 size_vwap_Bids_5(Env& e) {
  State& s = *e.state;
  return s.m_vwap_Bids.size();
}

static const Column in_Bids[] = {
  {"t", Double, 0, false, false},
  {"id", Int, 0, false, false},
  {"broker_id", Int, 0, false, false},
  {"volume", Double, 0, false, true},
  {"price", Double, 0, false, true},
};

static const Column out_vwap[] = {
  {"sum", Double, 0, true, true},
};

static const Column map_vwap[] = {
  {"", Double, 0, false, true},
};

static const Column map_vwap_2[] = {
  {"", Int, 0, false, true},
};

static const Column map_vwap_Bids[] = {
  {"b1_price", Double, 0, false, true},
  {"", Double, 0, false, true},
};

static const Column map_vwap_Bids_2[] = {
  {"", Int, 0, false, true},
};

static const Column map_vwap_Bids_3[] = {
  {"", Double, 0, false, true},
};

static const Column map_vwap_Bids_4[] = {
  {"b2_price", Double, 0, false, true},
  {"", Int, 0, false, true},
};

static const Column map_vwap_Bids_5[] = {
  {"b2_price", Double, 0, false, true},
  {"", Double, 0, false, true},
};

static const Relation all_relations[] = {
  {"Bids", 5, in_Bids, false, on_Bids},
};

static const Query all_queries[] = {
  {"vwap", 1, out_vwap, read_vwap, nullptr, nullptr, true},
};

static const Map all_maps[] = {
  {"vwap", 1, map_vwap, dump_vwap, size_vwap},
  {"vwap_2", 1, map_vwap_2, dump_vwap_2, size_vwap_2},
  {"vwap_Bids", 2, map_vwap_Bids, dump_vwap_Bids, size_vwap_Bids},
  {"vwap_Bids_2", 1, map_vwap_Bids_2, dump_vwap_Bids_2, size_vwap_Bids_2},
  {"vwap_Bids_3", 1, map_vwap_Bids_3, dump_vwap_Bids_3, size_vwap_Bids_3},
  {"vwap_Bids_4", 2, map_vwap_Bids_4, dump_vwap_Bids_4, size_vwap_Bids_4},
  {"vwap_Bids_5", 2, map_vwap_Bids_5, dump_vwap_Bids_5, size_vwap_Bids_5},
};

static void create(Env& e) {
  State& s = *e.state;
  s.strings.init(e.arena);
  s.m_vwap.init(e.arena);
  s.m_vwap_Bids.init(e.arena);
  s.m_vwap_Bids_2.init(e.arena);
}
static Strings& strings_of(State& s) { return s.strings; }
static const char* const all_slots[] = {nullptr};
static Watch watch_of(State&) { return {}; }
static f64* gone_of(State&) { return nullptr; }
const Kernel kernel = {1, 1, 7, all_relations, all_queries, all_maps, sizeof(State), strings_of, create, ready, 0, all_slots, watch_of, gone_of};

}  // namespace fr

#include "boundary.hpp"
