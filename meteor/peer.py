"""A rendezvous peer to embed in an application, or to run as a daemon.

Law of this file: the edge.  Here a transport, a runtime and a journal are chosen and put under
`meteor.rendezvous.rendezvous_peer`; no protocol and no decisions.  No signal handlers, no global
state: any number of peers live in one process.

    async with meteor.Peer(space=space, listen="127.0.0.1:7400") as peer:
        await peer.store("type=temperature temperature=21.5", b"...")
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self, TypeVar

from chord import ChordConfig, Contact, RelocationConfig, Supplanted
from meteor import operated
from meteor.client.callbacks import Callbacks
from meteor.client.guest import Guest, guest_session, heard_by
from meteor.client.session import Session
from meteor.client.verbs import Verbs
from meteor.described import inner, names_for_users
from meteor.errors import Closed
from meteor.journal.journal import Journal, JournalFailed
from meteor.links.asyncio_event_files import EventFiles
from meteor.links.asyncio_runtime import AsyncioRuntime
from meteor.links.asyncio_steady_clock import steady_clock
from meteor.links.transport import Transport
from meteor.operation.snapshot import Snapshot
from meteor.peer_options import PeerOptions, Preset
from meteor.peer_start import (
    begin_policy,
    choose_id,
    choose_space,
    keep_note,
    kept_id,
    make_transport,
    next_incarnation,
    open_event_log,
    open_journal,
    read_note,
    without_itself,
)
from meteor.rendezvous.application_actions import ActionHandler, ApplicationActions
from meteor.rendezvous.rendezvous_peer import RendezvousPeer
from meteor.rest.config import RestConfig
from meteor.security.credentials import Signer
from meteor.security.policy import Policy
from meteor.security.tls import TLS
from meteor.wire.operations import PeerNote
from squid import Intervals, KeywordSpace, RouterConfig

_log = logging.getLogger("meteor.peer")

HandlerT = TypeVar("HandlerT", bound=ActionHandler)

SETTLE_S = 30.0
"""How long a new peer may take to hold its arc before `start` gives up."""


class Peer(Verbs):
    """One rendezvous peer with every verb of a client.

    `listen` is `host:port`, port 0 for any; `join` the addresses of peers of a ring: without it
    this peer founds one.  Without a `space` it takes the ring's.  `data_dir` keeps id, profiles
    and interests over restarts; without it they live as long as the peer.  A new peer gets its
    identifier from the ring (`ChordConfig.placement`) unless `id` gives one.  With `moves` it looks
    whether it is far lighter than others; `wait_place` tells when it should go elsewhere.
    `copies` peers, this one included, keep what is posted to its part of the ring, and where fewer
    than `copies_min` do nothing is acknowledged and no answer complete.  The ring's numbers are
    those of a `preset` (`local`, `lan`, `wan`) or a `config`.  `tls` encrypts the port and lets
    only peers of its CA in; without it a peer that others reach is refused unless `insecure` says
    that the network is trusted.  `rest` limits its HTTP routes, and has the token to change things
    through them.  `routing` says how queries are handed on.  An `identity` signs what the peer
    itself posts.  The `policy`, a file that is read again when it changes, says who may do what
    here.  Events go as JSON lines to the directory `event_log`, for `meteor-sim logs`.

    Raises `ValueError` and `Refused("insecure")`; starting raises `JoinFailed`, `SpaceMismatch`,
    `AddressInUse`, `DataDirLocked`, `CertificateError`, `PolicyError`."""

    __dir__ = names_for_users

    def __init__(
        self,
        *,
        space: KeywordSpace | None = None,
        listen: str = "127.0.0.1:0",
        join: Sequence[str] = (),
        data_dir: str | Path | None = None,
        advertise: str | None = None,
        found_if_alone: bool = False,
        id: int | None = None,
        config: ChordConfig | None = None,
        transport: Transport | None = None,
        seed: int | None = None,
        moves: RelocationConfig | None = None,
        copies: int = 3,
        copies_min: int | None = None,
        preset: Preset | None = None,
        tls: TLS | None = None,
        insecure: bool = False,
        rest: RestConfig | None = None,
        routing: RouterConfig | None = None,
        event_log: str | Path | None = None,
        identity: Signer | None = None,
        policy: Policy | str | Path | None = None,
    ) -> None:
        given = locals()  # every argument by its name: a list of them would be a second one
        del given["self"]
        self._options = PeerOptions.checked(**given)
        self._transport: Transport | None = transport
        self._is_settled, self._before = False, list[Peer]()  # itself, at its former place
        self._left: Intervals = ()  # what it held and nobody took
        self._place: int | None = None
        self._called, self._closed = asyncio.Event(), asyncio.Event()
        self._closing = asyncio.Lock()
        self._journal: Journal | None = None
        self._runtime: AsyncioRuntime | None = None
        self._core: RendezvousPeer | None = None
        self._events: EventFiles | None = None
        self._own_session: Session | None = None
        self._guest_session: Session | None = None
        self._failure: BaseException | None = None
        self._process = os.getpid()
        self.callbacks = Callbacks(None, None, None)
        self._actions = ApplicationActions()

    def action(self, name: str) -> Callable[[HandlerT], HandlerT]:
        """Let this peer run an application's action, `async def (context, message, matches)`, over
        the matches that it reports, and send the bytes that it gives to whoever posted it.

        For peers that all run the same program: one without the action counts as missing.  Raises
        `ValueError` for a name that is taken, or none that can be posted."""

        def register(handler: HandlerT) -> HandlerT:
            self._actions.add(name, handler)
            return handler

        return register

    @property
    @inner
    def guest(self) -> Guest:
        """Every verb of a client in nobody's name, for whoever asks by way of this peer."""
        return Guest(self._session_of_guests, lambda: self.core.gatekeeper)

    def _session_of_guests(self) -> Session:
        self._running()
        if self._guest_session is None:
            raise Closed("this peer has not started: enter it with `async with`")
        return self._guest_session

    # -- what it is

    @property
    def address(self) -> str:
        """Where others reach it; raises `Closed` before it has started."""
        return self._running().contact.address

    @property
    def id(self) -> int:
        """Its identifier on the ring."""
        return self._running().contact.id

    @property
    def contact(self) -> Contact:
        """Identifier and address."""
        return self._running().contact

    @property
    def space(self) -> KeywordSpace:
        """The keyword space of the ring."""
        return self.core.space

    @property
    def _session(self) -> Session:
        self._running()
        if self._own_session is None:
            raise Closed("this peer has not started: enter it with `async with`")
        return self._own_session

    @property
    def core(self) -> RendezvousPeer:
        """Its protocol side; raises `Closed` before it has started and after it stopped."""
        self._running()
        if self._core is None:
            raise Closed("this peer has not started: enter it with `async with`")
        return self._core

    def __repr__(self) -> str:
        at = self.contact if self.serving else None
        return f"<Peer at {at.address} id={at.id:x}>" if at else "<Peer that does not serve>"

    @property
    def serving(self) -> bool:
        """Whether it runs."""
        return self._core is not None and not self._closed.is_set()

    @property
    def failure(self) -> BaseException | None:
        """Why it stopped by itself, if it did: `JournalFailed`, `Supplanted`, or a bug."""
        return self._failure

    # -- what its operator asks

    @property
    @inner
    def whereabouts(self) -> dict[str, str]:
        """Its address and identifier, as far as it has them by now."""
        return operated.whereabouts(self._runtime)

    @property
    def unreadiness(self) -> str:
        """Why posts that are sent here are not served yet, or not any more; empty when they are."""
        stopped = self._closed.is_set()
        return operated.unreadiness(self._core, settled=self._is_settled, stopped=stopped)

    @inner
    def snapshot(self) -> Snapshot | None:
        """What it has counted so far; None while it does not serve."""
        return operated.snapshot(self._core, self._runtime, self._transport, self._journal)

    async def reload_policy(self) -> None:
        """Read the policy's file again now; raises `PolicyError` for a bad one, and the policy
        before it stays, or `ValueError` where there is no file."""
        await operated.reload_policy(self._options, self.core)

    def reload_certificates(self) -> None:
        """Read the files of TLS again now: links that open from here on use them.

        Raises `CertificateError` for files that cannot be used, and those before stay, or
        `ValueError` where there is no TLS."""
        operated.reload_certificates(self._options, self._transport)

    # -- life

    async def start(self) -> Self:
        """Listen, found or join, and return once the peer holds its arc."""
        if self._closed.is_set():
            raise Closed(f"start: this peer at {self._options.listen} has stopped; make a new one")
        if self._runtime is not None:
            return self
        try:
            await self._start()
        except BaseException:
            await self.close(hand_over=False)
            raise
        return self

    async def _start(self) -> None:
        options = self._options
        self._journal, contents = await open_journal(options, time.time)
        note = await read_note(self._journal)
        transport = self._transport = make_transport(options)
        self._serve_http(transport)  # before it listens: aiohttp freezes its routes then
        address = await transport.listen()
        options = self._options = without_itself(options, address, note)
        kept = await kept_id(self._journal, note, [peer._left for peer in self._before])
        peer_id = await choose_id(options, kept, address, transport)
        incarnation = next_incarnation(note, time.time())
        contact = Contact(peer_id, address, incarnation)
        self._runtime = AsyncioRuntime(contact, transport, options.seed, on_failure=self._failed)
        space = await choose_space(options, note, self._runtime)
        born = incarnation if note is None else note.born
        await keep_note(self._journal, PeerNote(peer_id, incarnation, space.to_toml(), born))
        self._core = RendezvousPeer(
            self._runtime, space, self._journal, wall_clock=time.time, steady_clock=steady_clock,
            config=options.config, copies=options.copies, copies_min=options.copies_min,
            actions=self._actions, routing=options.routing, born=born,
        )  # fmt: skip
        await begin_policy(options, self._core.gatekeeper, self._runtime)
        session = self._own_session = Session(
            self._runtime, [contact], space=space, callbacks=self.callbacks,
            first_version=time.time_ns() // 1000, signer=options.identity, wall_clock=time.time,
            steady_clock=steady_clock,
        )  # fmt: skip
        session.uplink.embed(contact)
        guest = self._guest_session = guest_session(session, contact, time.time_ns() // 1000)
        self._core.adopt(dict(heard_by(session, guest)), session.link_closed)
        self._core.serve()
        self._events = await open_event_log(options, self._core, self._runtime, time.time)
        await self._core.start(
            options.contacts, found_if_alone=options.found_if_alone, contents=contents
        )
        operated.report_damage(self._core, options)
        self._core.meet(options.contacts)
        self._core.seek_company(options.find)  # who was not there, or cut off, comes later
        await self._core.settled(SETTLE_S)
        self._is_settled = True
        _log.info("peer %x serves at %s", peer_id, address)
        if options.moves is not None:
            self._core.move_with(self._call_elsewhere, options.moves)

    def _call_elsewhere(self, place: int) -> None:
        self._place = place
        self._called.set()

    async def wait_place(self) -> int | None:
        """Wait until this peer should move (`moves`), and return the identifier under which it
        should come back within some seconds, see `relocated`; None when it has stopped."""
        await self._called.wait()
        return None if self._closed.is_set() else self._place

    def relocated(self, id: int) -> Peer:
        """A peer of the same address, options and data for another place on the ring: close this
        one, which hands over what it holds, then start that one.

        A running peer cannot change its identifier: links, routes of interests and journals name
        it.  Its clients go to other peers meanwhile, or come back.  Its start raises JoinFailed
        where nobody took what this one held: that counts by the identifier of before.  Raises
        ValueError for a peer on a transport of its own."""
        options = self._options
        if options.transport is not None:
            raise ValueError("relocated: a transport that was given cannot listen again")
        neighbours = [contact.address for contact in self.core.node.successors[:3]]
        kept = [address for address in options.join if address not in neighbours]
        listen = self.address if options.listen.endswith(":0") else options.listen
        join = (*neighbours, *kept)
        peer = Peer(**options.arguments(space=self.space, listen=listen, join=join, id=id))
        peer._before, peer._actions = [self] * (id != self.id), self._actions
        return peer

    async def leave(self, timeout_s: float = 5.0) -> None:
        """Hand over what is held, say good-bye, and stop."""
        await self.close(timeout_s=timeout_s)

    async def close(self, *, hand_over: bool = True, timeout_s: float = 5.0) -> None:
        """Stop; with `hand_over` after the successor has what this peer holds."""
        async with self._closing if hand_over else asyncio.Lock():  # a crash waits for nobody
            core, self._core = self._core, None
            if core is not None and hand_over:
                self._left = await core.leave(timeout_s)
            if self._runtime is not None:
                for session in filter(None, (self._own_session, self._guest_session)):
                    session.close()
                await self._runtime.aclose()
            elif self._transport is not None:
                await self._transport.close()
            if self._events is not None:
                await self._events.close()
            if self._journal is not None:
                await self._journal.close()
                self._journal = None
            self._closed.set()
            self._called.set()

    async def crash(self) -> None:
        """Stop without a word, as if the process had died: for tests of what remains."""
        await self.close(hand_over=False)

    async def wait_closed(self) -> None:
        """Return when the peer has stopped."""
        await self._closed.wait()

    async def __aenter__(self) -> Self:
        return await self.start()

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _serve_http(self, transport: Transport) -> None:
        """REST on the peer's own port, where the transport has one."""
        application = getattr(transport, "app", None)
        if application is not None:
            # aiohttp is slow to import
            from meteor.operation.routes import operation_resources  # noqa: PLC0415
            from meteor.rest.serving import add_routes  # noqa: PLC0415

            add_routes(application, self, self._options.rest, operation_resources(self))

    def _failed(self, error: BaseException) -> None:
        """A bug in a conversation, a disk that takes nothing, or another peer in its place: stop
        rather than answer wrongly."""
        self._failure = error
        listen = self._options.listen
        if isinstance(error, JournalFailed | Supplanted):
            _log.error("peer %s stops: %s", self.whereabouts.get("address", listen), error)
        else:
            asyncio.get_running_loop().call_exception_handler(
                {"message": f"meteor: peer {listen} stops after a failure", "exception": error}
            )
        for session in (self._own_session, self._guest_session):
            if session is not None:
                session.close()
        if self._runtime is not None:
            self._runtime.close()
        self._closed.set()
        self._called.set()

    def _running(self) -> AsyncioRuntime:
        if self._process != os.getpid():
            raise Closed("this peer belongs to the process before the fork; make one here")
        if self._runtime is None:
            raise Closed("this peer has not started: enter it with `async with`")
        return self._runtime
