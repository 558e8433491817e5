// Elements of a ring that a user's header declares: what tables and generated code need of them.
//
// Tables take zeroed memory for what is not there and move records as bytes: so an element is
// trivially copied, and its zero is nothing but zeros. Whether an element is zero is asked of its
// isZero() or its operator ==, and of its bytes where it has neither.
#pragma once

#include "arena.hpp"

namespace fr {

template <class R> R& some();  // declared only

// What has a default is zero by default; so a header need not define the `zero` that it declares.
template <class R> R zero_of() {
  if constexpr (__is_constructible(R)) return R{};
  else return R::zero;
}

template <class R> auto is_zero(const R& x, int) -> decltype(bool(x.isZero())) { return x.isZero(); }
template <class R> auto is_zero(const R& x, long) -> decltype(bool(x == some<const R>())) {
  return x == zero_of<R>();
}
template <class R> bool is_zero(const R& x, ...) {
  R copy = x;
#if defined(__has_builtin) && __has_builtin(__builtin_clear_padding)
  __builtin_clear_padding(&copy);  // between the members there may be anything
#endif
  const u8* byte = reinterpret_cast<const u8*>(&copy);
  u8 any = 0;
  for (size_t i = 0; i < sizeof(R); i++) any |= byte[i];
  return any == 0;
}

template <class R> struct Element {
  static_assert(__is_trivially_copyable(R), "an element of a ring is copied byte by byte");
  R x;
  bool operator==(int) const { return is_zero(x, 0); }
  bool operator!=(int) const { return !is_zero(x, 0); }
};

template <class R> const R& see(const Element<R>& x) { return x.x; }
template <class R> const R& see(const R& x) { return x; }

template <class R> void gain(Element<R>& to, const R& x) { to.x += x; }
template <class R> void gain(Element<R>& to, const Element<R>& x) { to.x += x.x; }

// So many copies: what an int * ring is for.
template <class R> R copies(bool& o, i64 n, const R& x) {
  o |= n != i64(int(n));
  return int(n) * x;
}

// Stops a kernel whose tables would take an absent element for one that is there.
template <class R> void check_zero(const char* sentence) {
  alignas(R) u8 absent[sizeof(R)] = {};
  if (!is_zero(*reinterpret_cast<const R*>(absent), 0) || !is_zero(zero_of<R>(), 0)) fail(sentence);
}

}  // namespace fr
