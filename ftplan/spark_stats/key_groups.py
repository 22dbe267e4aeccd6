"""Key to key group: the hash of the key modulo the number of groups, as the streaming engine does it.

========  =======================================================================================
hash      key group of key k among N
========  =======================================================================================
xxhash64  Spark's ``pmod(xxhash64(k), N)``; several columns are hashed one after the other
murmur3   Spark's ``pmod(hash(k), N)``: the shuffle partition of ``repartition(N, k)``
crc32     CRC-32 of the UTF-8 text, modulo N
java      floor modulus of ``hashCode()``: Storm's and Java's own way
flink     ``murmurHash(hashCode()) % N``, N being Flink's maximum parallelism
kafka     ``toPositive(murmur2(serialized key)) % N``: Kafka's default partitioner
identity  the key is the number of its group
========  =======================================================================================

The type of a key matters: ``42`` as text, as a 32-bit and as a 64-bit number have different hashes. ``auto`` takes
text from CSV and JSON lines and the column's own type from Parquet (for java, flink and kafka every whole number is
a ``long`` then); ``string``, ``long`` and ``int`` force one. Several columns are joined as text with ``|``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import functions as F

from ftplan.spark_stats import hashing
from ftplan.spark_stats.mapping import KeyType
from ftplan.spark_stats.readers import Field
from ftplan.spark_stats.times import is_blank

SEPARATOR = "|"
_INT32 = (-(2**31), 2**31 - 1)


@dataclass(frozen=True, slots=True)
class HashedKey:
    """A key's hash (bigint column) and whether the key is missing or is not of its type (boolean columns)."""

    hash: Any
    missing: Any
    misfit: Any


def hashed_key(fields: Sequence[Field], key_hash: str, key_type: KeyType) -> HashedKey:
    """Return the hash of the key in *fields*, of which ``pmod(hash, N)`` is the key group (but for ``identity``)."""
    from functools import reduce

    missing = reduce(lambda a, b: a | b, (_is_missing(f, key_type) for f in fields))
    if key_hash == "identity":
        number = fields[0].column.try_cast("bigint")
        if fields[0].kind in ("real", "text"):
            number = F.when(fields[0].column.try_cast("double") == number, number)
        return HashedKey(number, missing, number.isNull())
    kind, misfit = "text", F.lit(False)
    if len(fields) == 1 and key_type in ("long", "int"):
        values, misfit = _number(fields[0], key_type)
        keys, kind = [values], str(key_type)
    elif len(fields) == 1 and key_type == "auto" and fields[0].kind in ("int", "long"):
        keys, kind = [fields[0].column], "long"
    elif key_hash in ("xxhash64", "murmur3") and key_type == "auto":
        keys = [f.column for f in fields]
    elif key_hash in ("xxhash64", "murmur3"):
        keys = [f.column.cast("string") for f in fields]
    else:
        texts = [f.column.cast("string") for f in fields]
        keys = [texts[0] if len(texts) == 1 else F.concat_ws(SEPARATOR, *texts)]
    if key_hash == "xxhash64":
        return HashedKey(F.xxhash64(*keys), missing, misfit)
    if key_hash == "murmur3":
        return HashedKey(F.hash(*keys).cast("bigint"), missing, misfit)
    if key_hash == "crc32":
        return HashedKey(F.crc32(keys[0].cast("string").cast("binary")), missing, misfit)
    return HashedKey(_udf(key_hash, kind)(keys[0].cast("string" if kind == "text" else "bigint")), missing, misfit)


def key_group(key: HashedKey, key_hash: str, groups: Any) -> Any:
    """Return the key group (int column) among *groups* (a bigint column); null where it is out of range."""
    if key_hash == "identity":
        return F.when((key.hash >= 0) & (key.hash < groups), key.hash).cast("int")
    return F.pmod(key.hash, groups).cast("int")


def _is_missing(field: Field, key_type: KeyType) -> Any:
    return is_blank(field) if key_type in ("long", "int") else field.column.isNull()


def _number(field: Field, key_type: KeyType) -> tuple[Any, Any]:
    number = field.column.try_cast("bigint")
    misfit = number.isNull() | (field.column.try_cast("double") != F.floor(field.column.try_cast("double")))
    if key_type == "int":
        misfit = misfit | ~number.between(*_INT32)
        number = F.when(number.between(*_INT32), number).cast("int")
    return number, misfit


def _udf(key_hash: str, kind: str) -> Any:
    """The vectorised hash as an Arrow UDF, pickled by value so that workers need no ftplan."""
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(hashing)
    hash_of = getattr(hashing, key_hash)
    return F.arrow_udf(lambda keys: hash_of(keys, kind), "bigint")
