"""Random numbers for compiled searches: a stream of their own in an array, so that no global state is touched.

The same numbers come compiled and as Python. A search keeps one stream from its first round to its last.
"""

from __future__ import annotations

import numpy as np

from ftplan.compiled import only_within
from ftplan.model.topology import IntArray

#: Bits that are left of 64 after a shift to the right: what stands above them is the sign.
_57_BITS, _53_BITS = 2**57 - 1, 2**53 - 1


def random_stream(seed: int) -> IntArray:
    """Return the beginning of the stream of a seed, which may be any whole number of at least 0; shape (1,)."""
    return (np.random.SeedSequence(seed).generate_state(1, dtype=np.uint64) | np.uint64(1)).view(np.int64)


@only_within
def draw(stream: IntArray) -> float:
    """Return a number in [0, 1) by xorshift [Marsaglia2003]; the last number of an array is the state.

    So the state may stand behind other numbers: kernels that hand on one array more take up to three times as long.
    """
    x = stream[-1]
    x ^= x << 13
    x ^= (x >> 7) & _57_BITS
    x ^= x << 17
    stream[-1] = x
    return float((x >> 11) & _53_BITS) * (1.0 / 9007199254740992.0)


@only_within
def below(stream: IntArray, count: int) -> int:
    """Return a whole number from 0 on below a count."""
    return min(count - 1, int(draw(stream) * count))
