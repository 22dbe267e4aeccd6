"""Hashes of keys as Java, Flink and Kafka compute them, over whole Arrow arrays at once.

Every function here runs in Spark's workers, which need numpy and pyarrow but not ftplan: the module is shipped by
value (see :mod:`ftplan.spark_stats.key_groups`), so it imports nothing of ftplan. Keys are strings (*kind* ``text``)
or int64 (``long``, or ``int`` of 32 bits); all return int64 arrays of shape (n,), null where the key is null.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint32]
Longs = npt.NDArray[np.int64]

_INVERSE_OF_31 = np.uint32(pow(31, -1, 2**32))


def java(keys: Any, kind: str = "text") -> Any:
    """``hashCode`` of Java's String, Long or Integer: signed 32-bit values."""
    return masked(_hash_codes(keys, kind).view(np.int32), keys)


def flink(keys: Any, kind: str = "text") -> Any:
    """Flink's ``MathUtils.murmurHash(hashCode)``: not negative, below 2^31."""
    return masked(_flink_murmur(_hash_codes(keys, kind)), keys)


def kafka(keys: Any, kind: str = "text") -> Any:
    """Kafka's ``toPositive(murmur2(key))`` of what its serializers write: UTF-8 text, or 8 or 4 bytes, big endian."""
    return masked(_kafka_murmur2(*written(keys, kind, ">")) & np.uint32(0x7FFFFFFF), keys)


def _hash_codes(keys: Any, kind: str) -> Words:
    if kind == "text":
        return _text_hash_codes(*_bytes_and_offsets(keys))
    values = _longs(keys)
    if kind == "int":
        return values.astype(np.uint32)
    bits = values.view(np.uint64)
    return np.asarray((bits ^ (bits >> np.uint64(32))) & np.uint64(0xFFFFFFFF), dtype=np.uint32)


def written(keys: Any, kind: str, order: str) -> tuple[Bytes, Longs]:
    """All keys in a row as bytes (B,), and where each begins and ends (n + 1,): UTF-8 text, or 8 or 4 bytes.

    *order* is that of a number's bytes: ``>`` big endian, ``<`` little endian.
    """
    if kind == "text":
        return _bytes_and_offsets(keys)
    size = 8 if kind == "long" else 4
    return _longs(keys).astype(f"{order}i{size}").view(np.uint8), np.arange(len(keys) + 1, dtype=np.int64) * size


def _bytes_and_offsets(keys: Any) -> tuple[Bytes, Longs]:
    """UTF-8 bytes (B,) of all keys in a row and where each begins and ends (n + 1,). Nulls are empty."""
    wide = keys.cast(pa.large_string())
    offsets = np.frombuffer(wide.buffers()[1], dtype=np.int64)[wide.offset : wide.offset + len(wide) + 1]
    if wide.null_count:
        wide = wide.fill_null("")
        offsets = np.frombuffer(wide.buffers()[1], dtype=np.int64)[wide.offset : wide.offset + len(wide) + 1]
    first, last = (int(offsets[0]), int(offsets[-1])) if len(offsets) else (0, 0)
    data = np.zeros(0, np.uint8)
    if last > first:
        data = np.frombuffer(wide.buffers()[2], dtype=np.uint8)[first:last]
    return data, offsets - first if len(offsets) else np.zeros(1, np.int64)


def _longs(keys: Any) -> Longs:
    """Return keys as int64, (n,); 0 where null."""
    return np.asarray(keys.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False), dtype=np.int64)


def masked(hashes: npt.NDArray[Any], keys: Any) -> Any:
    """Return hashes, (n,), as an Arrow array of int64, null where keys are."""
    mask = keys.is_null().to_numpy(zero_copy_only=False) if keys.null_count else None
    return pa.array(hashes.astype(np.int64), type=pa.int64(), mask=mask)


def _text_hash_codes(data: Bytes, offsets: Longs) -> Words:
    """``s[0]·31^(n-1) + … + s[n-1]`` modulo 2^32 over UTF-16 code units, for all strings at once.

    31 is odd, so it has an inverse: with P the running sum of ``unit[k] · 31^-k``, a string's hash is
    ``(P[end] - P[begin]) · 31^(end - 1)``. Cost: linear in the bytes, whatever the length of single keys.
    """
    units: npt.NDArray[Any] = data
    if data.size and int(data.max()) >= 0x80:
        starts = ((data & 0xC0) != 0x80).astype(np.int64) + (data >= 0xF0)
        offsets = np.concatenate(([0], np.cumsum(starts)))[offsets]
        units = np.frombuffer(data.tobytes().decode("utf-8").encode("utf-16-le"), dtype="<u2")
    powers = np.full(units.size, _INVERSE_OF_31, np.uint32)
    forward = np.full(units.size + 1, 31, np.uint32)
    if units.size:
        powers[0] = 1
    forward[0] = 1
    np.cumprod(powers, dtype=np.uint32, out=powers)
    np.cumprod(forward, dtype=np.uint32, out=forward)
    sums = np.zeros(units.size + 1, np.uint32)
    np.cumsum(units.astype(np.uint32) * powers, dtype=np.uint32, out=sums[1:])
    begin, end = offsets[:-1], offsets[1:]
    return np.asarray((sums[end] - sums[begin]) * forward[np.maximum(end - 1, 0)], dtype=np.uint32)


def _flink_murmur(codes: Words) -> Longs:
    """``org.apache.flink.util.MathUtils.murmurHash``; its absolute value, 0 for the one int that has none."""
    h = codes * np.uint32(0xCC9E2D51)
    h = (h << np.uint32(15)) | (h >> np.uint32(17))
    h *= np.uint32(0x1B873593)
    h = (h << np.uint32(13)) | (h >> np.uint32(19))
    h = h * np.uint32(5) + np.uint32(0xE6546B64)
    h ^= np.uint32(4)
    h ^= h >> np.uint32(16)
    h *= np.uint32(0x85EBCA6B)
    h ^= h >> np.uint32(13)
    h *= np.uint32(0xC2B2AE35)
    h ^= h >> np.uint32(16)
    signed = h.view(np.int32).astype(np.int64)
    return np.where(signed == -(2**31), 0, np.abs(signed))


def _kafka_murmur2(data: Bytes, offsets: Longs) -> Words:
    """``org.apache.kafka.common.utils.Utils.murmur2``, one step over all keys that still have four bytes left."""
    m = np.uint32(0x5BD1E995)
    begin = offsets[:-1]
    length = offsets[1:] - begin
    h = np.uint32(0x9747B28C) ^ length.astype(np.uint32)
    padded = np.concatenate((data, np.zeros(4, np.uint8))).astype(np.uint32)
    live = np.flatnonzero(length >= 4)
    step = 0
    while live.size:
        at = begin[live] + 4 * step
        k = (
            padded[at]
            | padded[at + 1] << np.uint32(8)
            | padded[at + 2] << np.uint32(16)
            | padded[at + 3] << np.uint32(24)
        )
        k *= m
        k ^= k >> np.uint32(24)
        h[live] = h[live] * m ^ k * m
        step += 1
        live = live[length[live] >= 4 * step + 4]
    rest = length % 4
    tail = begin + length - rest
    for back, shift in ((3, 16), (2, 8), (1, 0)):
        some = np.flatnonzero(rest >= back)
        h[some] ^= padded[tail[some] + back - 1] << np.uint32(shift)
    some = np.flatnonzero(rest > 0)
    h[some] *= m
    h ^= h >> np.uint32(13)
    h *= m
    return np.asarray(h ^ h >> np.uint32(15), dtype=np.uint32)
