"""A measurement in a process of its own, so that one that crashes or hangs spoils no other."""

from __future__ import annotations

import multiprocessing as mp
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any


def apart(work: Callable[..., Any], *arguments: Any, limit: float) -> tuple[Any, str]:
    """What `work(*given)` returns, or why it does not, after `limit` seconds at most.

    The process is a copy of this one, so data that is here already is there, too.
    """
    here, there = mp.get_context("fork").Pipe()
    child = mp.get_context("fork").Process(target=_tell, args=(there, work, arguments))
    child.start()
    there.close()
    try:
        if not here.poll(limit):
            return None, f"no answer after {limit:.0f} s"
        answer: tuple[Any, str] = here.recv()
        return answer
    except EOFError:
        child.join()
        return None, f"the process ended with {child.exitcode}"
    finally:
        child.kill()
        child.join()


def _tell(out: Connection, work: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    try:
        out.send((work(*arguments), ""))
    except Exception as e:
        at = traceback.extract_tb(e.__traceback__)[-1]
        out.send((None, f"{type(e).__name__}: {str(e)[:200]} ({at.name})"))
