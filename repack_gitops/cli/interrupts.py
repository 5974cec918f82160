"""Ctrl-C while something works that Python cannot interrupt.

The solver is compiled code: for seconds no Python runs in the main thread, where signals are answered. So a small thread
listens to the pipe into which Python's signal handler, which runs at once, writes the number of every signal.
"""

from __future__ import annotations

import os
import select
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: Seconds between ticks.
TICK = 0.2
_END = 0

Told = Callable[[], None]


@contextmanager
def listening(first: Told, again: Told, tick: Told) -> Iterator[None]:
    """Call, from a thread, ``first`` at the first Ctrl-C, ``again`` at every later one and ``tick`` several times a second.

    Where Ctrl-C means something else already, as in a process that was started to ignore it, that is left alone. What it
    meant before it means again afterwards.
    """
    heard, ear = os.pipe()
    os.set_blocking(ear, False)
    thread = threading.Thread(target=_listen, args=(heard, first, again, tick), name="interrupts", daemon=True)
    thread.start()
    try:
        with _heard_by(ear):
            yield
    finally:
        os.write(ear, bytes([_END]))
        thread.join()
        os.close(ear)
        os.close(heard)


@contextmanager
def _heard_by(ear: int) -> Iterator[None]:
    # Only the main thread may say what signals mean.
    here = threading.current_thread() is threading.main_thread()
    if not here or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    before = signal.set_wakeup_fd(ear, warn_on_full_buffer=False)
    signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.set_wakeup_fd(before)


def _listen(heard: int, first: Told, again: Told, tick: Told) -> None:
    told = first
    while True:
        ready, _, _ = select.select([heard], [], [], TICK)
        for number in os.read(heard, 64) if ready else b"":
            if number == _END:
                return
            if number == signal.SIGINT:
                told()
                told = again
        tick()
