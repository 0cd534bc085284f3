"""The core of a client: what it asks, what comes back, and the interests that it keeps.

Law of this file: runtime-agnostic, so that one class serves sockets, virtual time and the client
inside a peer.  A request is idempotent by its stem and version: when the link breaks it is asked
again of the next peer until its own time is spent.  A notice is acknowledged to its source after
it lies in the client's queue, never before (DESIGN section 4).
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from copy import copy
from typing import Any, Protocol, TypeVar

from arms import ACTIONS
from chord import (
    CallError,
    Contact,
    Handler,
    RemoteFault,
    RequestTimeout,
    Runtime,
    Task,
)
from meteor.client.authors_counter import AuthorsCounter
from meteor.client.callbacks import Callbacks
from meteor.client.config import ClientConfig
from meteor.client.draft import Draft
from meteor.client.requests import Asked, Requests
from meteor.client.uplink import Uplink
from meteor.errors import Closed, Interval, MeteorError, NotConnected, Timeout, from_fault
from meteor.receipt import Receipt
from meteor.security.credentials import RequestT, Signer, owner_of, signed
from meteor.wire.collector import Collect
from meteor.wire.letters import acknowledgements, notices_of
from meteor.wire.messages import (
    Amend,
    Farewell,
    Forget,
    Forgotten,
    IsWanted,
    Notice,
    Post,
    PostReply,
    ResultPage,
    RingPicture,
    RingQuestion,
    Told,
)
from meteor.wire.record_id import new_stem
from squid import KeywordSpace, plain_text

ReplyT = TypeVar("ReplyT")


class Abandonable(Protocol):
    """Something that somebody may be waiting for."""

    def abandon(self) -> None:
        """The client is closed: end, and leave the overlay's record to its ttl."""


class Stream(Abandonable, Protocol):
    """What a session keeps for one interest."""

    @property
    def stem(self) -> str:
        """Its identity, which its notices carry."""

    def accept(self, notice: Notice) -> bool:
        """Queue a notice; true if it may be acknowledged."""

    @property
    def draft(self) -> Draft:
        """What was posted last."""

    @property
    def ttl_s(self) -> float:
        """How long each renewal lets it live."""

    async def reattach(self) -> None:
        """Make the present link the one that its notices go to; renews it."""

    async def renew(self, ttl_s: float, timeout_s: float) -> Receipt:
        """Let it live for `ttl_s` seconds from now."""

    async def replace(self, draft: Draft, timeout_s: float) -> Receipt:
        """Move it to another profile."""

    async def cancel(self, timeout_s: float) -> PostReply | None:
        """End it, and delete it in the overlay."""


class Session:
    """One client's conversations with the overlay."""

    def __init__(
        self,
        runtime: Runtime,
        peers: Sequence[Contact],
        *,
        space: KeywordSpace | None = None,
        config: ClientConfig | None = None,
        callbacks: Callbacks | None = None,
        first_version: int = 1,
        signer: Signer | None = None,
        wall_clock: Callable[[], float] | None = None,
        steady_clock: Callable[[], float] | None = None,
        first_token: int = 0,
    ) -> None:
        self.runtime, self.config = runtime, config or ClientConfig()
        self.callbacks = callbacks or Callbacks()
        self.uplink = Uplink(runtime, peers, self, space=space, config=self.config)
        self._requests = Requests(runtime, self.uplink, self.config, first_token)
        self.streams: dict[tuple[str, str], Stream] = {}
        """By owner and stem: over one link several may speak, and choose the same name."""
        self.pending: dict[Abandonable, None] = {}
        """Answers that are still awaited, in the order in which they were asked."""
        self.handlers: dict[type, Handler] = {
            ResultPage: self._requests.on_page,
            IsWanted: self._requests.on_is_wanted,
            Notice: self._on_notice,
            Told: self._on_told,
            Farewell: self._on_farewell,
        }
        self.steady_clock = steady_clock or runtime.now
        self._author = AuthorsCounter(first_version, self.steady_clock)
        self._stem, self._version, self._issued_s = "", 0, 0.0
        """Of the one post of a session that speaks for somebody, see `speaking_for`."""
        self._received: dict[Contact, dict[tuple[str, str], list[str]]] = {}
        """What is to be acknowledged, by source, owner and interest."""
        self._received_count, self._acknowledging = 0, False
        self.signer = signer
        """Who signs what is posted; None: nobody."""
        self._wall_clock = wall_clock or self._author.guessed_wall_s

    @property
    def space(self) -> KeywordSpace:
        """The ring's keyword space; raises `Closed` before the first connection."""
        if self.uplink.space is None:
            raise Closed("this client is not connected yet; await it or enter it first")
        return self.uplink.space

    async def open(self, timeout_s: float) -> None:
        """Find a serving peer; raises `NotConnected`, `SpaceMismatch`."""
        await self.uplink.open(timeout_s)

    def close(self) -> None:
        """End everything here; what the overlay keeps lives on by its ttl."""
        if self.uplink.closed:
            return
        self.uplink.close()
        self._requests.shortcuts.close()
        for one in [*self.streams.values(), *self.pending]:
            one.abandon()

    def link_closed(self, contact: Contact) -> None:
        """The runtime says that a link is gone."""
        self._requests.shortcuts.link_closed(contact)
        self.uplink.lost(contact, MeteorError(f"the link to {contact.address} closed"))

    def stream_name(self, stem: str) -> tuple[str, str]:
        """Under which an interest that is posted in this session's name is kept."""
        return owner_of(self.signer), stem

    def new_stem(self) -> str:
        """A fresh identity for a post."""
        return self._stem or new_stem(self.runtime.random)

    def next_version(self) -> int:
        """The author's counter.  It runs with the clock, in microseconds since `first_version`, so
        that posts of one named id by several processes are ordered as they were made."""
        return self._version or self._author.next()

    def speaking_for(
        self, signer: Signer | None, *, stem: str = "", version: int = 0, issued_s: float = 0.0
    ) -> Session:
        """The same link in the name of somebody else: a request by REST.  With a `stem`, a
        `version` and an issue time it is for one post alone, and a repeat of that is the same."""
        other = copy(self)
        other.signer, other._stem, other._version = signer, stem, version
        other._issued_s = issued_s
        return other

    def go_on(self) -> None:
        """The one post is done: what is said later, of an interest, is said as it comes."""
        self._stem, self._version, self._issued_s = "", 0, 0.0

    def spawn(self, conversation: Coroutine[Any, Any, None]) -> Task[None]:
        """Run something in the background; what it may raise it must report itself."""
        return self.runtime.spawn(conversation)

    def report(self, error: MeteorError) -> None:
        """Tell the application of something that no caller waits for."""
        self.callbacks.error(self.runtime, error)

    # -- asking ------------------------------------------------------------------------------

    async def post(
        self,
        draft: Draft,
        timeout_s: float,
        collect: Collect | None = None,
        is_wanted: Callable[[], bool] | None = None,
        *,
        since: int = 0,
        again: bool = False,
    ) -> PostReply:
        """Post a draft; result pages go to `collect`.  It is not tried again once it is wanted no
        more.  Of an interest: `since` when it is had here, and whether it is posted `again`.

        Raises `Timeout`, `NotConnected`, `Closed`, `Busy` and what the peer refuses with."""
        request = Post(
            token=0,
            document=draft.document,
            stem=draft.stem,
            version=draft.version,
            ttl_s=draft.ttl_s,
            timeout_s=timeout_s,
            everywhere=draft.everywhere,
            mode=draft.mode,
            dry_run=draft.dry_run,
            since=since,
            again=again,
        )
        may_repeat, point = draft.action in ACTIONS, self._point_of(draft)
        return await self._requests.ask(
            Asked(draft, request, timeout_s, self._signed, collect, may_repeat, point, is_wanted)
        )

    def _point_of(self, draft: Draft) -> int | None:
        """The one place of a draft, whose owner may be asked straight: of what is stored, and of a
        question.  What stays in touch with its client belongs to the client's own peer; a delete
        counts what it took, and does so once."""
        if not self._requests.shortcuts.wanted or not draft.region.is_point:
            return None
        if draft.action != "store" and (draft.action != "retrieve" or draft.ttl_s):
            return None
        return self.space.curve.encode(draft.region.low)

    async def amend(
        self,
        verb: str,
        id: str,
        timeout_s: float,
        *,
        version: int = 0,
        ttl_s: float = 0.0,
        document: bytes = b"",
        collect: Collect | None = None,
        since: int = 0,
    ) -> PostReply:
        """Renew, cancel or replace by id, `collect` and `since` as in `post`; raises as that."""
        version = version or self.next_version()
        request = Amend(0, verb, plain_text(id), version, ttl_s, timeout_s, document, since=since)
        asked = Asked(f"{verb} of {id}", request, timeout_s, self._signed, collect)
        return await self._requests.ask(asked)

    async def ring(self, timeout_s: float) -> RingPicture:
        """What the ring looks like from the peer that serves; raises as `post` does."""
        return await self._question("ring", RingQuestion(), RingPicture, timeout_s)

    async def forget(self, intervals: tuple[Interval, ...], timeout_s: float) -> Forgotten:
        """Declare the past of lost intervals gone; raises `Refused` and as `post` does."""
        request = self._signed(Forget(intervals))
        return await self._question("forget", request, Forgotten, timeout_s)

    def _signed(self, request: RequestT) -> RequestT:
        """The request in the name of whom this session speaks for."""
        if self.signer is None:
            return request
        issued_ms = int((self._issued_s or self._wall_clock()) * 1000)
        return signed(request, self.signer, self.space.digest, issued_ms)

    async def _question(
        self, name: str, question: object, kind: type[ReplyT], timeout_s: float
    ) -> ReplyT:
        """Ask the peer that serves, once."""
        deadline = self.runtime.now() + timeout_s
        peer = await self.uplink.serving(name, deadline)
        try:
            reply = await self.runtime.call(peer, question, deadline - self.runtime.now())
        except RemoteFault as fault:
            raise from_fault(fault) from None
        except RequestTimeout:
            raise Timeout(f"{name}: no answer from {peer} within {timeout_s:g} s") from None
        except CallError as error:
            raise NotConnected(f"{name}: {peer}: {error}; ask again", (str(peer),)) from None
        if not isinstance(reply, kind):
            raise MeteorError(f"{peer} answered a question about the {name} with {reply!r:.80}")
        return reply

    # -- what comes by itself ----------------------------------------------------------------

    def _on_notice(self, _sender: Contact, notice: object, _remaining_s: float) -> None:
        assert isinstance(notice, Notice)
        self._accept(notice)

    def _on_told(self, _sender: Contact, told: object, _remaining_s: float) -> None:
        assert isinstance(told, Told)
        for notice in notices_of(told):
            self._accept(notice)

    def _accept(self, notice: Notice) -> None:
        name = (notice.owner, notice.interest)
        stream = self.streams.get(name)
        if self.uplink.closed or stream is None or not stream.accept(notice):
            return
        of_source = self._received.get(notice.source)
        if of_source is None:
            of_source = self._received[notice.source] = {}
        of_source.setdefault(name, []).append(notice.id)
        self._received_count += 1
        if self._received_count >= self.config.acknowledge_batch:
            self._acknowledge()
        elif not self._acknowledging:
            self._acknowledging = True
            self.spawn(self._acknowledge_soon())

    def _on_farewell(self, sender: Contact, farewell: object, _remaining_s: float) -> None:
        assert isinstance(farewell, Farewell)
        reason = farewell.reason or "it stops"
        self.uplink.lost(sender, MeteorError(f"{sender} says farewell: {reason}"))

    async def _acknowledge_soon(self) -> None:
        """Once for all that comes in a few milliseconds."""
        await self.runtime.sleep(self.config.acknowledge_within_s)
        self._acknowledging = False
        self._acknowledge()

    def _acknowledge(self) -> None:
        """Tell the sources what lies in our queues.

        An acknowledgement that is lost brings its notice again, which is acknowledged again."""
        received, self._received = self._received, {}
        self._received_count = 0
        if self.uplink.peer is not None:
            for message in acknowledgements(received, self.config.acknowledge_batch):
                self.runtime.send(self.uplink.peer, message)

    # -- the link (called by the uplink) -----------------------------------------------------

    def disconnected(self, error: MeteorError) -> None:
        """See `UplinkObserver`."""
        self.callbacks.disconnected(self.runtime, error)

    def reconnected(self, peer: Contact) -> None:
        """Tell the application, and bring every interest to the new link."""
        self.callbacks.reconnected(self.runtime, peer.address)
        for stream in list(self.streams.values()):
            self.spawn(stream.reattach())
