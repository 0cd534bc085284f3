"""One request of a client, asked until somebody replies or its time is spent.

Law of this file: a request is idempotent by its stem and version, so that it may be asked again:
of the next peer where a link breaks, of the client's own peer where a straight way to its owner
failed.  Each asking has a token of its own, which its pages carry; what comes for another is late.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Final

from chord import (
    Busy,
    CallError,
    Contact,
    DialRefused,
    RemoteFault,
    RequestTimeout,
    Runtime,
    dataclass,
    replace,
)
from meteor.client.config import ClientConfig
from meteor.client.shortcuts import Shortcuts
from meteor.client.uplink import Uplink
from meteor.client.vouching import Renewing
from meteor.errors import MeteorError, NotConnected, Timeout, from_fault
from meteor.wire.collector import Attempt, Collect
from meteor.wire.messages import (
    LAIN,
    WAY_ROUND,
    Amend,
    IsWanted,
    Post,
    PostReply,
    ResultPage,
    Wants,
)

GONE: Final = frozenset({"NotJoined", "Closed"})
"""Refusals of a peer that is no member of the ring any more, or not yet: others may serve."""
MAYBE: Final = frozenset({LAIN, "Closed"})
"""Answers of a peer that may have begun: it stood still, or stopped meanwhile."""
BUSY: Final = "is busy; post less at once"
HELD: Final = (
    "was held just now, or this lay on its way, and others may have done it since: "
    "ask again, or give more time"
)
"""Why a peer is to be asked again."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked, and how."""

    operation: object
    """How errors name it."""
    request: Post | Amend
    timeout_s: float
    sign: Callable[[Post | Amend], Post | Amend]
    """Puts in the name of whom it is asked; each asking is signed anew."""
    collect: Collect | None = None
    repeatable: bool = True
    """Whether it may be asked again of another peer when a link broke: an application's action may
    have run."""
    point: int | None = None
    """The curve index that it is about, where its owner may be asked straight."""
    is_wanted: Callable[[], bool] | None = None
    """Whether it is still to be done, while its answer is waited for; None: it is."""


@dataclass(frozen=True, slots=True)
class _Way:
    """By which way it is asked."""

    own_peer: Contact
    """The client's own peer."""
    owner: Contact | None = None
    """Whom instead, straight."""
    asks_owner: bool = False

    def written_on(self, request: Post | Amend) -> Post | Amend:
        """The request, saying so."""
        is_straight = self.owner is not None
        if not isinstance(request, Post) or not (is_straight or self.asks_owner):
            return request
        return replace(request, straight=is_straight, asks_owner=self.asks_owner)


class Requests:
    """What one client has asked and waits for."""

    def __init__(
        self, runtime: Runtime, uplink: Uplink, config: ClientConfig, first_token: int = 0
    ) -> None:
        self._runtime, self._uplink, self._config = runtime, uplink, config
        self.shortcuts = Shortcuts(runtime, config, uplink.is_to)
        self._renewing = Renewing(
            runtime, self.shortcuts, lambda: uplink.peer if uplink.vouches else None
        )
        self._attempts: dict[int, Attempt] = {}
        self._tokens = count(first_token + 1)

    def on_page(self, _sender: Contact, page: object, _remaining_s: float) -> None:
        """Matches come."""
        assert isinstance(page, ResultPage)
        attempt = self._attempts.get(page.token)
        if attempt is not None:
            attempt.pages += 1
            attempt.take(page.found, page.packed)

    def on_is_wanted(self, _sender: Contact, question: object, _remaining_s: float) -> Wants:
        """A peer is about to try again what it was asked."""
        assert isinstance(question, IsWanted)
        attempt = self._attempts.get(question.token)
        return Wants(attempt is not None and (attempt.is_wanted is None or attempt.is_wanted()))

    async def ask(self, asked: Asked) -> PostReply:
        """One request, asked of peer after peer until one replies or the time is spent.

        Raises `Timeout`, `NotConnected`, `Closed`, `Busy` and what the peer refuses with; the
        second and the fourth say whether a peer that was asked before may have done it."""
        before: list[Contact] = []
        try:
            return await self._ask(asked, before)
        except (NotConnected, Busy) as error:
            raise _said_of_before(error, before) from None

    async def _ask(self, asked: Asked, before: list[Contact]) -> PostReply:
        """See `ask`; a peer that was asked in vain and may have done it is put on the list."""
        deadline = self._runtime.now() + asked.timeout_s
        pause_s = self._config.busy_delay_s
        while True:
            way = self._way(asked, await self._uplink.serving(asked.operation, deadline))
            peer = way.owner or way.own_peer
            began_s = self._runtime.now()
            left_s = deadline - began_s
            try:
                reply = await self._attempt(peer, asked, way, left_s)
                if way.owner is None or self.shortcuts.counts(way.owner, way.own_peer):
                    return reply
                before.append(peer)
            except RemoteFault as fault:
                if fault.kind in MAYBE:
                    before.append(peer)
                if fault.kind == LAIN:
                    pause_s = await self._paused(asked, peer, pause_s, deadline, HELD)
                else:
                    self._go_on_without(peer, fault)
            except RequestTimeout as error:
                if left_s > 0 and self._runtime.link(peer).last_heard_s <= began_s:
                    self._lost(peer, error)
                raise Timeout(
                    f"{asked.operation}: no answer from {peer} within {asked.timeout_s:g} s, which "
                    "may still carry it out; give a longer timeout, or look at the peer"
                ) from None
            except Busy:
                pause_s = await self._paused(asked, peer, pause_s, deadline, BUSY)
            except CallError as error:  # a refused dial or a closed link
                self._lost(peer, error)
                if isinstance(error, DialRefused):
                    continue
                if not asked.repeatable:
                    raise _may_have_run(asked, peer) from None
                before.append(peer)

    async def _paused(
        self, asked: Asked, peer: Contact, pause_s: float, deadline: float, why: str
    ) -> float:
        """Wait before a peer is asked again; returns how long the next time.  Raises `Busy` where
        there is no time left for that."""
        if self._runtime.now() + pause_s >= deadline:
            raise Busy(f"{asked.operation}: {peer} {why}") from None
        await self._runtime.sleep(pause_s)
        return 2 * pause_s

    def _go_on_without(self, peer: Contact, fault: RemoteFault) -> None:
        """Ask somebody else where a peer does not serve; raises what it refuses with."""
        if fault.kind == WAY_ROUND:
            self.shortcuts.refused(peer)
        elif fault.kind in GONE:
            self._lost(peer, fault)
        else:
            raise from_fault(fault) from None

    def _lost(self, peer: Contact, error: MeteorError) -> None:
        self._uplink.lost(peer, error)
        self.shortcuts.failed(peer)

    def _way(self, asked: Asked, own_peer: Contact) -> _Way:
        """Straight to the owner of a point, where that is known, linked and vouched for."""
        uplink, shortcuts = self._uplink, self.shortcuts
        bits, space = uplink.id_bits, uplink.space
        if asked.point is None or not bits or space is None or not shortcuts.wanted:
            return _Way(own_peer)
        owner = shortcuts.owner_of(asked.point << bits - space.curve.index_bits)
        if owner is None:
            return _Way(own_peer, asks_owner=True)
        if uplink.is_to(owner) or not shortcuts.is_open(owner):
            return _Way(own_peer)
        if not shortcuts.is_vouched_for(owner, own_peer):
            return _Way(own_peer, asks_owner=True)
        return _Way(own_peer, owner)

    async def _attempt(self, peer: Contact, asked: Asked, way: _Way, left_s: float) -> PostReply:
        """Ask one peer; a reply that speaks of more pages than came is not complete."""
        if left_s <= 0:
            raise RequestTimeout("the time was spent before a peer could be asked")
        margin_s = min(left_s * self._config.reply_margin, self._config.reply_margin_s_max)
        token = next(self._tokens)
        request = way.written_on(asked.request)
        request = asked.sign(replace(request, token=token, timeout_s=left_s - margin_s))
        attempt = self._attempts[token] = Attempt(asked.collect, asked.is_wanted)
        asked_s = self._runtime.now()
        if way.owner is not None:
            self.shortcuts.began(way.owner, token)
            if asked.point is not None:
                self._renewing.went(way.owner, asked.point)
        try:
            reply = await self._runtime.call(peer, request, left_s)
        finally:
            del self._attempts[token]
            if way.owner is not None:
                self.shortcuts.ended(way.owner, token)
        if not isinstance(reply, PostReply):
            raise MeteorError(f"{peer} answered a post with {type(reply).__name__}")
        if reply.owner is not None:
            self.shortcuts.learn(reply.owner)
            if way.owner is None:
                self.shortcuts.vouch(reply.owner.owner, peer, asked_s, reply.owner_for_s)
        attempt.take(reply.found, reply.packed)
        is_whole = attempt.pages == reply.pages and not attempt.is_damaged
        return reply if is_whole else replace(reply, complete=False)


def _may_have_run(asked: Asked, peer: Contact) -> NotConnected:
    error = NotConnected(
        f"{asked.operation}: the link to {peer} is gone, and the action may have run; ask again if "
        "it may run twice",
        (peer.address,),
    )
    error.may_be_done = True
    return error


def _said_of_before(error: NotConnected | Busy, before: Sequence[Contact]) -> NotConnected | Busy:
    """The error, saying who may have done it in spite of it."""
    if not before:
        return error
    text = f"{error}; {before[-1]} was asked before and may have done it"
    said = NotConnected(text, error.tried) if isinstance(error, NotConnected) else Busy(text)
    said.may_be_done = True
    return said
