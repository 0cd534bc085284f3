"""What happens at this peer, and what it keeps: the dashboard's live stream and its registry.

Law of this file: looking on changes nothing.  `/live` drops the oldest when its reader is slow, and
says how many: it shows, it does not deliver (`/events` does).
"""

from __future__ import annotations

import asyncio
import json
from typing import Final

from aiohttp import web

from meteor.errors import Busy, Refused
from meteor.keeping.registry import Looking, RegistryPage, record_object
from meteor.rest.answers import json_answer
from meteor.rest.call import Call, Operation, Resource
from meteor.rest.config import RestConfig
from meteor.rest.feed import Event
from meteor.rest.negotiation import EVENTS
from meteor.rest.overlay import Facts, may_look_in
from meteor.rest.parameters import Parameter, Parameters
from meteor.rest.schemas import ref
from meteor.rest.streaming import StreamWriter

ONLOOKERS_MAX: Final = 64
QUEUE: Final = 500
RECORDS_MAX: Final = 200
PLACE_MAX: Final = 10_000_000


class Live:
    """The resources about what a peer sees and has."""

    def __init__(self, peer: Facts, config: RestConfig) -> None:
        self._peer, self._config = peer, config
        self._onlookers = 0
        self._stopped = False
        self._news: set[asyncio.Event] = set()

    def resources(self) -> list[Resource]:
        """What to serve."""
        parameters = (
            Parameter("kind", "choice", "Only these.", choices=("data", "interest", "watch")),
            Parameter("search", "text", "Words of the profile or the id."),
            Parameter("limit", "integer", "Records in one answer.", low=1, high=RECORDS_MAX),
            Parameter("after", "integer", "Where to go on: see `next`.", low=0, high=PLACE_MAX),
        )
        live = Operation(
            "GET", self._live, "Posts, matches and notifications at this peer, as they happen",
            forms=(EVENTS,), answers={200: None},
        )  # fmt: skip
        records = Operation(
            "GET", self._records, "Profiles, interests and watches that this peer answers for",
            parameters=parameters, answers={200: ref("Records")},
        )  # fmt: skip
        return [Resource("/live", (live,)), Resource("/records", (records,))]

    async def stop(self, _: web.Application) -> None:
        """End every stream: the peer stops."""
        self._stopped = True
        for news in list(self._news):
            news.set()

    def _check(self, call: Call) -> None:
        """Raises `Refused`."""
        if not may_look_in(call, self._peer.core):
            raise Refused(
                "this peer has a policy: what it keeps and sees is shown on its own machine, or to "
                "who shows its token",
                "policy",
            )

    async def _live(self, call: Call) -> web.StreamResponse:
        self._check(call)
        writer = StreamWriter(call.request, self._config)
        if call.request.method == "HEAD":
            return await writer.head()
        monitor = self._peer.core.monitor
        if self._onlookers >= ONLOOKERS_MAX:
            raise Busy(f"{self._onlookers} programs look on here already; ask another peer")
        news = asyncio.Event()
        onlooker = monitor.watch(QUEUE, news.set)
        self._onlookers += 1
        self._news.add(news)
        try:
            await writer.open()
            while not writer.is_broken and not self._stopped:
                news.clear()
                seen, dropped = onlooker.take()
                events = [Event("", "dropped", str(dropped))] if dropped else []
                events += [
                    Event("", str(one["kind"]), json.dumps(one, ensure_ascii=False)) for one in seen
                ]
                if events:
                    await writer.write(events)
                else:
                    await writer.wait(news)
        finally:
            self._onlookers -= 1
            self._news.discard(news)
            monitor.leave(onlooker)
        return writer.response

    async def _records(self, call: Call) -> web.Response:
        self._check(call)
        core = self._peer.core
        page = await self._page(call.parameters)
        form = {
            "records": [record_object(one, core.shelf.ttl_ms(one)) for one in page.records],
            "kept": core.shelf.store.public_count(),
            "examined": page.examined,
            "more": page.next is not None,
        }
        headers = {"Cache-Control": "no-store"}
        if page.next is not None:
            query = call.request.rel_url.update_query(after=str(page.next))
            form["next"] = str(query)
            headers["Link"] = f'<{query}>; rel="next"'
        return json_answer(form, headers=headers)

    async def _page(self, parameters: Parameters) -> RegistryPage:
        """What everybody may see, from a place on that it takes some turns to come to."""
        shelf, holdings = self._peer.core.shelf, self._peer.core.holdings
        begin = parameters.integer("after", 0)
        looking = Looking(
            kind=parameters.optional("kind"),
            search=parameters.optional("search") or "",
            limit=parameters.integer("limit", 50),
            belongs=lambda record: shelf.lives_in(record, holdings.held),
        )
        for record in shelf.store.public_records(begin):
            if record is None:
                await asyncio.sleep(0.0)
            elif looking.is_full:
                return looking.page(begin, more=True)
            else:
                looking.look_at(record)
        return looking.page(begin, more=False)
