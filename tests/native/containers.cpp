// The containers of native/ against the standard library's, case by case: `containers CASE`.
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "flat.hpp"
#include "kernel.hpp"
#include "journal.hpp"
#include "ordered.hpp"
#include "pool.hpp"
#include "rows.hpp"
#include "strings.hpp"
#include "sum.hpp"

namespace fr {
struct State {
  Strings strings;
};
}  // namespace fr

#include "support.hpp"

using namespace fr;

#define CHECK(fact)                                                    \
  do {                                                                 \
    if (!(fact)) {                                                     \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #fact); \
      exit(1);                                                         \
    }                                                                  \
  } while (0)

namespace {

// --- What a generator would write -------------------------------------------------------------

enum Hashing { good, crowded, constant };

template <Hashing how> u64 hash_of(i64 a, Sym b) {
  if (how == constant) return 42;
  u64 hash = mix(mix(word(a), word(b)), 7);
  return how == crowded ? hash % 5000 << 32 : hash;  // no upper bits, and few values
}

template <Hashing how = good> struct Pair {
  i64 k0;
  Sym k1;
  i64 p0;
  i128 p1;

  struct Key {
    i64 k0;
    Sym k1;
  };
  static u64 hash(const Key& key) { return hash_of<how>(key.k0, key.k1); }
  u64 hash() const { return hash_of<how>(k0, k1); }
  bool is(const Key& key) const { return k0 == key.k0 && k1 == key.k1; }
  void set(const Key& key) { k0 = key.k0, k1 = key.k1; }
  bool empty() const { return p0 == 0 && p1 == 0; }
};

struct Row {
  i64 k0, k1, p0;
  u32 link[4];

  struct Key {
    i64 k0, k1;
  };
  static u64 hash(const Key& key) { return mix(mix(word(key.k0), word(key.k1)), 7); }
  u64 hash() const { return hash(Key{k0, k1}); }
  bool is(const Key& key) const { return k0 == key.k0 && k1 == key.k1; }
  void set(const Key& key) { k0 = key.k0, k1 = key.k1; }
  bool empty() const { return p0 == 0; }
};

template <i64 Row::*column> struct By {
  i64 k0;
  u32 first, count;

  struct Key {
    i64 k0;
  };
  static Key of(const Row& row) { return Key{row.*column}; }
  static u64 hash(const Key& key) { return mix(word(key.k0), 7); }
  u64 hash() const { return hash(Key{k0}); }
  bool is(const Key& key) const { return k0 == key.k0; }
  void set(const Key& key) { k0 = key.k0; }
  bool empty() const { return first == 0; }
};

using Indexed = Pool<Row, By<&Row::k0>, By<&Row::k1>>;

struct Price {
  i64 k;
  bool less(Arena&, const Price& other) const { return k < other.k; }
  bool is(const Price& other) const { return k == other.k; }
  static constexpr bool plain = true;
};

struct Counted {
  i64 n, sum;
  void add(const Counted& other) { n += other.n, sum += other.sum; }
  void add_far(const Counted& other) { add(other); }
  bool is_near() const { return true; }
  bool empty() const { return n == 0 && sum == 0; }
  static constexpr bool exact = true;
  bool operator==(const Counted& other) const { return n == other.n && sum == other.sum; }
};

struct Inexact {
  i64 n;
  Sum sum;
  void add(const Inexact& other) { n += other.n, gain(sum, other.sum); }
  bool empty() const { return n == 0 && sum.gone(); }
  Inexact operator-() const { return {-n, -sum}; }
  bool is_near() const { return fr::is_near(sum); }
  static constexpr bool exact = false;
};

struct InexactTotal {
  Addition sum;
  void add(const Inexact& x) { sum.add(x.sum); }
  void add_far(const Inexact& x) { sum.add_far(x.sum); }
  bool is_near() const { return sum.is_near(); }
};

struct Maps {
  Strings strings;
  Flat<Pair<>> flat;
  Indexed rows;
  Ordered<Price, Counted> ordered;
};

// --- Helpers ----------------------------------------------------------------------------------

std::mt19937_64 dice(20240229);
i64 roll(i64 below) { return i64(dice() % u64(below)); }

struct Opened : Arena {
  Opened() { CHECK(Arena::open(*this)); }
  ~Opened() { close(); }
  Opened(const Opened&) = delete;
};

Str str(const std::string& text) { return Str{text.data(), u32(text.size())}; }

std::string text_of(Arena& arena, const Strings& strings, Sym sym) {
  char room[8];
  Str text = strings.get(arena, sym, room);
  return std::string(text.at, text.size);
}

bool is_zero(Arena& arena, u64 block, u64 bytes) {
  u8* at = arena.at<u8>(block);
  return std::all_of(at, at + bytes, [](u8 byte) { return byte == 0; });
}

// --- Arena ------------------------------------------------------------------------------------

void arena_blocks() {
  Opened arena;
  std::vector<std::pair<u64, u64>> blocks;
  CHECK(arena.used() == Arena::start);
  for (int i = 0; i < 2000; ++i) {
    u64 bytes = u64(roll(i % 100 == 0 ? 1 << 20 : 1 << (1 + roll(12))));
    u64 block = arena.take(bytes);
    CHECK(i > 0 || block == Arena::start);
    CHECK(block % (bytes < 64 ? 16 : 64) == 0);
    CHECK(is_zero(arena, block, bytes));
    memset(arena.at<u8>(block), 0xff, bytes);
    blocks.emplace_back(block, bytes);
    if (roll(3) == 0) {
      std::swap(blocks[u64(roll(i64(blocks.size())))], blocks.back());
      arena.give(blocks.back().first, blocks.back().second);
      blocks.pop_back();
    }
  }
  std::sort(blocks.begin(), blocks.end());
  for (u64 i = 0; i + 1 < blocks.size(); ++i)
    CHECK(blocks[i].first + blocks[i].second <= blocks[i + 1].first);
}

void arena_reuse() {
  Opened arena;
  u64 high = 0;
  for (int round = 0; round < 5; ++round) {
    std::vector<u64> blocks;
    for (u64 bytes = 1; bytes < 100000; bytes += 1 + bytes / 7) blocks.push_back(arena.take(bytes));
    u64 i = 0;
    for (u64 bytes = 1; bytes < 100000; bytes += 1 + bytes / 7) arena.give(blocks[i++], bytes);
    if (round == 0) high = arena.used();
    CHECK(arena.used() == high);
  }
}

void arena_reset() {
  Opened arena;
  for (u64 total : {0ull, 100ull, 5ull << 20, 100ull << 20, 1000ull}) {
    u64 block = arena.take(total);
    CHECK(block == Arena::start);
    CHECK(is_zero(arena, block, total));
    memset(arena.at<u8>(block), 0xff, total);
    u64 other = arena.take(48);
    arena.give(other, 48);
    arena.reset();
    CHECK(arena.used() == Arena::start);
  }
}

void arena_exhausted() {
  pid_t child = fork();
  if (child == 0) {
    Arena arena;
    CHECK(Arena::open(arena, -1, u64(1) << 32));
    arena.take(u64(1) << 33);
    _exit(0);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status) || WEXITSTATUS(status) != 0);
}

// --- Strings ----------------------------------------------------------------------------------

void strings_random() {
  Opened arena;
  Strings strings{};
  std::map<std::string, u64> seen;
  std::set<u64> symbols;
  for (int i = 0; i < 60000; ++i) {
    std::string text(u64(i % 500 == 0 ? roll(3000) : roll(24)), 'x');
    for (char& c : text) c = char('a' + roll(text.size() < 9 ? 2 : 26));
    Sym sym = strings.put(arena, str(text));
    auto [at, is_new] = seen.emplace(text, sym.bits);
    CHECK(at->second == sym.bits);
    CHECK(symbols.insert(sym.bits).second == is_new);
  }
  for (auto& [text, bits] : seen) {
    CHECK(text_of(arena, strings, Sym{bits}) == text);
    Sym sym;
    CHECK(strings.find(arena, str(text), sym) && sym.bits == bits);
  }
  auto is_long = [](auto& one) { return one.first.size() > 7; };
  CHECK(strings.size() == u64(std::count_if(seen.begin(), seen.end(), is_long)));
}

void strings_edges() {
  Opened arena;
  Strings strings{};
  Sym sym;
  char room[8];
  CHECK(is_null(strings.put(arena, null<Str>())));
  CHECK(strings.find(arena, null<Str>(), sym) && is_null(sym));
  CHECK(strings.get(arena, null<Sym>(), room).at == nullptr);
  CHECK(!strings.find(arena, str("not seen yet"), sym));
  CHECK(strings.find(arena, str("seven b"), sym) && text_of(arena, strings, sym) == "seven b");
  for (std::string text : {std::string(), std::string(1, '\0'), std::string(7, '\xff'),
                           std::string(8, '\0'), std::string(9, '\0'), std::string("zażółć gęślą"),
                           std::string(200000, 'y')}) {
    sym = strings.put(arena, str(text));
    CHECK(!is_null(sym));
    CHECK(text_of(arena, strings, sym) == text);
  }
  CHECK(strings.size() == 4);
  CHECK(strings.put(arena, str("a")).bits >> 56 == 1);
  CHECK(strings.put(arena, str("a")) != strings.put(arena, str(std::string("a\0", 2))));
}

void text_order() {
  std::vector<std::string> sorted = {"", "A", "a", "ab", "abc", "b", "z", "é", "€", "𝄞"};
  for (u64 i = 0; i < sorted.size(); ++i)
    for (u64 j = 0; j < sorted.size(); ++j) {
      int order = text_compare(str(sorted[i]), str(sorted[j]));
      CHECK((order > 0) - (order < 0) == (i > j) - (i < j));
      CHECK(text_equal(str(sorted[i]), str(sorted[j])) == (i == j));
    }
}

bool like_slowly(const char* t, const char* p) {
  auto step = [](const char* at) {
    do ++at;
    while ((u8(*at) & 0xc0) == 0x80);
    return at;
  };
  if (*p == 0) return *t == 0;
  if (*p == '%') return like_slowly(t, p + 1) || (*t && like_slowly(step(t), p));
  if (*p == '_') return *t && like_slowly(step(t), p + 1);
  return *t == *p && like_slowly(t + 1, p + 1);
}

void text_patterns() {
  // A pattern as SQL writes it, first made into what `text_like` follows.
  auto like = [](const std::string& t, const std::string& p) {
    std::string room(p.size() + 1, 0);
    Str pattern;
    CHECK(read_pattern(str(p), Str{"!", 1}, room.data(), pattern));
    return text_like(str(t), pattern);
  };
  CHECK(like("a%", "a!%") && !like("ab", "a!%") && like("a_b", "a!_b") && !like("axb", "a!_b"));
  CHECK(like("!", "!!") && like("a!%x", "a!!!%_") && !like("a!bx", "a!!!%_"));
  char room[8];
  Str bad;
  CHECK(!read_pattern(Str{"a!", 2}, Str{"!", 1}, room, bad) && !read_pattern(Str{"!b", 2}, Str{"!", 1}, room, bad));
  CHECK(read_pattern(Str{"é%é_", 6}, Str{"é", 2}, room, bad) && text_like(Str{"%_", 2}, bad));
  CHECK(like("", "") && like("", "%") && !like("", "_") && !like("a", ""));
  CHECK(like("special requests", "%special%requests%"));
  CHECK(!like("requests special", "%special%requests%"));
  CHECK(like("żółw", "____") && !like("żółw", "_____") && like("żółw", "ż%_w"));
  CHECK(like("a%b", "a%b") && like("PROMO BRASS", "PROMO%") && !like("promo", "PROMO%"));
  const char* letters[] = {"a", "b", "é", "%", "_"};
  for (int i = 0; i < 50000; ++i) {
    std::string text, pattern;
    for (i64 n = roll(9); n > 0; --n) text += letters[roll(3)];
    for (i64 n = roll(7); n > 0; --n) pattern += letters[roll(5)];
    CHECK(like(text, pattern) == like_slowly(text.c_str(), pattern.c_str()));
  }
}

// --- Flat -------------------------------------------------------------------------------------

using Model = std::map<std::pair<i64, u64>, std::pair<i64, i128>>;

template <class Rec> void change(Arena& arena, Flat<Rec>& map, Model& model, i64 a, u64 b, i64 by) {
  Rec* rec = map.at(arena, {a, Sym{b}});
  rec->p0 += by;
  rec->p1 -= by;
  if (rec->empty()) map.drop(arena, rec);
  auto& [p0, p1] = model[{a, b}];
  p0 += by, p1 -= by;
  if (p0 == 0) model.erase({a, b});
}

template <class Rec> void compare(Arena& arena, Flat<Rec>& map, const Model& model) {
  CHECK(map.size() == model.size());
  for (auto& [key, payload] : model) {
    Rec* rec = map.find(arena, {key.first, Sym{key.second}});
    CHECK(rec && rec->p0 == payload.first && rec->p1 == payload.second);
  }
  u64 n = 0;
  map.each(arena, [&](Rec& rec) {
    CHECK(model.count({rec.k0, rec.k1.bits}));
    ++n;
  });
  CHECK(n == model.size());
}

// Up to `keys` keys come and go; zero keys too, which look like an empty slot.
template <Hashing how> void flat_against_model(i64 keys, int changes, i64 highest) {
  Opened arena;
  Flat<Pair<how>> map{};
  Model model;
  compare(arena, map, model);
  CHECK(map.find(arena, {0, Sym{0}}) == nullptr);
  for (int i = 0; i < changes; ++i) {
    i64 key = roll(keys);
    change(arena, map, model, key % 1000, u64(key / 1000), roll(2) ? 1 : -roll(highest) - 1);
    if (i == changes / 3 || roll(changes) < 3) compare(arena, map, model);
    CHECK(map.bytes() <= 100 * (1000 + map.size()) * sizeof(Pair<how>));
  }
  compare(arena, map, model);
  CHECK(map.find(arena, {-1, Sym{0}}) == nullptr);
  while (!model.empty()) {
    auto [key, payload] = *model.begin();
    change(arena, map, model, key.first, key.second, -payload.first);
  }
  compare(arena, map, model);
  CHECK(map.bytes() < 64 * sizeof(Pair<how>));
}

void flat_random() {
  for (i64 keys : {1, 2, 7, 20, 300, 5000}) flat_against_model<good>(keys, 20000, 1);
  flat_against_model<good>(100000, 120000, 2);
}

void flat_poor_hash() {
  flat_against_model<crowded>(8000, 16000, 1);
  flat_against_model<constant>(300, 3000, 1);
}

void flat_growth() {
  Opened arena;
  Flat<Pair<>> map{};
  u64 before = 0;
  for (i64 i = 0; i < 200000; ++i) {
    map.prefetch(arena, Pair<>::hash({i, Sym{1}}));
    map.at(arena, {i, Sym{1}})->p0 = i + 1;
    if (i > 4000) CHECK(map.bytes() - before <= (2048 + i / 100) * sizeof(Pair<>));
    before = map.bytes();
  }
  CHECK(map.size() == 200000);
  CHECK(map.bytes() < 3 * 200000 * sizeof(Pair<>));
  for (i64 i = 0; i < 200000; ++i) CHECK(map.find(arena, {i, Sym{1}})->p0 == i + 1);
  for (i64 i = 0; i < 2000; ++i) CHECK(!map.find(arena, {i, Sym{2}}));
  map.clear(arena);
  CHECK(map.size() == 0 && map.bytes() == 0);
  CHECK(map.find(arena, {1, Sym{1}}) == nullptr);
}

void flat_churn() {
  Opened arena;
  Flat<Pair<>> map{};
  u64 high = 0;
  for (int round = 0; round < 12; ++round) {
    for (i64 i = 0; i < 6000; ++i) map.at(arena, {round * 10000 + i, Sym{0}})->p0 = 1;
    for (i64 i = 0; i < 6000; ++i) {
      Pair<>* rec = map.find(arena, {round * 10000 + i, Sym{0}});
      rec->p0 = 0;
      map.drop(arena, rec);
    }
    if (round == 3) high = arena.used();
  }
  CHECK(arena.used() <= high + high / 4);
}

// --- Pool -------------------------------------------------------------------------------------

using RowModel = std::map<std::pair<i64, i64>, i64>;

void change(Arena& arena, Indexed& rows, RowModel& model, i64 a, i64 b, i64 by) {
  Row* row = rows.at(arena, {a, b});
  row->p0 += by;
  if (row->empty()) rows.drop(arena, row);
  if ((model[{a, b}] += by) == 0) model.erase({a, b});
}

template <int J> void compare_slices(Arena& arena, Indexed& rows, const RowModel& model, i64 highest) {
  std::map<i64, RowModel> slices;
  for (auto& [key, p] : model) slices[J == 0 ? key.first : key.second][key] = p;
  for (i64 i = -1; i <= highest; ++i) {
    RowModel slice;
    typename std::conditional<J == 0, By<&Row::k0>, By<&Row::k1>>::type::Key key{i};
    rows.slice<J>(arena, key, [&](Row& row) { slice[{row.k0, row.k1}] = row.p0; });
    CHECK(slice == slices[i]);
  }
}

void compare(Arena& arena, Indexed& rows, const RowModel& model, i64 a, i64 b) {
  CHECK(rows.size() == model.size());
  RowModel all;
  rows.each(arena, [&](Row& row) { CHECK(all.emplace(std::pair(row.k0, row.k1), row.p0).second); });
  CHECK(all == model);
  for (auto& [key, p] : model) {
    rows.prefetch(arena, Row::hash({key.first, key.second}));
    Row* row = rows.find(arena, {key.first, key.second});
    CHECK(row && row->p0 == p);
  }
  CHECK(!rows.find(arena, {a, b}));
  compare_slices<0>(arena, rows, model, a);
  compare_slices<1>(arena, rows, model, b);
}

void pool_random() {
  for (auto [a, b, changes] : {std::tuple(1, 1, 200), std::tuple(3, 50, 5000),
                               std::tuple(200, 200, 60000), std::tuple(5000, 10, 60000)}) {
    Opened arena;
    Indexed rows{};
    RowModel model;
    compare(arena, rows, model, a, b);
    for (int i = 0; i < changes; ++i) {
      change(arena, rows, model, roll(a), roll(b), roll(2) ? 1 : -1);
      if (i == changes / 2) compare(arena, rows, model, a, b);
    }
    compare(arena, rows, model, a, b);
    while (!model.empty()) {
      auto [key, p] = *model.begin();
      change(arena, rows, model, key.first, key.second, -p);
    }
    compare(arena, rows, model, a, b);
    for (int i = 0; i < 1000; ++i) change(arena, rows, model, roll(a), roll(b), 1);
    compare(arena, rows, model, a, b);
    rows.clear(arena);
    CHECK(rows.bytes() == 0);
    compare(arena, rows, {}, a, b);
  }
}

void pool_stays_put() {
  Opened arena;
  Indexed rows{};
  std::vector<Row*> at;
  for (i64 i = 0; i < 100000; ++i) {
    at.push_back(rows.at(arena, {i % 100, i}));
    at.back()->p0 = i + 1;
  }
  for (i64 i = 0; i < 100000; ++i) CHECK(rows.find(arena, {i % 100, i}) == at[u64(i)]);
  u64 found = 0;
  rows.slice<0>(arena, By<&Row::k0>::Key{7}, [&](Row&) { ++found; });
  CHECK(found == 1000);
}

// Large records are in a pool also where nobody asks for slices.
void pool_without_indexes() {
  Opened arena;
  Pool<Row> rows{};
  RowModel model;
  for (int i = 0; i < 60000; ++i) {
    i64 a = roll(50), b = roll(200), by = roll(2) ? 1 : -1;
    Row* row = rows.at(arena, {a, b});
    row->p0 += by;
    if (row->empty()) rows.drop(arena, row);
    if ((model[{a, b}] += by) == 0) model.erase({a, b});
  }
  RowModel all;
  rows.each(arena, [&](Row& row) { all[{row.k0, row.k1}] = row.p0; });
  CHECK(all == model && rows.size() == model.size());
  for (i64 a = 0; a < 50; ++a)
    for (i64 b = 0; b < 201; ++b)
      CHECK((rows.find(arena, {a, b}) != nullptr) == (model.count({a, b}) == 1));
}

void pool_churn() {
  Opened arena;
  Indexed rows{};
  RowModel model;
  u64 high = 0;
  for (i64 i = 0; i < 60000; ++i) {  // a window of 1000 rows that moves on
    change(arena, rows, model, i % 50, i, 1);
    if (i >= 1000) change(arena, rows, model, (i - 1000) % 50, i - 1000, -1);
    if (i == 10000) high = arena.used();
  }
  CHECK(rows.size() == 1000);
  CHECK(arena.used() <= high + high / 4);
  compare(arena, rows, model, 50, 0);
}

// --- Ordered ----------------------------------------------------------------------------------

using Prices = Ordered<Price, Counted>;
// --- Rows -------------------------------------------------------------------------------------

// Rows come in the order of their first keys; what cancels out is not there, and may come back.
template <Hashing how> void rows_against_model(i64 keys, int changes) {
  Opened arena;
  Rows<Pair<how>> rows{};
  Model model;
  std::vector<i64> came;
  CHECK(rows.find(arena, {0, Sym{0}}) == nullptr);
  for (int i = 0; i < changes; ++i) {
    i64 key = roll(keys), by = roll(2) ? 1 : -1;
    if (std::find(came.begin(), came.end(), key) == came.end()) came.push_back(key);
    Pair<how>* rec = rows.at(arena, {key, Sym{0}});
    rec->p0 += by;
    auto& p0 = model[{key, 0}].first;
    if ((p0 += by) == 0) model.erase({key, 0});
    Pair<how>* found = rows.find(arena, {key, Sym{0}});
    CHECK(model.count({key, 0}) ? found == rec : found == nullptr);
  }
  for (u32 ahead : {0u, 1u, 8u}) {
    std::vector<i64> soon, seen, there;
    rows.each(arena, ahead, [&](const Pair<how>& rec) { soon.push_back(rec.k0); },
              [&](Pair<how>& rec) {
                CHECK(model[std::pair(rec.k0, u64(0))].first == rec.p0);
                seen.push_back(rec.k0);
              });
    for (i64 key : came)
      if (model.count({key, 0})) there.push_back(key);
    CHECK(seen == there && (ahead == 0 || soon == came));
  }
  CHECK(rows.size() == came.size() && rows.find(arena, {keys, Sym{0}}) == nullptr);
}

void rows_random() {
  for (auto [keys, changes] : {std::pair(1, 20), std::pair(40, 500), std::pair(3000, 9000)})
    rows_against_model<good>(keys, changes);
  rows_against_model<constant>(300, 1000);
}

using PriceModel = std::map<i64, Counted>;

void change(Arena& arena, Prices& prices, PriceModel& model, i64 k, Counted by) {
  prices.add(arena, Price{k}, by);
  model[k].add(by);
  if (model[k].empty()) model.erase(k);
}

auto below(i64 k) { return [k](const Price& price) { return price.k < k; }; }
bool never(const Price&) { return false; }
bool always(const Price&) { return true; }

void compare_range(Arena& arena, Prices& prices, const PriceModel& model, i64 from, i64 to) {
  Counted between{};
  std::vector<i64> keys, seen, back;
  const u64 most = u64(1 + roll(roll(2) ? 3 : 300));
  for (auto& [k, val] : model)
    if (k >= from && k < to) between.add(val), keys.push_back(k);
  Counted summed{};
  prices.sum_between(arena, below(from), below(to), summed);
  CHECK(summed == between);

  prices.each(arena, below(from), below(to), [&](const Price& price, const Counted& val) {
    CHECK(val == model.at(price.k));
    seen.push_back(price.k);
    return seen.size() < most;
  });
  prices.each_back(arena, below(from), below(to), [&](const Price& price, const Counted& val) {
    CHECK(val == model.at(price.k));
    back.push_back(price.k);
    return back.size() < most;
  });
  u64 n = std::min<u64>(most, keys.size());
  CHECK(seen == std::vector<i64>(keys.begin(), keys.begin() + i64(n)));
  CHECK(back == std::vector<i64>(keys.rbegin(), keys.rbegin() + i64(n)));

  Price price;
  Counted val;
  auto next = model.lower_bound(from);
  CHECK(prices.first(arena, below(from), price, val) == (next != model.end()));
  if (next != model.end()) CHECK(price.k == next->first && val == next->second);
}

// The first entry of those where a condition on the rows on one side does not hold: here, that there
// are no more than `most` before it, or more than that behind.
template <bool behind, bool own> void compare_turn(Arena& arena, Prices& prices, const PriceModel& model) {
  struct Rows {
    i64 n;
    void add(const Counted& x) { n += x.n; }
    void add_far(const Counted& x) { n += x.n; }
    bool is_near() const { return true; }
  };
  i64 all = 0;
  for (auto& [k, val] : model) all += val.n;
  for (i64 most : {i64(-1), i64(0), roll(all + 2), roll(all + 2), all - 1, all, all + 1}) {
    auto holds = [&](i64 n) { return behind ? n > most : n <= most; };
    auto wanted = model.begin();
    for (i64 before = 0; wanted != model.end(); ++wanted) {
      const i64 upto = before + wanted->second.n;
      if (!holds(behind ? (own ? all - before : all - upto) : own ? upto : before)) break;
      before = upto;
    }
    Price price{-7};
    const bool exists = prices.turn<behind, own, Rows>(arena, [&](const Rows& x) { return holds(x.n); }, price);
    CHECK(exists == (wanted != model.end()));
    CHECK(!exists || price.k == wanted->first);
  }
}

void compare(Arena& arena, Prices& prices, const PriceModel& model, i64 keys) {
  CHECK(prices.size() == model.size());
  compare_turn<true, true>(arena, prices, model);
  compare_turn<true, false>(arena, prices, model);
  compare_turn<false, true>(arena, prices, model);
  compare_turn<false, false>(arena, prices, model);
  Counted total{};
  for (auto& [k, val] : model) total.add(val);
  std::vector<i64> all;
  prices.each(arena, never, always, [&](const Price& price, const Counted& val) {
    CHECK(val == model.at(price.k));
    all.push_back(price.k);
    return true;
  });
  CHECK(all.size() == model.size() && std::is_sorted(all.begin(), all.end()));
  Counted summed{};
  prices.sum_between(arena, never, always, summed);
  CHECK(summed == total);
  compare_range(arena, prices, model, 0, keys);
  for (int i = 0; i < 30; ++i)
    compare_range(arena, prices, model, roll(keys + 2) - 1, roll(keys + 2) - 1);
}

void ordered_random() {
  for (auto [keys, changes] : {std::pair(1, 50), std::pair(40, 2000), std::pair(700, 10000),
                               std::pair(100000, 100000)}) {
    Opened arena;
    Prices prices{};
    PriceModel model;
    compare(arena, prices, model, keys);
    for (int i = 0; i < changes; ++i) {
      i64 k = roll(keys);
      auto old = model.find(k);
      if (old != model.end() && roll(2))
        change(arena, prices, model, k, {-old->second.n, -old->second.sum});
      else
        change(arena, prices, model, k, {1 + roll(3), roll(100)});
      if (roll(changes) < 5) compare(arena, prices, model, keys);
    }
    compare(arena, prices, model, keys);
    prices.clear(arena);
    CHECK(prices.bytes() == 0);
    compare(arena, prices, {}, keys);
  }
}

void ordered_shrinks() {
  Opened arena;
  Prices prices{};
  PriceModel model;
  for (i64 i = 0; i < 50000; ++i) change(arena, prices, model, i * 7919 % 50021, {1, i});
  for (i64 k = 0; k < 50021; ++k)
    if (k % 100 && model.count(k))
      change(arena, prices, model, k, {-model[k].n, -model[k].sum});
  CHECK(prices.size() > 400);
  CHECK(prices.bytes() < prices.size() * (sizeof(Price) + sizeof(Counted)) * 6);
  compare(arena, prices, model, 50021);
  while (!model.empty()) {
    auto [k, val] = *model.begin();
    change(arena, prices, model, k, {-val.n, -val.sum});
  }
  CHECK(prices.bytes() == 0);
  compare(arena, prices, model, 10);
}

void ordered_window() {
  Opened arena;
  Prices prices{};
  PriceModel model;
  u64 high = 0;
  for (i64 t = 0; t < 60000; ++t) {
    change(arena, prices, model, t, {1, t});
    if (t >= 5000) change(arena, prices, model, t - 5000, {-1, 5000 - t});
    if (t == 20000) high = prices.bytes();
    if (t % 7000 == 0) compare(arena, prices, model, t + 1);
  }
  CHECK(prices.bytes() <= high + high / 8);
  // Ascending keys fill their nodes: little more than the entries themselves.
  CHECK(high < 5000 * (sizeof(Price) + sizeof(Counted)) * 3 / 2);
}

void ordered_doubles() {
  Opened arena;
  Ordered<Price, Inexact> prices{};
  std::map<i64, f64> model;
  auto set = [&](i64 k, i64 n, Sum x) { prices.add(arena, Price{k}, {n, x}); };  // inexact: replaces
  auto sum_up = [&](i64 from, i64 to) {
    InexactTotal total{};
    prices.sum_between(arena, below(from), below(to), total);
    return value(total.sum.sum());
  };
  const Sum none{0, 0, 0}, huge = lift(1e18), most = lift(1.7e308);
  const Sum beyond = times(most, times(most, times(most, most)));  // no finite number, even if far
  auto check = [&](i64 from, i64 to) {
    f64 sum = 0;
    for (auto& [k, x] : model)
      if (k >= from && k < to) sum += x;
    CHECK(std::abs(sum_up(from, to) - sum) < 1e-6);
  };
  for (i64 k = 0; k < 6000; k += 2)
    set(k, 2, lift(5.0)), set(k, 1, lift(model[k] = f64(roll(1000)) / 7));
  // Large values come and go; what they covered up must come back.
  for (const Sum& x : {huge, most, beyond}) {
    for (int i = 0; i < 3000; ++i) {
      i64 k = 2 * roll(3000) + 1;
      set(k, 1, x);
      if (i % 100 == 0) CHECK(sum_up(k, k + 1) == value(x));
      set(k, 0, none);
      set(k, 0, none);
      if (i % 100 == 0) check(roll(3000), 3000 + roll(3000));
    }
    CHECK(prices.size() == 3000);
    check(0, 9999);
  }
  // Numbers of which each is in range, and their sum is not.
  for (i64 k = 1; k < 200; k += 2) set(k, 1, most);
  CHECK(!is_finite(sum_up(0, 9999)));
  check(200, 9999);
  for (i64 k = 1; k < 200; k += 2) set(k, 0, none);
  check(0, 9999);
  set(9999, 1, huge);
  set(-5, 1, huge);
  check(0, 9999);
}

// Indexed of (group, x), x perhaps NULL, and how often each is there: also less than never.
struct InGroup {
  i64 group, x;
  bool less(Arena&, const InGroup& other) const {
    return group != other.group ? group < other.group : x < other.x;
  }
  bool is(const InGroup& other) const { return group == other.group && x == other.x; }
  static constexpr bool plain = true;
};
using Counts = std::map<std::pair<i64, i64>, i64>;
using Taken = std::vector<std::pair<i64, i64>>;

template <bool back, Nulls nulls>
void compare_first_rows(Arena& arena, const Ordered<InGroup, Counted>& index, const Counts& model,
                        i64 group, i64 limit) {
  Taken rows, expected, found;
  for (auto& [key, n] : model)
    if (key.first == group && n > 0) rows.emplace_back(key.second, n);
  if (back) std::reverse(rows.begin(), rows.end());
  if (nulls != as_sorted)
    std::stable_partition(rows.begin(), rows.end(), [](auto& row) {
      return is_null(row.first) == (nulls == first);
    });
  i64 left = limit;
  for (auto& [x, n] : rows) {
    if (left > 0) expected.emplace_back(x, std::min(left, n));
    left -= n;
  }
  first_rows<back, nulls>(
      arena, index, limit,
      [&](const InGroup& k, bool same) { return k.group == group ? same : k.group < group; },
      [&](const InGroup& k) { return is_null(k.x); },
      [&](const InGroup&, const Counted& val) { return val.n; },
      [&](const InGroup& k, i64 n) { found.emplace_back(k.x, n); });
  CHECK(found == expected);
}

void ordered_first_rows() {
  for (i64 values : {1, 5, 300}) {
    Opened arena;
    Ordered<InGroup, Counted> index{};
    Counts model;
    for (int i = 0; i < 4000; ++i) {
      i64 group = roll(4), x = roll(values), by = roll(3) ? 1 : -1;
      if (x == values - 1) x = null<i64>();
      index.add(arena, InGroup{group, x}, {by, 0});
      if ((model[{group, x}] += by) == 0) model.erase({group, x});
      if (i % 10) continue;
      i64 asked = roll(6) - 1, limit = roll(4) ? 1 : roll(40);
      compare_first_rows<false, as_sorted>(arena, index, model, asked, limit);
      compare_first_rows<false, first>(arena, index, model, asked, limit);
      compare_first_rows<false, last>(arena, index, model, asked, limit);
      compare_first_rows<true, as_sorted>(arena, index, model, asked, limit);
      compare_first_rows<true, first>(arena, index, model, asked, limit);
      compare_first_rows<true, last>(arena, index, model, asked, limit);
    }
  }
}

// An end is found by a search, not by a walk.
void ordered_ends() {
  Opened arena;
  Prices prices{};
  for (i64 k = 0; k < 200000; ++k) prices.add(arena, Price{k * 7919 % 200003}, {1, k});
  int asked = 0;
  auto upto = [&](const Price& price) { return ++asked, price.k < 150000; };
  auto before = [&](const Price& price) { return ++asked, price.k < 50000; };
  auto stop = [](const Price&, const Counted&) { return false; };
  prices.each(arena, before, upto, stop);
  prices.each_back(arena, before, upto, stop);
  CHECK(asked < 80);
}

// Built of sorted entries, a map is the one that they make one by one, and changes like it.
void ordered_build() {
  for (i64 size : {1, 28, 29, 392, 393, 20000}) {
    Opened arena, scratch;
    Prices prices{};
    PriceModel model;
    Gathered<Price, Counted> gathered;
    for (i64 i = 0; i < size; ++i) {
      i64 k = roll(2 * size);
      gathered.add(scratch, Price{k}, {1, k});
      model[k].add({1, k});
      if (roll(4)) continue;
      gathered.add(scratch, Price{k}, {-1, -k});
      model[k].add({-1, -k});
      if (model[k].empty()) model.erase(k);
    }
    gathered.pour(arena, scratch, prices);
    compare(arena, prices, model, 2 * size);
    for (int round = 0; round < 4; ++round) {
      Gathered<Price, Counted> more;
      for (i64 i = round % 2 ? size / 20 : size; i >= 0; --i) {
        i64 k = roll(3 * size);
        auto old = model.find(k);
        Counted by = old == model.end() ? Counted{1, k} : Counted{-old->second.n, -old->second.sum};
        more.add(scratch, Price{k}, by);
        model[k].add(by);
        if (model[k].empty()) model.erase(k);
      }
      more.pour(arena, scratch, prices);
      compare(arena, prices, model, 3 * size);
      for (int i = 0; i < 200; ++i) change(arena, prices, model, roll(3 * size), {1, 1});
      compare(arena, prices, model, 3 * size);
    }
    prices.clear(arena);
    CHECK(prices.bytes() == 0);
  }
}

struct Noted {
  struct Key { i64 k; };
  i64 k, n;
  bool noted;
  static u64 hash(const Key& key) { return mix(u64(key.k), 0); }
  bool is(const Key& key) const { return k == key.k; }
  u64 hash() const { return hash(Key{k}); }
  void set(const Key& key) { k = key.k, noted = false; }
  Key key() const { return Key{k}; }
  bool empty() const { return n == 0; }
};

// What a journal tells of its records takes what they were to what they are, whatever came between.
void journal_random() {
  for (i64 keys : {1, 20, 5000}) {
    Opened arena;
    Flat<Noted> table{};
    Journal<Noted> journal{};
    std::map<i64, i64> shown;
    u64 used = 0;
    for (int round = 0; round < 60; ++round) {
      const i64 changes = round % 3 ? roll(20) : roll(2 * keys);
      for (i64 i = 0; i < changes; ++i) {
        Noted* rec = table.at(arena, Noted::Key{roll(keys)});
        if (!rec->noted) journal.note(arena, *rec, table.size());
        rec->n += roll(3) - 1;
        if (rec->empty()) table.drop(arena, rec);
      }
      if (journal.is_whole()) shown.clear();
      journal.before(arena, [&](const Noted& r) {
        if (!r.n) return;
        CHECK(shown.at(r.k) == r.n);
        shown.erase(r.k);
      });
      journal.after(arena, table, [&](const Noted& r) {
        CHECK(!r.noted && shown.emplace(r.k, r.n).second);
      });
      CHECK(journal.is_empty());
      std::map<i64, i64> all;
      table.each(arena, [&](const Noted& r) { all.emplace(r.k, r.n); });
      CHECK(all == shown);
      if (round == 30) used = arena.used();
    }
    CHECK(arena.used() <= used + used / 2);  // blocks come back
  }
}

struct Word {
  Sym k;
  bool less(Arena& arena, const Word& other) const { return text_sorts(arena, k, other.k); }
  bool is(const Word& other) const { return k == other.k; }
  static constexpr bool plain = false;
};

void ordered_texts() {
  Opened arena;
  State& state = *arena.at<State>(arena.take(sizeof(State)));
  Ordered<Word, Counted> words{};
  std::map<std::string, i64> model;
  words.add(arena, Word{null<Sym>()}, {1, 0});
  for (int i = 0; i < 20000; ++i) {
    std::string text(u64(roll(12)), 'x');
    for (char& c : text) c = char('a' + roll(2));
    words.add(arena, Word{state.strings.put(arena, str(text))}, {1, 0});
    ++model[text];
  }
  auto next = model.begin();
  auto compare = [&](const Word& word, const Counted& val) {
    if (is_null(word.k)) return next == model.begin();
    CHECK(text_of(arena, state.strings, word.k) == next->first && val.n == next->second);
    return ++next, true;
  };
  words.each(arena, [](const Word&) { return false; }, [](const Word&) { return true; }, compare);
  CHECK(next == model.end());
}

// --- The whole state --------------------------------------------------------------------------

struct Whole {
  Model flat;
  RowModel rows;
  PriceModel prices;
  std::map<std::string, u64> texts;
};

void change(Arena& arena, Maps& state, Whole& model, int changes) {
  for (int i = 0; i < changes; ++i) {
    std::string text = "customer number " + std::to_string(roll(3000));
    u64 sym = state.strings.put(arena, str(text)).bits;
    CHECK(model.texts.emplace(text, sym).first->second == sym);
    i64 by = roll(3) ? 1 : -1;
    change(arena, state.flat, model.flat, roll(3), sym, by);
    change(arena, state.rows, model.rows, roll(50), roll(50), by);
    change(arena, state.ordered, model.prices, roll(3000), {by, 0});
  }
}

void compare(Arena& arena, Maps& state, const Whole& model) {
  compare(arena, state.flat, model.flat);
  compare(arena, state.rows, model.rows, 50, 50);
  CHECK(state.ordered.size() == model.prices.size());
  compare_range(arena, state.ordered, model.prices, 100, 2000);
  for (auto& [text, sym] : model.texts) CHECK(text_of(arena, state.strings, Sym{sym}) == text);
}

int temporary() {
  char name[] = "/tmp/freshview-XXXXXX";
  int fd = mkstemp(name);
  CHECK(fd >= 0);
  unlink(name);
  return fd;
}

void save_and_load() {
  Opened arena, other;
  Whole model;
  Maps& state = *arena.at<Maps>(arena.take(sizeof(Maps)));
  change(arena, state, model, 20000);
  int fd = temporary();
  CHECK(arena.save(fd));
  Whole then = model;

  memset(other.at<u8>(other.take(5 << 20)), 0xff, 5 << 20);  // what was there is forgotten
  CHECK(lseek(fd, 0, SEEK_SET) == 0);
  CHECK(other.load(fd));
  CHECK(other.used() == arena.used());
  CHECK(other.at<u8>(0) != arena.at<u8>(0));
  Maps& copy = *other.at<Maps>(Arena::start);
  compare(other, copy, then);

  change(arena, state, model, 20000);
  change(other, copy, then, 40000);
  compare(arena, state, model);
  compare(other, copy, then);
  close(fd);
}

void damaged_file() {
  Opened arena;
  Whole model;
  change(arena, *arena.at<Maps>(arena.take(sizeof(Maps))), model, 300);
  int fd = temporary();
  CHECK(arena.save(fd));
  off_t size = lseek(fd, 0, SEEK_END);
  auto load = [&] {
    Opened other;
    CHECK(lseek(fd, 0, SEEK_SET) == 0);
    bool good = other.load(fd);
    if (!good) {
      CHECK(other.used() == Arena::start);
      CHECK(is_zero(other, other.take(1 << 20), 1 << 20));
    }
    return good;
  };
  CHECK(load());
  for (off_t at : {off_t(0), off_t(9), off_t(17), off_t(22), off_t(25), off_t(32), off_t(5000),
                   size / 2, size - 1}) {
    char byte;
    CHECK(pread(fd, &byte, 1, at) == 1);
    char wrong = char(byte ^ 0x40);
    CHECK(pwrite(fd, &wrong, 1, at) == 1);
    CHECK(!load());
    CHECK(pwrite(fd, &byte, 1, at) == 1);
    CHECK(load());
  }
  for (off_t length : {size - 1, size / 2, off_t(31), off_t(0)}) {
    CHECK(ftruncate(fd, length) == 0);
    CHECK(!load());
  }
  close(fd);
}

#define CASE(name) {#name, name}
const std::map<std::string, std::function<void()>> cases = {
    CASE(arena_blocks),    CASE(arena_reuse),    CASE(arena_reset),     CASE(arena_exhausted),
    CASE(strings_random),  CASE(strings_edges),  CASE(text_order),      CASE(text_patterns),
    CASE(flat_random),     CASE(flat_poor_hash), CASE(flat_growth),     CASE(flat_churn),
    CASE(pool_random),     CASE(pool_stays_put), CASE(pool_churn),      CASE(ordered_random),
    CASE(pool_without_indexes), CASE(rows_random),
    CASE(ordered_shrinks), CASE(ordered_window), CASE(ordered_doubles), CASE(ordered_first_rows),
    CASE(ordered_ends),    CASE(ordered_texts),  CASE(ordered_build),   CASE(journal_random),
    CASE(save_and_load),   CASE(damaged_file),
};

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    auto found = cases.find(argv[i]);
    CHECK(found != cases.end());
    found->second();
  }
  if (argc == 1)
    for (auto& [name, run] : cases) puts(name.c_str());
}
