"""Hashes of values, with the seeds and the bytes of Spark. Every integer is a BIGINT."""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal

from freshview.calculus.builtin.dates import days_of, micros_of
from freshview.calculus.builtin.entry import Entry, bad, entry
from freshview.calculus.types import Value

M32, M64 = (1 << 32) - 1, (1 << 64) - 1
SEED = 42
P1, P2, P3, P4, P5 = (
    0x9E3779B185EBCA87,
    0xC2B2AE3D27D4EB4F,
    0x165667B19E3779F9,
    0x85EBCA77C2B2AE63,
    0x27D4EB2F165667C5,
)


def _rotate(x: int, by: int, bits: int) -> int:
    return (x << by | x >> (bits - by)) & ((1 << bits) - 1)


def _signed(x: int, bits: int) -> int:
    return x - (1 << bits) if x >> (bits - 1) else x


# -- Murmur3, of 32 bits ---------------------------------------------------------------------------


def _mix_key(k: int) -> int:
    return _rotate(k * 0xCC9E2D51 & M32, 15, 32) * 0x1B873593 & M32


def _mix(h: int, k: int) -> int:
    return (_rotate(h ^ _mix_key(k), 13, 32) * 5 + 0xE6546B64) & M32


def _last_mix(h: int, length: int) -> int:
    h ^= length
    h = (h ^ h >> 16) * 0x85EBCA6B & M32
    h = (h ^ h >> 13) * 0xC2B2AE35 & M32
    return h ^ h >> 16


def _murmur(data: int | bytes, size: int, seed: int) -> int:
    """The hash of an integer of so many bytes, or of a text: its bytes beyond words one by one."""
    h = seed
    if isinstance(data, int):
        for at in range(0, size * 8, 32):
            h = _mix(h, data >> at & M32)
        return _last_mix(h, size)
    whole = len(data) & ~3
    for (word,) in struct.iter_unpack("<I", data[:whole]):
        h = _mix(h, word)
    for byte in data[whole:]:
        h = _mix(h, _signed(byte, 8) & M32)
    return _last_mix(h, len(data))


# -- XXH64 -----------------------------------------------------------------------------------------


def _finish(h: int) -> int:
    h = (h ^ h >> 33) * P2 & M64
    h = (h ^ h >> 29) * P3 & M64
    return h ^ h >> 32


def _round(h: int, word: int) -> int:
    return _rotate(h + word * P2 & M64, 31, 64) * P1 & M64


def _xxhash(data: int | bytes, size: int, seed: int) -> int:
    """The hash of an integer of 4 or 8 bytes, or of a text."""
    if isinstance(data, int):
        data = (data & ((1 << size * 8) - 1)).to_bytes(size, "little")
    at, end = 0, len(data)
    if end >= 32:
        lanes = [(seed + P1 + P2) & M64, (seed + P2) & M64, seed, (seed - P1) & M64]
        while at + 32 <= end:
            words = struct.unpack_from("<4Q", data, at)
            lanes = [_round(lane, word) for lane, word in zip(lanes, words, strict=True)]
            at += 32
        turned = zip(lanes, (1, 7, 12, 18), strict=True)
        h = sum(_rotate(lane, by, 64) for lane, by in turned) & M64
        for lane in lanes:
            h = ((h ^ _round(0, lane)) * P1 + P4) & M64
    else:
        h = (seed + P5) & M64
    h = (h + end) & M64
    while at + 8 <= end:
        (word,) = struct.unpack_from("<Q", data, at)
        h = (_rotate(h ^ _round(0, word), 27, 64) * P1 + P4) & M64
        at += 8
    if at + 4 <= end:
        (word,) = struct.unpack_from("<I", data, at)
        h = (_rotate(h ^ word * P1 & M64, 23, 64) * P2 + P3) & M64
        at += 4
    for byte in data[at:]:
        h = _rotate(h ^ byte * P5 & M64, 11, 64) * P1 & M64
    return _finish(h)


def _hash_of(fn: str, of: Callable[[int | bytes, int, int], int], bits: int) -> Callable[..., int]:
    def run(*values: Value) -> int:
        h = SEED
        for x in values:
            match x:
                case None:
                    continue
                case bool():
                    h = of(int(x), 4, h)
                case int():
                    h = of(x, 8, h)
                case float():
                    h = of(struct.unpack("<Q", struct.pack("<d", x + 0.0))[0], 8, h)
                case str():
                    h = of(x.encode(), 0, h)
                case datetime():
                    h = of(micros_of(x), 8, h)
                case date():
                    h = of(days_of(x), 4, h)
                case Decimal():
                    raise bad(fn, "the hash of a decimal depends on how it is declared; cast it", x)
        answer = _signed(h, bits)
        if answer == -(1 << 63):
            raise bad(fn, "the answer leaves the 64-bit integers")
        return answer

    return run


def sha2(text: str, bits: int) -> str | None:
    """SHA-2 of so many bits, 0 being 256; NULL of other numbers."""
    name = {0: "sha256", 224: "sha224", 256: "sha256", 384: "sha384", 512: "sha512"}.get(bits)
    return hashlib.new(name, text.encode()).hexdigest() if name else None


ENTRIES: tuple[Entry, ...] = (
    entry("crc32", "string -> int", lambda text: zlib.crc32(text.encode())),
    entry("sha2", "string, int -> string?", sha2),
    entry("hash", "any... -> int!", _hash_of("hash", _murmur, 32), strict=False),
    entry("xxhash64", "any... -> int!", _hash_of("xxhash64", _xxhash, 64), strict=False),
)
