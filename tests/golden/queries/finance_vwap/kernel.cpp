#include "flat.hpp"
#include "kernel.hpp"
#include "ordered.hpp"
#include "pool.hpp"
#include "rows.hpp"
#include "sum.hpp"
namespace fr {

struct Rec_m_vwap {
  struct Key { };
  Sum p0; i64 p1;
  static u64 hash(const Key&) { return 0x9e3779b97f4a7c15ull; }
  bool is(const Key&) const { return true; }
  u64 hash() const { return hash(Key{}); }
  void set(const Key&) { }
  bool empty() const { return p0.gone() && p1 == 0; }
};

struct Rec_m_vwap_Bids {
  struct Key { f64 k0; };
  Sum p0; Sum p2; f64 k0; i64 p1;
  static u64 hash(const Key& k) { return mix(word(k.k0), 0); }
  bool is(const Key& k) const { return same(k0, k.k0); }
  u64 hash() const { return hash(Key{k0}); }
  void set(const Key& k) { k0 = k.k0; }
  bool empty() const { return p0.gone() && p1 == 0 && p2.gone(); }
};

struct Rec_m_vwap_Bids_2 {
  struct Key { };
  Sum p1; i64 p0;
  static u64 hash(const Key&) { return 0x9e3779b97f4a7c15ull; }
  bool is(const Key&) const { return true; }
  u64 hash() const { return hash(Key{}); }
  void set(const Key&) { }
  bool empty() const { return p0 == 0 && p1.gone(); }
};

struct Rec_tmp0 {
  struct Key { };
  Sum p0; i64 p1; i64 p2;
  static u64 hash(const Key&) { return 0x9e3779b97f4a7c15ull; }
  bool is(const Key&) const { return true; }
  u64 hash() const { return hash(Key{}); }
  void set(const Key&) { }
  bool empty() const { return p0.gone() && p1 == 0 && p2 == 0; }
};

struct Rec_tmp1 {
  struct Key { f64 k0; };
  f64 k0; i64 p0;
  static u64 hash(const Key& k) { return mix(word(k.k0), 0); }
  bool is(const Key& k) const { return same(k0, k.k0); }
  u64 hash() const { return hash(Key{k0}); }
  void set(const Key& k) { k0 = k.k0; }
  bool empty() const { return p0 == 0; }
};


struct Sum_m_vwap_Bids {
  Sum p0; i128 p1; Sum p2;
  static constexpr bool exact = false;
  void add(const Sum_m_vwap_Bids& x) { gain(p0, x.p0); p1 += x.p1; gain(p2, x.p2); }
  bool empty() const { return p0.gone() && p1 == 0 && p2.gone(); }
  // What the index is told when a record changes: the difference, or, where that would
  // be rounded, the new value.
  static Sum_m_vwap_Bids change(const Rec_m_vwap_Bids& a, const Rec_m_vwap_Bids& b) {
    (void)a; return Sum_m_vwap_Bids{Sum(b.p0), i128(b.p1), Sum(b.p2)};
  }
};
struct Ord0_m_vwap_Bids {
  f64 k0;
  static Ord0_m_vwap_Bids of(const Rec_m_vwap_Bids& r) { return Ord0_m_vwap_Bids{r.k0}; }
  bool less(Arena& arena, const Ord0_m_vwap_Bids& x) const {
    (void)arena; if (!same(k0, x.k0)) return sorts(k0, x.k0); return false;
  }
  bool is(const Ord0_m_vwap_Bids& x) const { return same(k0, x.k0); }
};


struct State {
  Strings strings;
  bool stale;
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

#define OLD_m_vwap(w)
#define NEW_m_vwap(w)

static inline void follow_m_vwap_Bids(Env& e, const Rec_m_vwap_Bids& a, const Rec_m_vwap_Bids& b) {
  State& s = *e.state;
  s.m_vwap_Bids_U_o0.add(e.arena, Ord0_m_vwap_Bids::of(b), Sum_m_vwap_Bids::change(a, b));
  s.m_vwap_Bids_U_below0 += (b.p0 < 0) - (a.p0 < 0);
  s.m_vwap_Bids_U_below1 += (b.p1 < 0) - (a.p1 < 0);
  s.m_vwap_Bids_U_below2 += (b.p2 < 0) - (a.p2 < 0);
}
#define OLD_m_vwap_Bids(w) const auto w##_old = *w;
#define NEW_m_vwap_Bids(w) follow_m_vwap_Bids(e, w##_old, *w);

#define OLD_m_vwap_Bids_2(w)
#define NEW_m_vwap_Bids_2(w)

static void on_Bids(Env& e, const Batch& b) {
  State& s = *e.state;
  bool o = false;
  (void)e;
  (void)b;
  const f64* col3 = static_cast<const f64*>(b.column[3]);
  const f64* col4 = static_cast<const f64*>(b.column[4]);
  // vwap_Bids[b1_price] +=
  //   Sum[b1_price]((DELTA Bids)(b1_t, b1_id, b1_broker_id, b1_volume, b1_price) * b1_volume) * b1_price;
  // vwap_Bids_2[] += Sum[]((DELTA Bids)(b3_t, b3_id, b3_broker_id, b3_volume, b3_price));
  // vwap_Bids_3[] += Sum[]((DELTA Bids)(b3_t, b3_id, b3_broker_id, b3_volume, b3_price) * b3_volume);
  // vwap_Bids_4[b2_price] +=
  //   Sum[b2_price]((DELTA Bids)(b2_t, b2_id, b2_broker_id, b2_volume, b2_price));
  // vwap_Bids_5[b2_price] +=
  //   Sum[b2_price]((DELTA Bids)(b2_t, b2_id, b2_broker_id, b2_volume, b2_price) * b2_volume);
  {
    for (i64 j2 = 0; j2 < b.size; j2++) {
      const f64 c3_j2 = col3[j2];
      const f64 c4_j2 = col4[j2];
      { auto* w3 = s.m_vwap_Bids.at(e.arena, {as_key(c4_j2)}); FR_WRITE; OLD_m_vwap_Bids(w3)
        gain(w3->p0, times(times(b.count[j2], lift(c3_j2)), lift(c4_j2)));
        w3->p1 = known(o, add<i64>(o, w3->p1, b.count[j2]));
        gain(w3->p2, times(b.count[j2], lift(c3_j2)));
      NEW_m_vwap_Bids(w3) if (w3->empty()) s.m_vwap_Bids.drop(e.arena, w3); }
      { auto* w4 = s.m_vwap_Bids_2.at(e.arena, {}); FR_WRITE; OLD_m_vwap_Bids_2(w4)
        w4->p0 = known(o, add<i64>(o, w4->p0, b.count[j2]));
        gain(w4->p1, times(b.count[j2], lift(c3_j2)));
      NEW_m_vwap_Bids_2(w4) if (w4->empty()) s.m_vwap_Bids_2.drop(e.arena, w4); }
    }
  }
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
      if (const auto* r4 = s.m_vwap_Bids_2.find(e.arena, Rec_m_vwap_Bids_2::Key{})) {
        FR_VISIT(1);
        if (r4->p0 != 0) {
          if (s.m_vwap_Bids_U_below1 == 0 && s.m_vwap_Bids_U_below2 == 0) {
            Sum t8{};
            {
              if (const auto* r_1 = s.m_vwap_Bids_2.find(e.arena, Rec_m_vwap_Bids_2::Key{})) {
                FR_VISIT(1);
                gain(t8, r_1->p1);
              }
            }
            const f64 x9 = value(t8);
            Sum_m_vwap_Bids q10{};
            {
              auto before = [&](const Ord0_m_vwap_Bids& k_1) -> bool {
                FR_VISIT(1);
                (void)k_1;
                Sum t_3{};
                {
                  Sum_m_vwap_Bids q__1{};
                  {
                    auto before = [&](const Ord0_m_vwap_Bids& k___1) -> bool {
                      FR_VISIT(1);
                      (void)k___1;
                      if ((k___1.k0 > k_1.k0)) {
                        return false;
                      }
                      return true;
                    };
                    auto upto = [&](const Ord0_m_vwap_Bids& k___1) -> bool {
                      FR_VISIT(1);
                      (void)k___1;
                      return true;
                    };
                    q__1 = s.m_vwap_Bids_U_o0.sum_between(e.arena, before, upto);
                  }
                  if (!q__1.p2.gone()) {
                    gain(t_3, q__1.p2);
                  }
                }
                const f64 x_4 = value(t_3);
                if ((mul<f64>(o, f64(0.25), x9) > x_4)) {
                  return false;
                }
                return true;
              };
              auto upto = [&](const Ord0_m_vwap_Bids& k_1) -> bool {
                FR_VISIT(1);
                (void)k_1;
                i64 t_4{};
                {
                  Sum_m_vwap_Bids q__1{};
                  {
                    auto before = [&](const Ord0_m_vwap_Bids& k___1) -> bool {
                      FR_VISIT(1);
                      (void)k___1;
                      if ((k___1.k0 > k_1.k0)) {
                        return false;
                      }
                      return true;
                    };
                    auto upto = [&](const Ord0_m_vwap_Bids& k___1) -> bool {
                      FR_VISIT(1);
                      (void)k___1;
                      return true;
                    };
                    q__1 = s.m_vwap_Bids_U_o0.sum_between(e.arena, before, upto);
                  }
                  if (q__1.p1 != 0) {
                    t_4 = add<i64>(o, t_4, narrow<i64>(o, q__1.p1));
                  }
                }
                if (t_4 != 0) {
                  return true;
                }
                return false;
              };
              q10 = s.m_vwap_Bids_U_o0.sum_between(e.arena, before, upto);
            }
            if (!q10.p0.gone()) {
              { auto* w12 = tmp0.at(e.scratch, {}); FR_WRITE;
                gain(w12->p0, q10.p0);
              if (w12->empty()) tmp0.drop(e.scratch, w12); }
            }
            if (q10.p1 != 0) {
              { auto* w13 = tmp0.at(e.scratch, {}); FR_WRITE;
                w13->p1 = known(o, add<i64>(o, w13->p1, narrow<i64>(o, q10.p1)));
              if (w13->empty()) tmp0.drop(e.scratch, w13); }
            }
          }
          if (!(s.m_vwap_Bids_U_below1 == 0 && s.m_vwap_Bids_U_below2 == 0)) [&]() __attribute__((noinline, cold)) {
            Sum t9{};
            {
              if (const auto* r_1 = s.m_vwap_Bids_2.find(e.arena, Rec_m_vwap_Bids_2::Key{})) {
                FR_VISIT(1);
                gain(t9, r_1->p1);
              }
            }
            const f64 x10 = value(t9);
            s.m_vwap_Bids.each(e.arena, [&](const Rec_m_vwap_Bids& r11) {
              FR_VISIT(1);
              i64 t13{};
              {
                Sum_m_vwap_Bids q_1{};
                {
                  auto before = [&](const Ord0_m_vwap_Bids& k__1) -> bool {
                    FR_VISIT(1);
                    (void)k__1;
                    if ((k__1.k0 > r11.k0)) {
                      return false;
                    }
                    return true;
                  };
                  auto upto = [&](const Ord0_m_vwap_Bids& k__1) -> bool {
                    FR_VISIT(1);
                    (void)k__1;
                    return true;
                  };
                  q_1 = s.m_vwap_Bids_U_o0.sum_between(e.arena, before, upto);
                }
                if (q_1.p1 != 0) {
                  t13 = add<i64>(o, t13, narrow<i64>(o, q_1.p1));
                }
              }
              if (t13 != 0) {
                Sum t15{};
                {
                  Sum_m_vwap_Bids q_1{};
                  {
                    auto before = [&](const Ord0_m_vwap_Bids& k__1) -> bool {
                      FR_VISIT(1);
                      (void)k__1;
                      if ((k__1.k0 > r11.k0)) {
                        return false;
                      }
                      return true;
                    };
                    auto upto = [&](const Ord0_m_vwap_Bids& k__1) -> bool {
                      FR_VISIT(1);
                      (void)k__1;
                      return true;
                    };
                    q_1 = s.m_vwap_Bids_U_o0.sum_between(e.arena, before, upto);
                  }
                  if (!q_1.p2.gone()) {
                    gain(t15, q_1.p2);
                  }
                }
                const f64 x16 = value(t15);
                if ((mul<f64>(o, f64(0.25), x10) > x16)) {
                  { auto* w18 = tmp0.at(e.scratch, {}); FR_WRITE;
                    gain(w18->p0, r11.p0);
                    w18->p1 = known(o, add<i64>(o, w18->p1, r11.p1));
                  if (w18->empty()) tmp0.drop(e.scratch, w18); }
                }
              }
            });
          }();
        }
      }
    }
    if (const auto* r4 = s.m_vwap.find(e.arena, Rec_m_vwap::Key{})) {
      FR_VISIT(1);
      { auto* w6 = tmp0.at(e.scratch, {}); FR_WRITE;
        w6->p2 = known(o, add<i64>(o, w6->p2, i64(1ll)));
      if (w6->empty()) tmp0.drop(e.scratch, w6); }
    }
    tmp0.each(e.scratch, [&](const Rec_tmp0& r5) {
      { auto* w6 = s.m_vwap.at(e.arena, {}); FR_WRITE; OLD_m_vwap(w6)
        w6->p0 = r5.p0;
        w6->p1 = known(o, r5.p1);
      NEW_m_vwap(w6) if (w6->empty()) s.m_vwap.drop(e.arena, w6); }
    });
  }
  e.overflow |= o;
  e.scratch.reset();
}

__attribute__((cold)) static void ready(Env& e) {
  (void)e;
}

__attribute__((cold)) static void read_vwap(Env& e, Output& out) {
  State& s = *e.state;
  bool o = false;
  (void)e;
  Rows<Rec_tmp1> tmp1{};
  {
    Sum t_1{};
    {
      if (const auto* r__1 = s.m_vwap.find(e.arena, Rec_m_vwap::Key{})) {
        FR_VISIT(1);
        gain(t_1, r__1->p0);
      }
    }
    const f64 x_2 = value(t_1);
    i64 t_3{};
    {
      if (const auto* r__1 = s.m_vwap.find(e.arena, Rec_m_vwap::Key{})) {
        FR_VISIT(1);
        t_3 = add<i64>(o, t_3, r__1->p1);
      }
    }
    const i64 x_4 = known(o, t_3);
    const f64 x_5 = (truth(x_4) ? x_2 : null<f64>());
    { auto* w_6 = tmp1.at(e.scratch, {as_key(x_5)}); FR_WRITE;
      w_6->p0 = known(o, add<i64>(o, w_6->p0, i64(1ll)));
    if (w_6->empty()) tmp1.drop(e.scratch, w_6); }
  }
  tmp1.each(e.scratch, [&](const Rec_tmp1& r2) {
    if (const i64 n = r2.p0; n > 0) {
      const i64 at = out.next();
      out.count[at] = n;
      static_cast<f64*>(out.column[0])[at] = r2.k0;
    }
  });
  e.overflow |= o;
  e.scratch.reset();
}

__attribute__((cold)) static void dump_vwap(Env& e, Output& out) {
  State& s = *e.state;
  (void)e;
  s.m_vwap.each(e.arena, [&](const Rec_m_vwap& r) {
    if (r.p0 == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<f64*>(out.column[0])[at] = value(r.p0);
  });
}
static u64 size_vwap(Env& e) {
  State& s = *e.state;
  return s.m_vwap.size();
}

__attribute__((cold)) static void dump_vwap_2(Env& e, Output& out) {
  State& s = *e.state;
  (void)e;
  s.m_vwap.each(e.arena, [&](const Rec_m_vwap& r) {
    if (r.p1 == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<i64*>(out.column[0])[at] = r.p1;
  });
}
static u64 size_vwap_2(Env& e) {
  State& s = *e.state;
  return s.m_vwap.size();
}

__attribute__((cold)) static void dump_vwap_Bids(Env& e, Output& out) {
  State& s = *e.state;
  (void)e;
  s.m_vwap_Bids.each(e.arena, [&](const Rec_m_vwap_Bids& r) {
    if (r.p0 == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<f64*>(out.column[0])[at] = r.k0;
    static_cast<f64*>(out.column[1])[at] = value(r.p0);
  });
}
static u64 size_vwap_Bids(Env& e) {
  State& s = *e.state;
  return s.m_vwap_Bids.size();
}

__attribute__((cold)) static void dump_vwap_Bids_2(Env& e, Output& out) {
  State& s = *e.state;
  (void)e;
  s.m_vwap_Bids_2.each(e.arena, [&](const Rec_m_vwap_Bids_2& r) {
    if (r.p0 == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<i64*>(out.column[0])[at] = r.p0;
  });
}
static u64 size_vwap_Bids_2(Env& e) {
  State& s = *e.state;
  return s.m_vwap_Bids_2.size();
}

__attribute__((cold)) static void dump_vwap_Bids_3(Env& e, Output& out) {
  State& s = *e.state;
  (void)e;
  s.m_vwap_Bids_2.each(e.arena, [&](const Rec_m_vwap_Bids_2& r) {
    if (r.p1 == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<f64*>(out.column[0])[at] = value(r.p1);
  });
}
static u64 size_vwap_Bids_3(Env& e) {
  State& s = *e.state;
  return s.m_vwap_Bids_2.size();
}

__attribute__((cold)) static void dump_vwap_Bids_4(Env& e, Output& out) {
  State& s = *e.state;
  (void)e;
  s.m_vwap_Bids.each(e.arena, [&](const Rec_m_vwap_Bids& r) {
    if (r.p1 == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<f64*>(out.column[0])[at] = r.k0;
    static_cast<i64*>(out.column[1])[at] = r.p1;
  });
}
static u64 size_vwap_Bids_4(Env& e) {
  State& s = *e.state;
  return s.m_vwap_Bids.size();
}

__attribute__((cold)) static void dump_vwap_Bids_5(Env& e, Output& out) {
  State& s = *e.state;
  (void)e;
  s.m_vwap_Bids.each(e.arena, [&](const Rec_m_vwap_Bids& r) {
    if (r.p2 == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<f64*>(out.column[0])[at] = r.k0;
    static_cast<f64*>(out.column[1])[at] = value(r.p2);
  });
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
  {"vwap", 1, out_vwap, read_vwap, nullptr, nullptr},
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
