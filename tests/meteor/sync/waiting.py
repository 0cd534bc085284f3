"""What waits in a thread, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def outcome(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except Exception as error:
        return error
