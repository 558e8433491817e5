// The last header of a generated kernel, which has defined `fr::kernel` before it. The rest of the
// boundary is in `boundary.cpp`, which is compiled once and linked to every kernel.
#pragma once

#include "kernel.hpp"

#ifndef FRESHVIEW_PROGRAM
#define FRESHVIEW_PROGRAM "0000000000000000000000000000000000000000000000000000000000000000"
#endif

namespace fr {

// What tells the states of one program from those of another: `toolchain.py` gives it.
extern const char program[];
const char program[] = FRESHVIEW_PROGRAM;

}  // namespace fr
