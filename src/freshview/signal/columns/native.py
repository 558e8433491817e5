"""The loops over columns that are compiled, for this machine and once; NumPy does without them."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import TypeAlias

import numpy as np

from freshview.codegen.library.compiler import USUAL_FLAGS
from freshview.codegen.library.last_compiler import last_compiler, present_compiler
from freshview.codegen.library.toolchain import NATIVE, build_with
from freshview.errors import BuildProblem
from freshview.signal.arrays import Array, Ints

Entry: TypeAlias = Callable[..., int]

SOURCE = '#include "signal/entries.hpp"\n'


@cache
def library() -> ctypes.CDLL | None:
    """The functions of `native/signal/entries.hpp`; None where there is no compiler."""
    headers = sorted((NATIVE / "signal").glob("*.hpp"))
    flags = replace(USUAL_FLAGS, optimize=3)
    compiler = last_compiler() or present_compiler()
    if compiler is None:
        return None
    try:
        path = build_with(SOURCE, headers, compiler=compiler, flags=flags)
        loaded = ctypes.CDLL(str(path))
    except (BuildProblem, OSError):
        return None
    for name in ("time_breaks", "value_breaks", "event_breaks"):
        getattr(loaded, name).restype = ctypes.c_int64
    return loaded


def time_breaks(time: Ints, step: int, most: int) -> Ints | None:
    """Where a time is not one step after the time before; None if that is so more than `most`."""
    if (own := library()) is None or not _is_plain(time):
        return _few(np.flatnonzero(np.diff(time) != step) + 1, most)
    out = np.empty(most, np.int64)
    size = own.time_breaks(_at(time), _int(len(time)), _int(step), _int(most), _at(out))
    return None if size < 0 else out[:size]


def value_breaks(values: Array, most: int) -> Ints | None:
    """Where a value is not the value before; None if that is so more than `most`."""
    own = library()
    if own is None or values.dtype != np.int64 or not _is_plain(values):
        return _few(np.flatnonzero(values[1:] != values[:-1]) + 1, most)
    out = np.empty(most, np.int64)
    size = own.value_breaks(_at(values), _int(len(values)), _int(most), _at(out))
    return None if size < 0 else out[:size]


def event_breaks(
    group: Ints, start: Ints, end: Ints, step: int, width: int, most: int
) -> Ints | None:
    """Where events do not go on as those before: with their group, a step later, and as long."""
    own = library()
    if own is None or not (_is_plain(group) and _is_plain(start) and _is_plain(end)):
        differs = (np.diff(group) != 0) | (np.diff(start) != step)
        differs |= (end - start)[1:] != width
        return _few(np.flatnonzero(differs) + 1, most)
    out = np.empty(most, np.int64)
    columns = (_at(group), _at(start), _at(end))
    size = own.event_breaks(
        *columns, _int(len(start)), _int(step), _int(width), _int(most), _at(out)
    )
    return None if size < 0 else out[:size]


def copy_spans(
    source: Array, target: Array, begin: Ints, to: Ints, count: Ints, stride: int = 1
) -> None:
    """Copy spans of an array: entry `begin + j` to the place `to + j * stride` of another one."""
    own = library()
    if own is not None and source.flags.c_contiguous and target.flags.c_contiguous:
        cell = source.dtype.itemsize * int(np.prod(source.shape[1:]))
        places = [np.ascontiguousarray(p, np.int64) for p in (begin, to, count)]
        pointers = [_at(p) for p in places]
        sizes = _int(cell), _int(len(begin))
        own.copy_spans(_at(source), _at(target), *sizes, *pointers, _int(stride))
        return
    for b, t, n in zip(begin.tolist(), to.tolist(), count.tolist(), strict=True):
        target[t : t + n * stride : stride] = source[b : b + n]


def fir(x: Array, taps: Array, begin: Ints, before: Ints, count: Ints) -> Array:
    """The sums of taps[i] * x[n - i] at spans of places, of each of which samples lie before.

    Earlier ones are zero. Every sum is formed in one order, wherever it lies.
    """
    own = library()
    total = int(count.sum())
    if own is None or x.dtype != np.float64 or taps.dtype != np.float64:
        return _convolved(x, taps, begin, before, count, total)
    out = np.empty(total)
    x, taps = np.ascontiguousarray(x), np.ascontiguousarray(taps)
    places = [np.ascontiguousarray(p, np.int64) for p in (begin, before, count)]
    sizes = _int(len(taps)), _int(len(begin))
    own.fir(_at(x), _at(taps), *sizes, *(_at(p) for p in places), _at(out))
    return out


def _convolved(x: Array, taps: Array, begin: Ints, before: Ints, count: Ints, total: int) -> Array:
    """By one convolution of all spans, each with the samples before it, between zeros."""
    history = len(taps) - 1
    known = np.minimum(before, history)
    room = np.cumsum(history + count) - count
    dense = np.zeros(history * len(begin) + total, np.result_type(x, np.float64))
    copy_spans(x.astype(dense.dtype, copy=False), dense, begin - known, room - known, known + count)
    if not total:
        return np.zeros(0, np.result_type(dense, taps))
    every = np.convolve(dense, taps, "valid")
    place = np.repeat(room - np.cumsum(count) + count, count) + np.arange(total) - history
    return np.asarray(every[place])


def _few(places: Ints, most: int) -> Ints | None:
    return places if len(places) <= most else None


def _is_plain(values: Array) -> bool:
    return bool(values.flags.c_contiguous and values.flags.aligned)


def _at(values: Array) -> ctypes.c_void_p:
    return ctypes.c_void_p(values.ctypes.data)


_int = ctypes.c_int64
