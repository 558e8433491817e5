#include "flat.hpp"
#include "kernel.hpp"
#include "ordered.hpp"
#include "pool.hpp"
#include "rows.hpp"
#include "sum.hpp"
namespace fr {

struct Rec_m_min_max {
  struct Key { Sym items_shop_; };
  Sym items_shop_; i64 sum;
  static u64 hash(const Key& k) { return mix(word(k.items_shop_), 0); }
  bool is(const Key& k) const { return same(items_shop_, k.items_shop_); }
  u64 hash() const { return hash(Key{items_shop_}); }
  void set(const Key& k) { items_shop_ = k.items_shop_; }
  bool empty() const { return sum == 0; }
};

struct Rec_m_min_max_2 {
  struct Key { Sym items_shop_; i64 min_; };
  Sym items_shop_; i64 min_; i64 sum;
  static u64 hash(const Key& k) { return mix(mix(word(k.items_shop_), 0), word(k.min_)); }
  bool is(const Key& k) const { return same(items_shop_, k.items_shop_) && same(min_, k.min_); }
  u64 hash() const { return hash(Key{items_shop_, min_}); }
  void set(const Key& k) { items_shop_ = k.items_shop_; min_ = k.min_; }
  bool empty() const { return sum == 0; }
};


struct Sum_m_min_max_2 {
  i128 sum;
  static constexpr bool exact = true;
  void add(const Sum_m_min_max_2& x) { sum += x.sum; }
  bool empty() const { return sum == 0; }
  // What the index is told when a record changes: the difference, or, where that would
  // be rounded, the new value.
  static Sum_m_min_max_2 change(const Rec_m_min_max_2& a, const Rec_m_min_max_2& b) {
    (void)a; return Sum_m_min_max_2{i128(b.sum) - a.sum};
  }
};
struct Ord0_m_min_max_2 {
  Sym items_shop_; i64 min_;
  static Ord0_m_min_max_2 of(const Rec_m_min_max_2& r) { return Ord0_m_min_max_2{r.items_shop_, r.min_}; }
  bool less(Arena& arena, const Ord0_m_min_max_2& x) const {
    (void)arena; return sorts(items_shop_, x.items_shop_) | (same(items_shop_, x.items_shop_) & (sorts(min_, x.min_)));
  }
  bool is(const Ord0_m_min_max_2& x) const { return same(items_shop_, x.items_shop_) && same(min_, x.min_); }
  static constexpr bool plain = true;
};

struct State {
  Strings strings;
  bool stale, late;
  Flat<Rec_m_min_max> m_min_max;
  Flat<Rec_m_min_max_2> m_min_max_2;
  Ordered<Ord0_m_min_max_2, Sum_m_min_max_2> m_min_max_2_U_o0;
  i64 m_min_max_2_U_below0;
};

}  // namespace fr

#include "support.hpp"

namespace fr {


static inline void follow_m_min_max_2(Env& e, const Rec_m_min_max_2& a, const Rec_m_min_max_2& b) {
  State& s = *e.state;
  s.m_min_max_2_U_o0.add(e.arena, Ord0_m_min_max_2::of(b), Sum_m_min_max_2::change(a, b));
  s.m_min_max_2_U_below0 += (b.sum < 0) - (a.sum < 0);
}

static void on_items(Env& e, const Batch& b) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  (void)b;
  const Texts all_shop(b, 0);
  const i64* all_price = static_cast<const i64*>(b.column[1]);
  // min_max[items_shop] += Sum[items_shop]((DELTA items)(items_shop, items_price));
  // min_max_2[items_shop, min] += (DELTA items)(items_shop, min);
  {
    for (i64 i_1 = 0; i_1 < b.size; i_1++) {
      const Str shop_1 = all_shop[i_1];
      const i64 price_1 = all_price[i_1];
      const Sym text_3 = put_text(e, shop_1);
      if (__builtin_expect(e.collecting >> 0 & 1, 0)) touch<Sym>(e, 0, text_3);
      {
        auto* into_4 = s.m_min_max.at(e.arena, {text_3});
        FR_WRITE;
        into_4->sum = known(o, add<i64>(o, into_4->sum, b.count[i_1]));
        if (into_4->empty()) s.m_min_max.drop(e.arena, into_4);
      }
      if (__builtin_expect(e.collecting >> 0 & 1, 0)) touch<Sym>(e, 0, text_3);
      {
        auto* into_6 = s.m_min_max_2.at(e.arena, {text_3, price_1});
        FR_WRITE;
        const auto into_6_old = *into_6;
        into_6->sum = known(o, add<i64>(o, into_6->sum, b.count[i_1]));
        follow_m_min_max_2(e, into_6_old, *into_6);
        if (into_6->empty()) s.m_min_max_2.drop(e.arena, into_6);
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

__attribute__((cold)) static void read_min_max(Env& e, Output& out) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  s.m_min_max.each(e.arena, [&](const Rec_m_min_max& min_max_1) {
    FR_VISIT(1);
    if (min_max_1.sum != 0) {
      first_rows<false, as_sorted>(e.arena, s.m_min_max_2_U_o0, 1, [&](const Ord0_m_min_max_2& k, bool in) { FR_VISIT(1); (void)k; if (!same(k.items_shop_, min_max_1.items_shop_)) return sorts(k.items_shop_, min_max_1.items_shop_); return in; }, [&](const Ord0_m_min_max_2& k) { (void)k; return false; }, [&](const Ord0_m_min_max_2& k, const Sum_m_min_max_2& v) { (void)k; return v.sum; }, [&](const Ord0_m_min_max_2& entry_2, i64 nentry_2) {
        first_rows<true, as_sorted>(e.arena, s.m_min_max_2_U_o0, 1, [&](const Ord0_m_min_max_2& k, bool in) { FR_VISIT(1); (void)k; if (!same(k.items_shop_, min_max_1.items_shop_)) return sorts(k.items_shop_, min_max_1.items_shop_); return in; }, [&](const Ord0_m_min_max_2& k) { (void)k; return false; }, [&](const Ord0_m_min_max_2& k, const Sum_m_min_max_2& v) { (void)k; return v.sum; }, [&](const Ord0_m_min_max_2& entry_3, i64 nentry_3) {
          if (const i64 n = mul<i64>(o, nentry_2, nentry_3); n > 0) {
            const i64 at = out.next();
            out.count[at] = n;
            static_cast<Sym*>(out.column[0])[at] = min_max_1.items_shop_;
            static_cast<i64*>(out.column[1])[at] = entry_2.min_;
            static_cast<i64*>(out.column[2])[at] = entry_3.min_;
          }
        });
      });
    }
  });
  e.overflow |= o;
}

static const bool key_min_max[] = {true, false, false};
static void find_min_max(Env& e, const Batch& b, Output& out) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  (void)b;
  const Str shop_key = *static_cast<const Str*>(b.column[0]);
  if (Sym key_1; find_text(e, shop_key, key_1)) {
    if (const auto* min_max_2 = s.m_min_max.find(e.arena, Rec_m_min_max::Key{key_1})) {
      FR_VISIT(1);
      if (min_max_2->sum != 0) {
        if (Sym key_3; find_text(e, shop_key, key_3)) {
          first_rows<false, as_sorted>(e.arena, s.m_min_max_2_U_o0, 1, [&](const Ord0_m_min_max_2& k, bool in) { FR_VISIT(1); (void)k; if (!same(k.items_shop_, key_3)) return sorts(k.items_shop_, key_3); return in; }, [&](const Ord0_m_min_max_2& k) { (void)k; return false; }, [&](const Ord0_m_min_max_2& k, const Sum_m_min_max_2& v) { (void)k; return v.sum; }, [&](const Ord0_m_min_max_2& entry_4, i64 nentry_4) {
            if (Sym key_5; find_text(e, shop_key, key_5)) {
              first_rows<true, as_sorted>(e.arena, s.m_min_max_2_U_o0, 1, [&](const Ord0_m_min_max_2& k, bool in) { FR_VISIT(1); (void)k; if (!same(k.items_shop_, key_5)) return sorts(k.items_shop_, key_5); return in; }, [&](const Ord0_m_min_max_2& k) { (void)k; return false; }, [&](const Ord0_m_min_max_2& k, const Sum_m_min_max_2& v) { (void)k; return v.sum; }, [&](const Ord0_m_min_max_2& entry_6, i64 nentry_6) {
                const Sym text_7 = put_text(e, shop_key);
                if (const i64 n = mul<i64>(o, nentry_4, nentry_6); n > 0) {
                  const i64 at = out.next();
                  out.count[at] = n;
                  static_cast<Sym*>(out.column[0])[at] = text_7;
                  static_cast<i64*>(out.column[1])[at] = entry_4.min_;
                  static_cast<i64*>(out.column[2])[at] = entry_6.min_;
                }
              });
            }
          });
        }
      }
    }
  }
  e.overflow |= o;
}

__attribute__((cold)) static void dump_min_max(Env& e, Output& out) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  s.m_min_max.each(e.arena, [&](const Rec_m_min_max& r) {
    if (r.sum == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<Sym*>(out.column[0])[at] = r.items_shop_;
    static_cast<i64*>(out.column[1])[at] = r.sum;
  });
  e.overflow |= o;
}
static u64 size_min_max(Env& e) {
  State& s = *e.state;
  return s.m_min_max.size();
}

__attribute__((cold)) static void dump_min_max_2(Env& e, Output& out) {
  [[maybe_unused]] State& s = *e.state;
  [[maybe_unused]] bool o = false;
  s.m_min_max_2.each(e.arena, [&](const Rec_m_min_max_2& r) {
    if (r.sum == 0) return;
    const i64 at = out.next();
    out.count[at] = 1;
    static_cast<Sym*>(out.column[0])[at] = r.items_shop_;
    static_cast<i64*>(out.column[1])[at] = r.min_;
    static_cast<i64*>(out.column[2])[at] = r.sum;
  });
  e.overflow |= o;
}
static u64 size_min_max_2(Env& e) {
  State& s = *e.state;
  return s.m_min_max_2.size();
}

static const Column in_items[] = {
  {"shop", Text, 0, false, true, true},
  {"price", Int, 0, false, true},
};

static const Column out_min_max[] = {
  {"shop", Text, 0, false, true},
  {"cheapest", Int, 0, false, true},
  {"dearest", Int, 0, false, true},
};

static const Column map_min_max[] = {
  {"items_shop", Text, 0, false, true},
  {"", Int, 0, false, true},
};

static const Column map_min_max_2[] = {
  {"items_shop", Text, 0, false, true},
  {"min", Int, 0, false, true},
  {"", Int, 0, false, true},
};

static const Relation all_relations[] = {
  {"items", 2, in_items, false, on_items},
};

static const Query all_queries[] = {
  {"min_max", 3, out_min_max, read_min_max, key_min_max, find_min_max, true},
};

static const Map all_maps[] = {
  {"min_max", 2, map_min_max, dump_min_max, size_min_max},
  {"min_max_2", 3, map_min_max_2, dump_min_max_2, size_min_max_2},
};

static void create(Env& e) {
  State& s = *e.state;
  s.strings.init(e.arena);
  s.m_min_max.init(e.arena);
  s.m_min_max_2.init(e.arena);
}
static Strings& strings_of(State& s) { return s.strings; }
static const char* const all_slots[] = {nullptr};
static Watch watch_of(State&) { return {}; }
static f64* gone_of(State&) { return nullptr; }
const Kernel kernel = {1, 1, 2, all_relations, all_queries, all_maps, sizeof(State), strings_of, create, ready, 0, all_slots, watch_of, gone_of};

}  // namespace fr

#include "boundary.hpp"
