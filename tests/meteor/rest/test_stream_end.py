"""A signed stream lasts as long as its signature is good for, whatever there is to tell."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any, cast

from meteor.rest.config import RestConfig
from meteor.rest.events import Events, _Stream
from meteor.rest.feed import Event, Feed
from meteor.rest.streaming import StreamWriter


def event(number: int) -> Event:
    return Event(f"f:{number}", "match", str(number))


class Busy:
    """A client that reads all there is, and for each event one more comes."""

    batch, batch_bytes, is_broken = 64, 65_536, False

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self.written: list[Event] = []

    async def write(self, events: Sequence[Event]) -> None:
        self.written += events
        assert len(self.written) < 100, "it goes on after its time"
        self._feed.put(event(len(self.written)))


async def test_a_signed_stream_ends_in_time_also_while_more_comes() -> None:
    feed = Feed("f", "", 1000, lambda: None, bytes_max=10_000)
    feed.put(event(0))
    events = Events(cast("Any", None), RestConfig())
    client = Busy(feed)
    over_s = asyncio.get_running_loop().time()
    await events._copy(_Stream(feed, ""), cast("StreamWriter", client), lambda: True, over_s)
    *told, word = client.written
    assert [one.id for one in told] == ["f:0"]
    assert word.kind == "end"
    assert "sign anew" in json.loads(word.data)["reason"]
    assert [one.id for one in feed.take(1)] == ["f:1"], "what waits is for who comes back"
