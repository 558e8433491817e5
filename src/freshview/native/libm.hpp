// The functions of C on doubles, without its header: in C++ that brings templates and special functions
// along, more than all the rest that a kernel includes. The compiler knows these functions by itself.
#pragma once

#include "value.hpp"

namespace fr {

constexpr f64 infinity = __builtin_inf();

inline bool isfinite(f64 x) { return __builtin_isfinite(x); }
inline bool isinf(f64 x) { return __builtin_isinf(x); }
inline bool isnan(f64 x) { return __builtin_isnan(x); }
inline f64 fabs(f64 x) { return __builtin_fabs(x); }
inline f64 copysign(f64 x, f64 sign) { return __builtin_copysign(x, sign); }
inline f64 floor(f64 x) { return __builtin_floor(x); }
inline f64 fmod(f64 x, f64 y) { return __builtin_fmod(x, y); }
inline f64 sqrt(f64 x) { return __builtin_sqrt(x); }
inline f64 pow(f64 x, f64 y) { return __builtin_pow(x, y); }
inline f64 atan2(f64 y, f64 x) { return __builtin_atan2(y, x); }
inline f64 ldexp(f64 x, int exponent) { return __builtin_ldexp(x, exponent); }
inline f64 frexp(f64 x, int* exponent) { return __builtin_frexp(x, exponent); }

}  // namespace fr
