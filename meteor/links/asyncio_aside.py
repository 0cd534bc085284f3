"""Work of a second, done in a thread while the event loop goes on.

Law of this file: the edge.  What is done here touches nothing that the loop's thread has, and
whoever waits looks at his own state anew afterwards.  Threads take turns every five milliseconds,
so the loop waits for no longer: unless the work has one step that takes longer, as when Python
frees a large structure.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def aside(work: Callable[[], T]) -> T:
    """What the work gives, or raises."""
    return await asyncio.to_thread(work)
