"""The cores of a node, shared fairly by what is at work on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from simpy import Environment

from ftplan.simulation.engine.clock import DataEvent, after

#: Work counts as done when it would be within this share of the time that it is; above the rounding of sums of times.
ROUNDING = 1e-12


def max_min_shares(cores: float, threads: Sequence[float]) -> list[float]:
    """Return how many cores each job gets, max-min fair, none more than its threads.

    Water-filling: the job with the fewest threads gets them or an equal part of what is left, then the next.
    """
    shares = [0.0] * len(threads)
    left = cores
    for rank, job in enumerate(sorted(range(len(threads)), key=threads.__getitem__)):
        shares[job] = min(threads[job], left / (len(threads) - rank))
        left -= shares[job]
    return shares


class WorkItem(DataEvent):
    """Work at a processor; succeeds when it is done.

    Attributes
    ----------
    left_core_s
        Core-seconds that were left when shares last changed.
    threads
        Most cores that it can use.
    cores
        Cores that it has now.
    """

    def __init__(self, env: Environment, core_s: float, threads: float) -> None:
        super().__init__(env)
        self.left_core_s = core_s
        self.threads = threads
        self.cores = 0.0


class Processor:
    """A node's cores, shared max-min fair by the work there: exact processor sharing, by one event ahead at a time.

    An arrival or departure costs O(n log n) for n items at work.
    """

    def __init__(self, env: Environment, cores: float) -> None:
        self.env = env
        self._cores = cores
        self._items: dict[WorkItem, None] = {}
        self._since_s = env.now
        self._call_off: Callable[[], None] | None = None

    def work(self, core_s: float, threads: float = 1.0) -> WorkItem:
        """Begin work of *core_s* core-seconds on at most *threads* cores; no work is done at once."""
        item = WorkItem(self.env, core_s, threads)
        if core_s <= 0.0:
            item.succeed()
            return item
        self._progress()
        self._items[item] = None
        self._share()
        return item

    def cancel(self, item: WorkItem) -> float:
        """Take work away unless it is done; return the core-seconds that were left."""
        if item not in self._items:
            return 0.0
        self._progress()
        del self._items[item]
        self._share()
        return item.left_core_s

    def _progress(self) -> None:
        """Account for the work done since shares last changed."""
        seconds = self.env.now - self._since_s
        self._since_s = self.env.now
        if seconds > 0.0:
            for item in self._items:
                item.left_core_s = max(item.left_core_s - item.cores * seconds, 0.0)

    def _share(self) -> None:
        """Share the cores anew and look ahead to the next departure."""
        shares = max_min_shares(self._cores, [item.threads for item in self._items])
        for item, cores in zip(self._items, shares, strict=True):
            item.cores = cores
        if self._call_off is not None:
            self._call_off()
            self._call_off = None
        working = [item for item in self._items if item.cores > 0.0]
        if working:
            first = min(working, key=_left_s)
            self._call_off = after(self.env, _left_s(first), lambda: self._depart(first))

    def _depart(self, first: WorkItem) -> None:
        """Let go what is done: the item that was to be the first, and what ends with it."""
        self._progress()
        first.left_core_s = 0.0
        moment = ROUNDING * max(1.0, self.env.now)
        for item in [item for item in self._items if item.left_core_s <= item.cores * moment]:
            del self._items[item]
            item.left_core_s = 0.0
            item.succeed()
        self._call_off = None
        self._share()


def _left_s(item: WorkItem) -> float:
    """Return the seconds until work is done if shares stay as they are."""
    return item.left_core_s / item.cores
