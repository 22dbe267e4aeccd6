"""Functions that can be compiled, and run as they are where a problem is too small to pay for compiling.

numba takes half a second to load, and a kernel several seconds to compile when the cache is empty: it is loaded with
the first compiled call. ``kernel(...)`` compiles, ``kernel.plain(...)`` never does; both run the same source.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import update_wrapper
from types import CellType, FrameType, FunctionType, ModuleType
from typing import Any

from ftplan.kept_code import indexes, spared

#: Steps of a kernel, about, up to which it is run as it is: a tenth of a second.
SMALL_WORK = 20_000
#: Steps a second that a kernel takes as it is, and the seconds that it takes to compile a search: both about.
PLAIN_STEPS_S, COMPILING_S = 200_000.0, 5.0

_OFTEN: ContextVar[bool] = ContextVar("often", default=False)


def pays_to_compile(steps: float) -> bool:
    """Return whether a kernel of about so many steps is run compiled; both ways give the same."""
    return steps > SMALL_WORK or _OFTEN.get()


def pays_within(kernel: Kernel, steps: float, left_s: float, *others: Kernel) -> bool:
    """Return whether a kernel that a time limit ends is run compiled: a search, of at most about so many steps.

    That is where its machine code is there already; else it has to be worth it, and no more than the time that is left.
    Where the clock ends it before it is through, the arguments with which it, and the *others* that run with it, are
    called are noted in ``WANTED``, from which :mod:`ftplan.api.compiling` makes machine code for later commands.
    """
    if not pays_to_compile(steps):
        return False
    plain_s = steps / PLAIN_STEPS_S
    worth_it = plain_s > COMPILING_S or _OFTEN.get()
    if (worth_it and left_s > COMPILING_S) or kernel.is_kept:
        return True
    if plain_s > left_s and kernel.can_be_kept:
        for one in (kernel, *others):
            one.wanted = True
    return False


@contextmanager
def called_often() -> Iterator[None]:
    """Compile small kernels too: for a process that asks hundreds of small questions."""
    token = _OFTEN.set(True)
    try:
        yield
    finally:
        _OFTEN.reset(token)


_apart_s = 0.0


def seconds_apart() -> float:
    """Return the seconds that count on no budget: those that it took to compile."""
    return _apart_s


def set_apart(seconds: float) -> None:
    """Let seconds that have just passed count on no budget."""
    global _apart_s
    _apart_s += seconds


@contextmanager
def remembered() -> Iterator[None]:
    """Signal again after the block, in the main thread, if it did not end by a signal.

    What a handler raises while C calls back into Python is lost, and C may fail since the callback did not do its part.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    handlers = {number: handler for number, handler in before.items() if callable(handler)}

    def handle(number: int, frame: FrameType | None) -> None:
        came.append(number)
        handlers[signal.Signals(number)](number, frame)

    for number in handlers:
        signal.signal(number, handle)
    failed: Exception | None = None
    try:
        yield
    except Exception as error:
        failed = error
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    if came:
        signal.raise_signal(came[0])
    if failed is not None:
        raise failed


#: What kernels were called with that ran as they are, although machine code would have come further.
WANTED: dict[Kernel, tuple[Any, ...]] = {}
_PLAIN: dict[int, dict[str, Any]] = {}
_FAST: dict[int, dict[str, Any]] = {}


class Kernel:
    """A function of arrays and numbers, in both ways. The kernels that it calls run in the same way as it does.

    Division by zero is infinite or NaN, as in numpy. The machine code is kept beside the source or in the user's cache.
    Where neither can be written, such as in a container whose file system is read-only or on a full disk, each process
    compiles anew, and so it does where what was kept is damaged.
    """

    __name__: str

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        update_wrapper(self, function)
        self._function: Any = function
        self._options = options
        self._plain: Callable[..., Any] | None = None
        self._fast: Any = None
        self._misses = 0
        self.wanted = False

    def __call__(self, *args: Any) -> Any:
        """Run the machine code. The time that it takes to make it counts on no budget."""
        began = time.monotonic()
        fast = self.fast
        known = len(fast.overloads)
        if known:
            answer = fast(*args)
        else:  # LLVM calls back into Python, and what is raised there is lost
            with remembered():
                answer = fast(*args)
        if len(fast.overloads) > known:
            misses = sum(fast.stats.cache_misses.values())
            if misses > self._misses or not fast.stats.cache_path:
                set_apart(time.monotonic() - began)
            self._misses = misses
        return answer

    @property
    def is_kept(self) -> bool:
        """Whether machine code of it is in this process or in the cache, for the arguments that it usually gets."""
        return bool(self.fast.overloads) or any(indexes(self.fast))

    @property
    def can_be_kept(self) -> bool:
        """Whether there is a folder that takes the machine code, so that it is made once."""
        folder = self.fast.stats.cache_path
        return bool(folder) and os.access(folder, os.W_OK)

    @property
    def plain(self) -> Callable[..., Any]:
        """The function itself, calling others as they are."""
        if self._plain is None:
            import numpy as np

            quiet = np.errstate(all="ignore")
            self._plain = quiet(_copied(self._function, _PLAIN, lambda kernel: kernel.inner))
        return self._noted if self.wanted else self._plain

    def _noted(self, *args: Any) -> Any:
        """Run the function itself, and note what it is called with."""
        assert self._plain is not None
        WANTED.setdefault(self, args)
        return self._plain(*args)

    @property
    def inner(self) -> Callable[..., Any]:
        """The function itself for one that runs as it is already."""
        function: Callable[..., Any] = _copied(self._function, _PLAIN, lambda kernel: kernel.inner)
        return function

    @property
    def fast(self) -> Any:
        """The dispatcher of numba."""
        if self._fast is None:
            from numba import njit

            function = _copied(self._function, _FAST, lambda kernel: kernel.fast)
            if self._fast is not None:  # made with the others of its module
                return self._fast
            function.__qualname__ += _stamp(self._function.__globals__)
            try:
                self._fast = spared(njit(cache=True, error_model="numpy", **self._options)(function))
            except RuntimeError:
                self._fast = njit(error_model="numpy", **self._options)(function)
        return self._fast


def _stamp(names: dict[str, Any]) -> str:
    """Return what changes with a module, and those whose kernels, or constants as ``module.NAME``, it compiles in.

    numba keeps machine code by the name of a function. It looks at the state of the function's own file too, but only
    once it has read what it kept, which fails where that names a class that a newer version does not have.
    """
    used = {names["__name__"]} | {value.__name__ for value in names.values() if isinstance(value, ModuleType)}
    used |= {value.__module__ for value in names.values() if isinstance(value, Kernel)}
    package = __name__.partition(".")[0]
    stamp = 0
    for name in sorted(name for name in used if name.partition(".")[0] == package):
        with suppress(OSError):  # a module without a file
            state = os.stat(getattr(sys.modules[name], "__file__", None) or "")
            stamp = zlib.crc32(f"{name} {state.st_mtime_ns} {state.st_size}".encode(), stamp)
    return f"_{stamp:08x}" if stamp else ""


def _copied(function: Any, worlds: dict[int, dict[str, Any]], way: Callable[[Kernel], Any]) -> Any:
    """Return a function with the kernels that it names in one way instead: those of its module and of its closure."""
    names = function.__globals__
    world = worlds.get(id(names))
    if world is None:
        world = worlds[id(names)] = dict(names)
        kernels = {name: value for name, value in names.items() if isinstance(value, Kernel)}
        for name, kernel in kernels.items():
            world[name] = _Later(kernel)
        for name, kernel in kernels.items():
            world[name] = way(kernel)
    cells = tuple(
        CellType(way(cell.cell_contents)) if isinstance(cell.cell_contents, Kernel) else cell
        for cell in function.__closure__ or ()
    )
    copied = FunctionType(function.__code__, world, function.__name__, function.__defaults__, cells or None)
    copied.__qualname__ = function.__qualname__
    return copied


class _Later:
    """Stands for a kernel while those of its module are made; none is called before all are there."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel


def compiled(function: Callable[..., Any]) -> Any:
    """Make a kernel of a function."""
    return Kernel(function)


def inlined(function: Callable[..., Any]) -> Any:
    """Make a kernel that is compiled into those that call it: a call counts references to each array that it passes."""
    return Kernel(function, inline="always")


def in_place(function: Callable[..., Any]) -> Any:
    """Make a kernel that makes no arrays and returns none: it counts no references to those that it changes.

    Counting takes five times as long as what an event loop does with its arrays.
    """
    return Kernel(function, _nrt=False)


def inlined_in_place(function: Callable[..., Any]) -> Any:
    """Make a kernel that works in place and is compiled into those that call it."""
    return Kernel(function, _nrt=False, inline="always")


def only_within(function: Callable[..., Any]) -> Any:
    """Make a kernel that works in place and that only other kernels call: what Python needs to call it is not made.

    That is a third of what it takes to compile a short function.
    """
    return Kernel(function, _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)


@compiled
def _summed(values: Any) -> float:
    """Return the sum of an array: what is tried where it is to be seen whether functions can be compiled."""
    total = 0.0
    for value in values:
        total += value
    return total


def tried() -> tuple[str, str | None]:
    """Compile a function anew; return by which numba, and the folder in which others are kept, None where none is."""
    import numba
    import numpy as np

    if numba.njit(_summed.inner)(np.arange(4.0)) != 6.0:
        raise ArithmeticError("a compiled function adds wrongly")
    return f"numba {numba.__version__}", str(_summed.fast.stats.cache_path or "") or None
