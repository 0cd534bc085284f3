"""`GET /events`: what matches a selector from now on, as Server-Sent Events.

Law of this file: honest about what it can resume.  The interest of a broken stream waits a minute
for its client; who comes back with `Last-Event-ID` gets what came after it.  Where that is not
known any more (another peer, later, after a restart) an interest is posted anew and the stream
begins with the event `reset`: what lives comes from the beginning, under the same ids as before,
and what came and went in between is lost.  Its name is another each time: the peer that was left
renews the one before, and deletes it after that minute.  An id says a secret of its client: the
interest's name, which whoever watches interests reads, does not tell it.
What was signed opens one stream, for `SIGNED_S`: whoever reads along has nothing to repeat.

    event: open         id: <secret>               it is in the overlay: nothing is missed now
    event: match        id: <secret>:<data>:<version>         (a watch: `appeared`, `gone`)
    event: incomplete   a part of the region is missing: what lives there, or comes, is not told
    event: reset        the stream begins anew; says why
    event: overflow     the client read too slowly; the stream ends; says what to do
    event: end          the stream ends; says why
"""

from __future__ import annotations

import asyncio
import json
import math
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import SystemRandom
from typing import Any, Final

from aiohttp import web

from meteor.admission import place
from meteor.client.draft import typed_profile
from meteor.client.guest import Guest
from meteor.client.interest import Interest
from meteor.client.verbs import Verbs
from meteor.errors import Busy, Interval, LimitExceeded
from meteor.rest.answers import completeness
from meteor.rest.call import Call, Operation, Resource
from meteor.rest.config import RestConfig
from meteor.rest.feed import Event, Feed, Room
from meteor.rest.json_form import intervals_object, match_object
from meteor.rest.negotiation import EVENTS
from meteor.rest.once import UsedSignatures
from meteor.rest.parameters import Parameter
from meteor.rest.profiles import EVERYWHERE, SELECT, timeout_parameter
from meteor.rest.signed import credentials_of, signer_of, verbs_of
from meteor.rest.streaming import StreamWriter
from meteor.values import Notification
from meteor.wire.messages import Credentials
from meteor.wire.record_id import new_stem

SECRET: Final = re.compile(r"events-[a-z2-7]{26}")
"""What ids of a stream's events begin with.  Only such a one is taken up by `Last-Event-ID`: 128
random bits that nobody guesses or is told, but its client."""
SIGNED_S: Final = 600.0
"""How long a signed stream lasts: its client comes back with a fresh signature, and misses nothing.
The same request may be repeated at a peer that does not know it: no longer than this."""
LAST_ID_LENGTH_MAX: Final = 300


@dataclass(slots=True, eq=False)
class _Stream:
    """An interest and its feed, with or without a client that reads."""

    feed: Feed
    address: str
    """Who opened it, as far as the socket tells."""
    owner: str = ""
    """The key that signed for it: it tells what that one may see."""
    interest: Interest | None = None
    news: asyncio.Event = field(default_factory=asyncio.Event)
    reader: object = None
    """Whoever reads it now: a client that comes back takes the place of its broken connection."""
    farewell: asyncio.TimerHandle | None = None


class Events:
    """The resource over a peer's verbs."""

    def __init__(self, verbs: Guest, config: RestConfig) -> None:
        self._verbs, self._config = verbs, config
        self._streams: dict[str, _Stream] = {}
        self._room = Room(config.streams_bytes)
        self._random = SystemRandom()
        self._closing: set[asyncio.Task[None]] = set()
        self._used = UsedSignatures(_wall_ms())
        self._stopped = False

    def resources(self) -> list[Resource]:
        """What to serve."""
        action = Parameter(
            "action", "choice", "Data that matches, or interests that would be met.",
            choices=("notify_data", "notify_interest"),
        )  # fmt: skip
        get = Operation(
            "GET", self._get, "What matches a selector: now, and as it comes",
            parameters=(SELECT, action, EVERYWHERE, timeout_parameter(self._config)),
            forms=(EVENTS,), answers={200: None},
        )  # fmt: skip
        return [Resource("/events", (get,))]

    async def stop(self, _: web.Application) -> None:
        """End every stream: the peer stops."""
        self._stopped = True
        for stream in list(self._streams.values()):
            stream.feed.end("the peer stops")
            self._forget(stream)

    async def _get(self, call: Call) -> web.StreamResponse:
        writer = StreamWriter(call.request, self._config)
        if call.request.method == "HEAD":
            self._check(call)
            return await writer.head()
        stream, reset = await self._stream_of(call)
        ends_s = asyncio.get_running_loop().time() + (SIGNED_S if stream.owner else math.inf)
        reader = stream.reader = object()
        stream.news.set()
        if stream.farewell is not None:
            stream.farewell.cancel()
        try:
            writer.response.headers.update(completeness(not _missing(stream)))
            await writer.open()
            if reset and not writer.is_broken:
                await writer.write([_word("reset", stream.feed.name, {"reason": reset})])
            await self._copy(stream, writer, lambda: stream.reader is reader, ends_s)
        finally:
            if stream.reader is reader:
                self._left(stream)
        return writer.response

    def _check(self, call: Call) -> None:
        """Raises what GET raises before anything is sent: what is wrong with the question."""
        space, asked = self._verbs.space, call.parameters
        action = asked.optional("action") or "notify_data"
        profile = typed_profile(asked.text("select"), space)
        place(profile, action, space, everywhere=asked.flag("everywhere"))

    async def _copy(
        self, stream: _Stream, writer: StreamWriter, reads: Callable[[], bool], ends_s: float
    ) -> None:
        """Write what comes until the client is gone or nothing comes any more."""
        feed, is_late = stream.feed, False  # the first id is told however late it is
        while reads() and not writer.is_broken:
            stream.news.clear()
            if is_late:  # what waits is for who comes back
                why = f"after {SIGNED_S:.0f} s: sign anew, and come back with the last id"
                await writer.write([_word("end", "", {"reason": why})])
                return
            if events := feed.take(writer.batch, writer.batch_bytes):
                await writer.write(events)
            elif feed.ended:
                word = "overflow" if feed.dropped else "end"
                await writer.write([_word(word, "", {"reason": feed.ended})])
                return
            elif stream.interest is not None and stream.interest.state in ("closed", "failed"):
                feed.end("the interest is over: it was deleted, or the peer stops")
            else:
                await writer.wait(stream.news)
            is_late = asyncio.get_running_loop().time() >= ends_s

    # -- streams and their interests

    async def _stream_of(self, call: Call) -> tuple[_Stream, str]:
        """The stream to write, and why it begins anew; empty where it does not."""
        last_id = call.request.headers.get("Last-Event-ID", "").strip()
        if len(last_id) > LAST_ID_LENGTH_MAX:
            raise LimitExceeded("Last-Event-ID characters", len(last_id), LAST_ID_LENGTH_MAX)
        name, verbs = last_id.partition(":")[0], await verbs_of(self._verbs, call, standing=True)
        known, credentials = self._streams.get(name), credentials_of(call)
        owner = "" if credentials is None else credentials.key
        if credentials is not None:
            self._used.check(credentials.signature, credentials.issued_ms)
        if SECRET.fullmatch(name) is None or (known is not None and known.owner != owner):
            reason = "this id is of no stream of yours" if last_id else ""
            return await self._open(call, verbs, self._new_secret()), reason
        question = _question(call)
        if known is not None and known.feed.select == question and not known.feed.ended:
            if known.feed.resume(last_id):
                self._use(credentials)
                return known, ""
            reason = "more came since than is kept here"
        else:
            reason = "this peer does not know the stream any more, or never did"
        if known is not None:
            self._forget(known)
        is_other = known is not None and known.feed.select != question
        secret = self._new_secret() if is_other else name  # the same ids for the same things
        return await self._open(call, verbs, secret), reason

    def _use(self, credentials: Credentials | None) -> None:
        """What was signed opens this stream and no other; raises `Refused`."""
        if credentials is not None:
            self._used.use(credentials.signature, credentials.issued_ms, _wall_ms())

    def _new_secret(self) -> str:
        """Also another name: one is not told by the other."""
        return f"events-{new_stem(self._random)}"

    async def _open(self, call: Call, verbs: Verbs, secret: str) -> _Stream:
        """Post an interest, and queue what it brings; raises as every verb."""
        address = call.request.remote or ""
        self._make_room(address)
        stream: _Stream
        question = _question(call)
        news = asyncio.Event()
        feed = Feed(
            secret, question, self._config.stream_queue, news.set,
            bytes_max=self._config.stream_bytes, room=self._room,
        )  # fmt: skip
        stream = _Stream(feed, address, signer_of(call), news=news)
        select, name = call.parameters.text("select"), self._new_secret()

        def take(notification: Notification) -> None:
            if not feed.ended:  # else nothing is made of it: making it is most of the work
                feed.put(_event_of(notification, name, secret))

        if call.parameters.optional("action") == "notify_interest":
            stream.interest = verbs.notify_interest(
                select, handler=take, id=name, timeout=call.timeout_s, allow_partial=True
            )
        else:
            stream.interest = verbs.notify_data(
                select, handler=take, id=name, timeout=call.timeout_s,
                everywhere=call.parameters.flag("everywhere"), allow_partial=True,
            )  # fmt: skip
        feed.put(_word("open", secret, {"interest": name, "select": select}))
        self._streams[secret] = stream
        self._room.enter(feed, address)
        try:
            async with call.turn():  # who is refused here may come later with the same request
                self._use(credentials_of(call))
                await stream.interest
        except BaseException:
            if self._streams.get(secret) is stream:  # and not one that took its place meanwhile
                del self._streams[secret]
            self._room.leave(feed)
            await stream.interest.close()  # it may not have been posted at all
            raise
        if missing := _missing(stream):
            feed.put(_word("incomplete", "", {"missing": intervals_object(missing)}))
        feed.opened()
        if self._stopped:
            feed.end("the peer stops")
        return stream

    def _make_room(self, address: str) -> None:
        """One stream more for an address; raises `Busy` where nobody's can be given up for it."""
        own = [stream for stream in self._streams.values() if stream.address == address]
        if len(own) >= self._config.streams_each:
            self._give_up_one(own, f"{len(own)} event streams of {address} are open here")
        elif len(self._streams) >= self._config.streams_max:
            everybodys = list(self._streams.values())
            self._give_up_one(everybodys, f"{len(everybodys)} event streams are open here")

    def _give_up_one(self, streams: Sequence[_Stream], why: str) -> None:
        """End one that only waits for its client to come back; raises `Busy` where none does."""
        for stream in streams:
            if stream.reader is None and stream.farewell is not None:
                self._forget(stream)
                return
        raise Busy(f"{why}; close some, ask another peer, or come later")

    def _left(self, stream: _Stream) -> None:
        """Nobody reads it: keep it for a while."""
        stream.reader = None
        if stream.feed.ended or self._stopped:
            self._forget(stream)
            return
        loop = asyncio.get_running_loop()
        stream.farewell = loop.call_later(self._config.linger_s, self._forget, stream)

    def _forget(self, stream: _Stream) -> None:
        """Its client does not come back: the interest goes."""
        stream.feed.end("another stream took its place")
        if not self._stopped:  # who still reads gets the rest before the peer is gone
            self._room.leave(stream.feed)
        if stream.farewell is not None:
            stream.farewell.cancel()
        if self._streams.get(stream.feed.name) is stream:
            del self._streams[stream.feed.name]
        if stream.interest is not None:
            task = asyncio.get_running_loop().create_task(stream.interest.close())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)


def _missing(stream: _Stream) -> Sequence[Interval]:
    """What did not answer when the interest was posted last."""
    return () if stream.interest is None else stream.interest.missing


def _question(call: Call) -> str:
    """What a stream is of: who comes back must ask the same."""
    names = ("select", "action", "everywhere")
    return json.dumps([call.parameters.optional(name) for name in names])


def _event_of(notification: Notification, name: str, secret: str) -> Event:
    event_id = secret + notification.notification_id.removeprefix(name)
    form = match_object(notification) | {"notification": event_id}
    return Event(event_id, notification.kind, json.dumps(form, ensure_ascii=False))


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000


def _word(kind: str, id: str, form: dict[str, Any]) -> Event:
    """An event of the stream itself."""
    return Event(id, kind, json.dumps(form, ensure_ascii=False))
