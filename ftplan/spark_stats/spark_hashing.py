"""Spark's own hashes of keys, and CRC-32, over whole Arrow arrays at once, without Spark.

Keys are as in :mod:`ftplan.spark_stats.hashing`; all functions return int64 arrays of shape (n,), null where the key is
null. What Spark computes (``xxhash64``, ``hash``, ``crc32``), with its seed of 42.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ftplan.spark_stats.hashing import Bytes, Longs, Words, masked, written

SEED = 42
Quads = npt.NDArray[np.uint64]

_P1, _P2, _P3, _P4, _P5 = (
    np.uint64(prime)
    for prime in (
        0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
    )
)  # fmt: skip


def xxhash64(keys: Any, kind: str = "text") -> Any:
    """XXH64 of the key's bytes: UTF-8 text, or 8 or 4 bytes, little endian."""
    return masked(_xxh64(*written(keys, kind, "<")).view(np.int64), keys)


def murmur3(keys: Any, kind: str = "text") -> Any:
    """Murmur3 of 32 bits of the key's bytes as Spark varies it: each byte after the last four is a word of its own."""
    return masked(_murmur3(*written(keys, kind, "<")).view(np.int32), keys)


def crc32(keys: Any, kind: str = "text") -> Any:
    """CRC-32 of the key as UTF-8 text; of a number its decimal digits. *kind* is no matter."""
    texts = keys.cast(pa.string()).fill_null("").to_pylist()
    return masked(np.array([zlib.crc32(text.encode()) for text in texts], dtype=np.int64), keys)


def _word(data: Bytes, at: Longs, size: int) -> Quads:
    """Return the little-endian words of some bytes that begin at places, (n,)."""
    word = np.zeros(len(at), np.uint64)
    for byte in range(size):
        word |= data[at + byte].astype(np.uint64) << np.uint64(8 * byte)
    return word


def _left64(x: Quads, by: int) -> Quads:
    return (x << np.uint64(by)) | (x >> np.uint64(64 - by))


def _round(lane: Quads, word: Quads) -> Quads:
    return _left64(lane + word * _P2, 31) * _P1


def _xxh64(data: Bytes, offsets: Longs) -> Quads:
    """Return XXH64 with the seed of Spark, step by step over all keys that still have bytes left."""
    begin, length = offsets[:-1], np.diff(offsets)
    seed = np.uint64(SEED)
    h: Quads = np.full(len(length), seed + _P5, np.uint64)
    stripes = length // 32
    live = np.flatnonzero(stripes)
    if live.size:
        with np.errstate(over="ignore"):
            starts = (seed + _P1 + _P2, seed + _P2, seed, seed - _P1)
        lanes = [np.full(len(length), start, np.uint64) for start in starts]
        for step in range(int(stripes.max())):
            live = np.flatnonzero(stripes > step)
            for n, lane in enumerate(lanes):
                lane[live] = _round(lane[live], _word(data, begin[live] + 32 * step + 8 * n, 8))
        live = np.flatnonzero(stripes)
        mixed = sum((_left64(lane[live], by) for lane, by in zip(lanes, (1, 7, 12, 18), strict=True)), np.uint64(0))
        for lane in lanes:
            mixed = (mixed ^ _round(np.zeros(live.size, np.uint64), lane[live])) * _P1 + _P4
        h[live] = mixed
    h += length.astype(np.uint64)
    at, left = begin + 32 * stripes, length % 32
    for step in range(3):
        live = np.flatnonzero(left >= 8 * (step + 1))
        word = _round(np.zeros(live.size, np.uint64), _word(data, at[live] + 8 * step, 8))
        h[live] = _left64(h[live] ^ word, 27) * _P1 + _P4
    at, left = at + left // 8 * 8, left % 8
    live = np.flatnonzero(left >= 4)
    h[live] = _left64(h[live] ^ _word(data, at[live], 4) * _P1, 23) * _P2 + _P3
    at, left = at + left // 4 * 4, left % 4
    for step in range(3):
        live = np.flatnonzero(left > step)
        h[live] = _left64(h[live] ^ data[at[live] + step].astype(np.uint64) * _P5, 11) * _P1
    h = (h ^ (h >> np.uint64(33))) * _P2
    h = (h ^ (h >> np.uint64(29))) * _P3
    return h ^ (h >> np.uint64(32))


def _left32(x: Words, by: int) -> Words:
    return (x << np.uint32(by)) | (x >> np.uint32(32 - by))


def _mixed(h: Words, k: Words) -> Words:
    k = _left32(k * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)
    return np.asarray(_left32(h ^ k, 13) * np.uint32(5) + np.uint32(0xE6546B64), dtype=np.uint32)


def _murmur3(data: Bytes, offsets: Longs) -> Words:
    begin, length = offsets[:-1], np.diff(offsets)
    h: Words = np.full(len(length), SEED, np.uint32)
    words = length // 4
    for step in range(int(words.max(initial=0))):
        live = np.flatnonzero(words > step)
        h[live] = _mixed(h[live], _word(data, begin[live] + 4 * step, 4).astype(np.uint32))
    for step in range(3):
        live = np.flatnonzero(length % 4 > step)
        byte = data[begin[live] + 4 * words[live] + step].view(np.int8).astype(np.int32).view(np.uint32)
        h[live] = _mixed(h[live], byte)
    h ^= length.astype(np.uint32)
    h = (h ^ (h >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    h = (h ^ (h >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return np.asarray(h ^ (h >> np.uint32(16)), dtype=np.uint32)
