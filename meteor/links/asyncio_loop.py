"""What turns the event loops that Meteor makes itself: uvloop where it is installed.

Law of this file: this is for the command line, the demo and the thread of `meteor.sync`; an
application that brings a loop keeps it.  An exact store at 64 peers takes a fifth less on uvloop.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable

LoopFactory = Callable[[], asyncio.AbstractEventLoop]


def uvloop_factory() -> LoopFactory:
    """Makes loops of uvloop; raises `ImportError` where the extra `fast` is not installed."""
    factory: LoopFactory = importlib.import_module("uvloop").new_event_loop
    return factory


def fastest_loop() -> LoopFactory | None:
    """Makes loops of uvloop where it is installed; None for asyncio's own."""
    try:
        return uvloop_factory()
    except ImportError:
        return None
