"""A client's way into the overlay: one peer of its list that serves, and the next when that ends.

Law of this file: conversations only.  One reconnection runs at a time; whoever needs a peer waits
for it with a deadline of his own.  What goes over the link is `meteor.client.session`'s affair.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Final, Protocol

from chord import CallError, Contact, LinkClosed, RemoteFault, RequestTimeout, Runtime, Task
from meteor.client.config import ClientConfig
from meteor.client.gate import Gate
from meteor.client.mailbox import Signal
from meteor.errors import (
    Closed,
    MeteorError,
    NotConnected,
    SpaceMismatch,
    VersionMismatch,
    from_fault,
)
from meteor.wire.greeting import said_of, why_silent
from meteor.wire.messages import Greet, Greeting
from squid import KeywordSpace

RENEWALS_AT_ONCE: Final = 256
"""Renewals in the background that may be under way over a link.  Of thousands of interests that are
brought to a new link at one moment a peer takes a few hundred and refuses the others, posts too;
and those that wait long, for a silent part of the ring, shall not hold up all others."""


class UplinkObserver(Protocol):
    """Who is told when the link goes and comes."""

    def disconnected(self, error: MeteorError) -> None:
        """The link to the peer is gone; another is sought already."""

    def reconnected(self, peer: Contact) -> None:
        """A peer serves this client again."""


class Uplink:
    """The peer that serves a client now, if any."""

    def __init__(
        self,
        runtime: Runtime,
        peers: Sequence[Contact],
        observer: UplinkObserver,
        *,
        space: KeywordSpace | None,
        config: ClientConfig,
    ) -> None:
        self.peer: Contact | None = None
        self.space = space
        self.id_bits = 0
        """Of the ring's identifiers; 0 while it is not known, or inside a peer."""
        self.vouches = False
        """Whether the peer that serves can be asked to vouch for owners."""
        self.closed = False
        self._runtime, self._observer, self._config = runtime, observer, config
        self._peers = list(peers)
        self._changed = Signal(runtime)
        self.renewals = Gate(runtime, RENEWALS_AT_ONCE)
        self._process = os.getpid()
        self._whom: Contact | None = None
        """How the peer that serves names itself: `peer` is how it was dialled, perhaps by a name of
        DNS, and what comes over its link is from this one."""
        self._lost_meanwhile: list[Contact] | None = None
        """Whose links went while a peer was greeted; None while none is."""
        self._tried: list[str] = []
        self._attending: Task[None] | None = None

    async def open(self, timeout_s: float) -> None:
        """Find a peer that serves, asking each once in the order of the list.

        Raises `NotConnected` with what was tried, `SpaceMismatch`, `VersionMismatch`."""
        self._attend()
        deadline = self._runtime.now() + timeout_s
        if not await self._pass_over(self._peers, deadline):
            raise NotConnected(
                f"connect: no peer answers; tried {'; '.join(self._tried) or 'none'}; "
                "give the address of a running peer",
                self._tried,
            )

    def embed(self, peer: Contact) -> None:
        """Be linked to the peer that this client lives in, without asking."""
        self._attend()
        self.peer = peer

    def lost(self, peer: Contact, error: MeteorError) -> None:
        """The link to `peer` is gone: seek another, unless that is under way already."""
        if self._lost_meanwhile is not None:
            self._lost_meanwhile.append(peer)
        if self.closed or self.peer is None or not self.is_to(peer):
            return
        before, self.peer = self.peer, None
        self._observer.disconnected(error)
        self._runtime.spawn(self._reconnect(before))

    def close(self) -> None:
        """Seek no more; who waits for a peer gets `Closed`."""
        self.closed, self.peer = True, None
        self._runtime.deliver(self, None)
        self._changed.notify()

    async def serving(self, operation: object, deadline: float) -> Contact:
        """The peer to ask; waits for one until `deadline`.

        Raises `NotConnected` then, `Closed` once the client is closed."""
        self.check_process()
        while self.peer is None:
            if self.closed:
                raise Closed(f"{operation}: this client or peer was closed; start anew")
            left = deadline - self._runtime.now()
            if left <= 0 or not await self._changed.wait(left):
                raise NotConnected(
                    f"{operation}: no peer answers; tried {'; '.join(self._tried) or 'none'}; "
                    "try again later, or connect with more addresses",
                    self._tried,
                )
        return self.peer

    def is_to(self, peer: Contact) -> bool:
        """Whether that is the peer that serves."""
        return _is_one_of(peer, (self.peer, self._whom))

    def check_process(self) -> None:
        """Raises `Closed` in a child process: links and event loops do not survive a fork."""
        if os.getpid() != self._process:
            raise Closed("this client belongs to the process before the fork; connect in this one")

    def _attend(self) -> None:
        """See to it that nothing is begun any more once the runtime's conversations are cancelled:
        an event loop that ends without a `close` loses its links one by one."""
        if self._attending is None:
            self._attending = self._runtime.spawn(self._await_the_end())

    async def _await_the_end(self) -> None:
        try:
            await self._runtime.expect(self, None)
        except RequestTimeout:  # the runtime was closed before
            return
        finally:
            self.closed = True

    async def _reconnect(self, before: Contact) -> None:
        """Go through the list, from the peer after the lost one, until one serves."""
        pause_s = self._config.reconnect_delay_s
        while not await self._pass_over(self._from_next(before), None):
            if self.closed:
                return
            await self._runtime.sleep(pause_s * (0.5 + 0.5 * self._runtime.random.random()))
            pause_s = min(2 * pause_s, self._config.reconnect_delay_s_max)
        peer = self.peer
        if peer is not None:
            self._changed.notify()
            self._observer.reconnected(peer)

    def _from_next(self, before: Contact) -> list[Contact]:
        """The list, turned so that it begins behind the lost peer."""
        behind = self._peers.index(before) + 1 if before in self._peers else 0
        return self._peers[behind:] + self._peers[:behind]

    async def _pass_over(self, peers: Sequence[Contact], deadline: float | None) -> bool:
        """Ask each peer once; true as soon as one serves."""
        tried: list[str] = []
        for contact in peers:
            timeout_s = self._config.greet_timeout_s
            if deadline is not None:
                timeout_s = min(timeout_s, deadline - self._runtime.now())
            if self.closed or timeout_s <= 0:
                break
            try:
                await self._greet(contact, timeout_s)
            except (SpaceMismatch, VersionMismatch) as error:
                if deadline is not None:  # the caller's own mistake: say so at once
                    raise
                tried.append(said_of(contact, error))
            except MeteorError as error:
                tried.append(said_of(contact, error))
            else:
                return True
        self._tried = tried or self._tried  # until a round is over, who gives up hears of the last
        return False

    async def _greet(self, contact: Contact, timeout_s: float) -> None:
        """Make `contact` the serving peer; raises why it cannot be."""
        space = self.space
        question = Greet(space.digest, space.to_toml()) if space is not None else Greet()
        lost = self._lost_meanwhile = []
        try:
            greeting = await self._runtime.call(contact, question, timeout_s)
        except RemoteFault as fault:
            raise from_fault(fault) from None
        except CallError as error:
            raise NotConnected(why_silent(error, contact)) from error
        finally:
            self._lost_meanwhile = None
        if self.closed:
            raise Closed("this client was closed")
        whom = greeting.contact if isinstance(greeting, Greeting) else None
        if any(_is_one_of(peer, (contact, whom)) for peer in lost):
            raise LinkClosed(f"{contact.address} closed the link while it was being greeted")
        self.space = _agreed_space(space, greeting)
        self.peer, self._whom = contact, whom
        self.id_bits = greeting.id_bits if isinstance(greeting, Greeting) else 0
        self.vouches = isinstance(greeting, Greeting) and greeting.vouches


def _agreed_space(ours: KeywordSpace | None, greeting: object) -> KeywordSpace:
    """The ring's space; raises `SpaceMismatch` if we have another, `NotConnected` if the peer does
    not serve."""
    if not isinstance(greeting, Greeting):
        raise NotConnected(f"answered with {type(greeting).__name__}; is it a Meteor peer?")
    if not greeting.ready:
        raise NotConnected("is not a member of a ring yet")
    if ours is not None and ours.digest == greeting.digest:
        return ours
    theirs = KeywordSpace.from_toml(greeting.space)
    if ours is not None:
        raise SpaceMismatch(ours.difference(theirs))
    return theirs


def _is_one_of(peer: Contact, names: Iterable[Contact | None]) -> bool:
    """Whether it is the peer that has these names."""
    for name in names:  # noqa: SIM110 - a generator takes three times as long
        if name is not None and _is_same(name, peer):
            return True
    return False


def _is_same(one: Contact, other: Contact) -> bool:
    """Whether both name one peer: a dialled contact knows no id, a link's may know both."""
    if one.address and one.address == other.address:
        return True
    return one.known and other.known and one.id == other.id
