"""A process that carries out parts of some work for another one, until that one has no more or is gone."""

from __future__ import annotations

import os
import pickle
import queue
import threading
import traceback
from multiprocessing.connection import Connection

from ftplan.errors import FtplanError

#: What the new interpreter runs: the path of modules comes first, everything else can be imported then. An interrupt
#: from the terminal reaches all processes of a group; who began this one ends it.
PROGRAM = """
import signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
from multiprocessing.connection import Connection
connection = Connection(int(sys.argv[1]))
sys.path[:] = connection.recv()
from ftplan.worker import work
work(connection)
"""


def work(connection: Connection) -> None:
    """Receive a function, then numbers again and again; send back what it returns for them, its error, or the trace
    of a fault.

    A thread listens meanwhile, so that the end of the other process is the end of this one, in the midst of a part.
    """
    messages: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def listen() -> None:
        try:
            while True:
                messages.put(connection.recv_bytes())
        except (EOFError, OSError):
            os._exit(0)

    threading.Thread(target=listen, name="ftplan-listener", daemon=True).start()
    try:
        carry_out = pickle.loads(messages.get())
        while True:
            numbers = pickle.loads(messages.get())
            try:
                outcomes = [carry_out(number) for number in numbers]
            except FtplanError as error:
                connection.send(FtplanError(str(error)))  # others need more than a text to be made again
            else:
                connection.send(outcomes)
    except BrokenPipeError:
        os._exit(0)
    except BaseException:
        connection.send(traceback.format_exc())
        raise
