"""A rendezvous peer to embed in an application, or to run as a daemon.

Law of this file: the edge.  Here a transport, a runtime and a journal are chosen and put under
`meteor.rendezvous_peer`; no protocol and no decisions.  No signal handlers, no global state: any
number of peers live in one process.

    async with meteor.Peer(space=space, listen="127.0.0.1:7400") as peer:
        await peer.store("type=temperature temperature=21.5", b"...")
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from chord import CallError, ChordConfig, Contact, RelocationConfig, ask_for_place, identifier
from meteor import codec
from meteor.address import checked_address, checked_listen
from meteor.asyncio_runtime import AsyncioRuntime
from meteor.callbacks import Callbacks
from meteor.errors import Closed, JoinFailed, SpaceError, SpaceMismatch
from meteor.journal import Entry, Journal, MemoryJournal
from meteor.operations import PeerNote
from meteor.rendezvous_peer import RendezvousPeer, check_copies, greet
from meteor.session import Session
from meteor.transport import Transport
from meteor.verbs import Verbs
from squid import KeywordSpace

_log = logging.getLogger("meteor.peer")

IDENTITY_KEY = b"peer"
SETTLE_S = 30.0
"""How long a new peer may take to hold its arc before `start` gives up."""


class Peer(Verbs):
    """One rendezvous peer with every verb of a client.

    `listen` is `host:port`, port 0 for any; `join` the addresses of peers of a ring: without it
    this peer founds one.  Without a `space` it takes the ring's.  `data_dir` keeps id, profiles
    and interests over restarts; without it they live as long as the peer.  A new peer gets its
    identifier from the ring (`ChordConfig.placement`) unless `id` gives one.  With `moves` it looks
    whether it is far lighter than others; `wait_place` tells when it should go elsewhere.
    `copies` peers, this one included, keep what is posted to its part of the ring.

    Starting raises `JoinFailed`, `SpaceMismatch`, `AddressInUse`, `DataDirLocked`."""

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
    ) -> None:
        if transport is None:
            checked_listen(listen, advertise)
        if isinstance(join, str):
            raise TypeError(f"join: give a list of addresses, [{join!r}]")
        self._config = config or ChordConfig.local()
        if id is not None and not 0 <= id < 1 << self._config.bits:
            raise ValueError(f"id: {id} is not between 0 and 2**{self._config.bits} - 1")
        self._given_space, self._listen = space, listen
        self._join = [Contact.at(checked_address("join", address)) for address in join]
        self._data_dir = None if data_dir is None else Path(data_dir)
        self._advertise, self._found_if_alone = advertise, found_if_alone
        self._given_id = id
        self._transport, self._seed, self._moves = transport, seed, moves
        self._moved = False
        self._place: int | None = None
        self._called = asyncio.Event()
        self._copies = check_copies(copies, self._config)
        self._journal: Journal | None = None
        self._runtime: AsyncioRuntime | None = None
        self._core: RendezvousPeer | None = None
        self._own_session: Session | None = None
        self._listens_by_hand = transport is not None
        self._closed = asyncio.Event()
        self._process = os.getpid()
        self.callbacks = Callbacks(None, None, None)

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

    @property
    def serving(self) -> bool:
        """Whether it runs."""
        return self._core is not None and not self._closed.is_set()

    # -- life

    async def start(self) -> Self:
        """Listen, found or join, and return once the peer holds its arc."""
        if self._closed.is_set():
            raise Closed(f"start: this peer at {self._listen} has stopped; make a new one")
        if self._runtime is not None:
            return self
        try:
            await self._start()
        except BaseException:
            await self.close(hand_over=False)
            raise
        return self

    async def _start(self) -> None:
        self._journal = await self._open_journal()
        note = await self._read_note(self._journal)
        transport = self._transport or self._new_transport()
        self._serve_http(transport)  # before it listens: aiohttp freezes its routes then
        address = await transport.listen()
        peer_id = await self._choose_id(note, address, transport)
        incarnation = 0 if note is None else note.incarnation + 1
        contact = Contact(peer_id, address, incarnation)
        self._runtime = AsyncioRuntime(contact, transport, self._seed, on_failure=self._failed)
        space = await self._choose_space(note)
        await self._journal.append(
            [Entry(IDENTITY_KEY, codec.encode(PeerNote(peer_id, incarnation, space.to_toml())))]
        )
        self._core = RendezvousPeer(
            self._runtime, space, self._journal, wall_clock=time.time, config=self._config,
            copies=self._copies,
        )  # fmt: skip
        session = self._own_session = Session(
            self._runtime, [contact], space=space, callbacks=self.callbacks,
            first_version=time.time_ns() // 1000,
        )  # fmt: skip
        session.uplink.embed(contact)
        self._core.adopt(session.handlers, session.link_closed)
        self._core.serve()
        await self._core.start(self._join, found_if_alone=self._found_if_alone)
        self._report_damage()
        await self._core.settled(SETTLE_S)
        if self._moves is not None:
            self._core.move_with(self._call_elsewhere, self._moves)

    def _report_damage(self) -> None:
        """Say which records of the data directory could not be read, and were set aside."""
        restored = None if self._core is None else self._core.restored
        if restored is not None and restored.damaged:
            _log.warning(
                "%s: %d damaged records were set aside, %d are read; the first is %r",
                self._data_dir, len(restored.damaged), restored.records, restored.damaged[0],
            )  # fmt: skip

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
        it.  Its clients go to other peers meanwhile, or come back.  Raises ValueError for a peer
        on a transport of its own."""
        if self._listens_by_hand:
            raise ValueError("relocated: a transport that was given cannot listen again")
        neighbours = [contact.address for contact in self.core.node.successors[:3]]
        kept = [contact.address for contact in self._join if contact.address not in neighbours]
        port_given = not self._listen.endswith(":0")
        peer = Peer(
            space=self.space,
            listen=self._listen if port_given else self.address,
            join=[*neighbours, *kept],
            data_dir=self._data_dir,
            advertise=self._advertise,
            id=id,
            config=self._config,
            seed=self._seed,
            moves=self._moves,
        )
        peer._moved = True
        return peer

    async def leave(self, timeout_s: float = 5.0) -> None:
        """Hand over what is held, say good-bye, and stop."""
        await self.close(timeout_s=timeout_s)

    async def close(self, *, hand_over: bool = True, timeout_s: float = 5.0) -> None:
        """Stop; with `hand_over` after the successor has what this peer holds."""
        core, self._core = self._core, None
        if core is not None and hand_over:
            await core.leave(timeout_s)
        if self._runtime is not None:
            if self._own_session is not None:
                self._own_session.close()
            await self._runtime.aclose()
        elif self._transport is not None:
            await self._transport.close()
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

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    # -- choices

    async def _open_journal(self) -> Journal:
        if self._data_dir is None:
            return MemoryJournal()
        from meteor.sqlite_journal import SqliteJournal  # noqa: PLC0415 - only where it is used

        return await SqliteJournal.open(self._data_dir / "meteor.sqlite")

    @staticmethod
    async def _read_note(journal: Journal) -> PeerNote | None:
        for entry in (await journal.scan()).entries:
            if entry.key == IDENTITY_KEY and entry.value is not None:
                note = codec.decode(entry.value)
                return note if isinstance(note, PeerNote) else None
        return None

    def _new_transport(self) -> Transport:
        from meteor.websocket_transport import WebSocketTransport  # noqa: PLC0415 - it is slow

        self._transport = WebSocketTransport(self._listen, advertise=self._advertise or "")
        return self._transport

    async def _choose_id(self, note: PeerNote | None, address: str, transport: Transport) -> int:
        """A kept id wins: a restarted peer is the same peer.  Else where the ring wants it, or by
        hash of the address."""
        if note is not None and not self._moved:
            return note.id
        if self._given_id is not None:
            return self._given_id
        hashed = identifier(address, self._config.bits)
        if self._config.placement == "hash" or not self._join:
            return hashed
        place = await self._ask_for_place(hashed, transport.for_client())
        return hashed if place is None else place

    async def _ask_for_place(self, hashed: int, transport: Transport) -> int | None:
        """Ask as a client, being no peer yet; the seed is such that the same peer asks alike."""
        visitor = AsyncioRuntime(Contact(hashed, ""), transport, self._seed)
        try:
            return await ask_for_place(visitor, self._join, seed=hashed)
        finally:
            await visitor.aclose()

    async def _choose_space(self, note: PeerNote | None) -> KeywordSpace:
        """The space given, else the one kept, else the ring's."""
        given = self._given_space
        kept = None if note is None else KeywordSpace.from_toml(note.space)
        if given is not None and kept is not None and given.digest != kept.digest:
            # what was kept lies in cells of its own space: in another one nobody would find it
            raise SpaceMismatch(f"{given.difference(kept)} (there: what {self._data_dir} keeps)")
        known = given or kept
        if known is not None:
            return known
        assert self._runtime is not None
        tried = []
        for contact in self._join:
            try:
                greeting = await greet(self._runtime, contact, None)
            except CallError as error:
                tried.append(f"{contact.address}: {error}")
                continue
            return KeywordSpace.from_toml(greeting.space)
        if tried:
            raise JoinFailed(f"no ring to take a space from: {'; '.join(tried)}", tuple(tried))
        raise SpaceError("a peer that founds a ring needs a keyword space: give space=")

    def _serve_http(self, transport: Transport) -> None:
        """REST on the peer's own port, where the transport has one."""
        application = getattr(transport, "app", None)
        if application is not None:
            from meteor.gateway import add_routes  # noqa: PLC0415 - aiohttp is slow to import

            add_routes(application, self)

    def _failed(self, error: BaseException) -> None:
        """A bug in a conversation: the peer stops rather than answer wrongly."""
        asyncio.get_running_loop().call_exception_handler(
            {"message": f"meteor: peer {self._listen} stops after a failure", "exception": error}
        )
        if self._own_session is not None:
            self._own_session.close()
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
