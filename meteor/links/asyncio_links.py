"""The links of one peer on an event loop: opened when needed, one a pair, closed when idle.

Law of this file: frames of one loop turn leave as one, or with the conversation that ends in it; an
acknowledgement waits at most `ACKNOWLEDGE_WITHIN_S` for company.  When two peers dial each other,
the dial of the one with the smaller address stands.  A link to who is sought where another is being
dialled waits for that dial: the channel is for the one who answers, whichever of them that is.  An
idle link ends by agreement (GOODBYE both ways), so that no frame is lost by it; a link that ends
otherwise is reported to the exchange once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

from chord import (
    ACKNOWLEDGE_WITHIN_S,
    AnotherAnswers,
    CallError,
    Contact,
    DialRefused,
    Exchange,
    FrameKind,
    LinkClosed,
    LinkEnd,
    RemoteFault,
    WaitingLinks,
)
from meteor.errors import VersionMismatch
from meteor.links.asyncio_link import PeerLink
from meteor.links.asyncio_steady_clock import steady_clock
from meteor.links.asyncio_task import task_of
from meteor.links.link_keeping import TIDY_EVERY_S, LinkUse, NamedLinks, name_of, surplus
from meteor.links.transport import DIAL_TIMEOUT_S, Channel, DialsCrossed, Transport
from meteor.wire.codec import US, Codec, MalformedFrame

RETIRE_S: Final = 5.0
"""How long a link that was said goodbye to stays open for frames on their way."""
DIALS_MAX: Final = 3
"""Attempts when dials keep crossing."""

_REQUEST, _FORWARD = FrameKind.REQUEST, FrameKind.FORWARD
_GOODBYE = FrameKind.GOODBYE
"""By names of this file: until Python 3.12 a class of constants is asked for one in 400 steps."""


class PeerLinks:
    """Every link of one peer, and the acceptor of its transport."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        now: Callable[[], float],
        contact: Contact,
        transport: Transport,
        exchange: Exchange,
        codec: Codec,
    ) -> None:
        self.loop, self.now = loop, now
        self.codec = codec
        self.is_client = not contact.address
        self._contact = contact
        self._transport = transport
        self._exchange = exchange
        self._links: NamedLinks[PeerLink] = NamedLinks()
        self._waiting: WaitingLinks[PeerLink] = WaitingLinks()
        self._retiring: dict[PeerLink, None] = {}
        self._owing: dict[PeerLink, None] = {}
        self._filled: list[PeerLink] = []
        """On which something was put that leaves at the end of the present turn."""
        self._is_receiving = False
        self._tidying: asyncio.TimerHandle | None = None
        self._stopped = False

    def to(self, contact: Contact) -> LinkEnd:
        """The link to `contact`, dialled if there is none; one that waits where another peer is
        being dialled at its address.

        Raises `LinkClosed` to a client without one, `AnotherAnswers` to a contact at whose address
        another peer answers, `Busy` where too many wait."""
        link = self._links.find(contact.address or contact)
        if link is None:
            if contact == self._contact or contact.address == self._contact.address != "":
                return self._own_link(contact)
            if not contact.address:
                raise LinkClosed(f"{contact} has no link to this peer")
            return self._dialled(contact)
        if link.channel is None:  # nobody has said yet who is there
            return self._waiting.of(link, contact) or self._behind(link, contact)
        if contact.is_another(link.contact):
            raise _another(link.contact, contact)
        return link

    def _own_link(self, contact: Contact) -> LinkEnd:
        if contact.known and contact.id != self._contact.id:
            raise _another(self._contact, contact)
        return self._exchange.own_link

    def find(self, contact: Contact) -> LinkEnd | None:
        """The link to `contact` if there is one."""
        link = self._links.find(contact.address or contact)  # its `name_of`
        if link is not None and link.channel is None:
            return self._waiting.of(link, contact)
        return link

    # ---- opening -----------------------------------------------------------------------------

    def _dialled(self, contact: Contact) -> PeerLink:
        link = PeerLink(self, contact)
        self._begin_dial(link)
        self._tidy_later()
        return link

    def _begin_dial(self, link: PeerLink) -> None:
        self._links.add(link.contact.address, link)
        link.dial = task_of(self.loop, self._dial(link))

    def _behind(self, dialled: PeerLink, contact: Contact) -> PeerLink:
        """The link to `contact`, for which the dial to another at its address decides too."""
        link = PeerLink(self, contact)
        self._waiting.add(dialled, link)
        return link

    async def _dial(self, link: PeerLink) -> None:
        """Open the channel of a link, unless the other side's dial opens it first."""
        kind: Callable[[str], CallError] = DialRefused
        try:
            channel = await self._open_channel(link)
        except VersionMismatch as error:
            reason = str(error)
            kind = _version_mismatch
        except (DialsCrossed, LinkClosed) as error:
            reason = str(error)
            kind = LinkClosed
        except DialRefused as error:
            reason, kind = str(error), type(error)
        else:
            if link.lost:
                channel.close("no longer wanted")
            else:
                self._found(link, channel)
            return
        if not link.lost:
            self._fail([link, *self._waiting.take(link)], reason, kind)

    async def _open_channel(self, link: PeerLink) -> Channel:
        for attempt in range(1, DIALS_MAX + 1):
            try:
                return await self._transport.dial(link.contact.address)
            except DialsCrossed:
                if attempt == DIALS_MAX:
                    raise
                # The other side's channel is on its way and will cancel this task.
                await asyncio.sleep(DIAL_TIMEOUT_S / DIALS_MAX)
        raise AssertionError("unreachable: the last attempt returned or raised")

    def _found(self, dialled: PeerLink, channel: Channel) -> None:
        """It is known who is at an address: what was sent to that one, or to whoever is there,
        leaves by the channel.  It is kept where nobody sought that one, too, as its own dial may
        have ended for it, or its calls be on their way by it: but by a client, which none dials,
        and not where it says that it is at another address, at which somebody else may be linked.
        """
        who = channel.contact
        meant, others = self._waiting.take_parted(dialled, who)
        if not meant and not self.is_client and who.address == dialled.contact.address:
            meant = [PeerLink(self, who)]
        if not meant:
            channel.close("another peer was expected here")
        else:
            link, *merged = meant
            if link is not dialled:  # found under the name that was dialled too
                self._links.add(dialled.contact.address, link)
            self._attach(link, channel)
            for other in merged:
                link.take_frames(other, self._exchange.link_merged(other, link))
                other.lost = True
        reason = f"{who} answers at the address of who was meant"
        self._fail(others, reason, partial(AnotherAnswers, who=who))

    def _fail(
        self, links: Iterable[PeerLink], reason: str, kind: Callable[[str], CallError]
    ) -> None:
        """End links that never opened: all, before what is sent elsewhere for it dials anew."""
        ended = list(links)
        for link in ended:
            self._forget(link)
        for link in ended:
            self._exchange.link_lost(link, reason, kind=kind, tell=False)

    def refusal(self, contact: Contact) -> str | None:
        """Whether our own dial to that contact stands (`meteor.links.transport.Acceptor`)."""
        link = self._links.find(contact.address) if contact.address else None
        if link is not None and link.channel is None and self._contact.address < contact.address:
            return f"{self._contact} is dialling {contact}"
        return None

    def opened(self, channel: Channel) -> None:
        """Take a channel that the other side opened (`meteor.links.transport.Acceptor`)."""
        if self._stopped:
            channel.close("stopped")
            return
        contact = channel.contact
        link = self._links.find(name_of(contact))
        if link is None or link.channel is not None:
            self._tidy_later()
            self._attach(PeerLink(self, contact), channel)
            return
        if link.dial is not None:
            link.dial.cancel()
        self._found(link, channel)

    def _take_name(self, link: PeerLink, contact: Contact) -> None:
        """Let a link be found as the one to this contact, whose older one it replaces.  One that is
        being dialled stays, as it will replace this."""
        before = self._links.find(name_of(contact))
        if before is None or (before is not link and before.channel is not None):
            self._links.add(name_of(contact), link)
            if before is not None:
                same = before.contact == contact
                self.lose(before, "replaced by a newer link", tell=not same)

    def _attach(self, link: PeerLink, channel: Channel) -> None:
        self._take_name(link, channel.contact)
        link.contact = channel.contact
        link.channel = channel
        link.dial = None
        link.opened_s, link.since_s = self.now(), steady_clock()
        channel.read_with(partial(self._received, link), partial(self._ended, link))
        link.flush()

    # ---- arriving ----------------------------------------------------------------------------

    def flush_soon(self, link: PeerLink) -> None:
        """Let what was put on a link leave at the end of the present turn."""
        if not self._filled and not self._is_receiving:
            self.loop.call_soon(self._flush)
        self._filled.append(link)

    def at_once(self, callback: Callable[..., object], *args: object) -> None:
        """Call what ends a conversation; what it puts on links leaves with it, as nothing follows:
        at the end of the turn, a reply would wait for one more look at all sockets."""
        if self._is_receiving:
            callback(*args)
            return
        self._is_receiving = True
        try:
            callback(*args)
        finally:
            self._is_receiving = False
            self._flush()

    def _flush(self) -> None:
        filled, self._filled = self._filled, []
        for link in filled:
            link.flush()

    def _received(self, link: PeerLink, data: bytes) -> None:
        """Take in what travelled as one; what it leads to at once leaves in the same turn."""
        self._is_receiving = True
        read, receive = self.codec.read, self._exchange.receive
        try:
            for envelope in self.codec.split(data):
                kind, number = envelope.kind, envelope.number
                message = read(envelope.name, envelope.body) if envelope.name else None
                if kind is _REQUEST:
                    link.requested(envelope.age_s, steady_clock())
                elif kind is _FORWARD:
                    self._owe(link, number)
                elif kind is _GOODBYE:
                    self._retire(link)
                    continue
                receive(link, kind, number, envelope.duration_us / US, message)
        except (MalformedFrame, VersionMismatch) as error:
            if not link.lost:
                self.lose(link, str(error))
        finally:
            self._is_receiving = False
            self._flush()

    def _owe(self, link: PeerLink, number: int) -> None:
        """Acknowledge a forwarded frame with whatever leaves next, or soon."""
        if not link.due_number:
            link.due_since_s = self.now()
            self.owe_soon(link)
        link.due_number = number

    def owe_soon(self, link: PeerLink) -> None:
        """Let a link leave what it owes, with whatever leaves next or soon."""
        if not self._owing:
            # One timer for all links that owe: the first decides, the others are early.
            self.loop.call_later(ACKNOWLEDGE_WITHIN_S * 0.8, self._acknowledge)
        self._owing[link] = None

    def _acknowledge(self) -> None:
        owing, self._owing = self._owing, {}
        for link in owing:
            if link.owes and not link.lost:
                link.flush()

    def _ended(self, link: PeerLink, reason: str) -> None:
        if not link.lost:
            self.lose(link, reason, tell=not link.retiring)

    # ---- ending ------------------------------------------------------------------------------

    def lose(self, link: PeerLink, reason: str, *, tell: bool = True) -> None:
        """Close a link now; what waits for company leaves before."""
        link.flush()
        self._forget(link)
        if link.channel is not None:
            link.channel.close(reason)
        elif link.dial is not None:  # else it comes after the one of who waits for it
            link.dial.cancel()
        self._dial_for(self._waiting.take(link))
        self._exchange.link_lost(link, reason, tell=tell)

    def _dial_for(self, waiting: Iterable[PeerLink]) -> None:
        """What waited for a dial that is not wanted any more needs one of its own."""
        dialled: PeerLink | None = None
        for link in waiting:
            if dialled is None:
                self._begin_dial(dialled := link)
            else:
                self._waiting.add(dialled, link)

    def _forget(self, link: PeerLink) -> None:
        link.lost = True
        self._retiring.pop(link, None)
        self._waiting.remove(link)
        self._links.remove(link)

    def _tidy_later(self) -> None:
        if self._tidying is None:
            self._tidying = self.loop.call_later(TIDY_EVERY_S, self._tidy)

    def _tidy(self) -> None:
        """Say goodbye to links that nobody uses."""
        self._tidying = None
        links = {link.contact.address: link for link in self._links if link.contact.address}
        uses = [
            LinkUse(address, max(link.used_s, link.last_heard_s), link.busy)
            for address, link in links.items()
        ]
        for address in surplus(uses, self.now()):
            self._retire(links[address])
        if self._links:
            self._tidy_later()

    def _retire(self, link: PeerLink) -> None:
        """Put nothing more on a link: say so, and close it when what was on its way is in."""
        if link.retiring or link.lost:
            return
        link.transmit(_GOODBYE, 0, 0.0, None)
        link.retiring = True
        self._links.remove(link)
        self._retiring[link] = None
        self.loop.call_later(RETIRE_S, self._end_retired, link)

    def _end_retired(self, link: PeerLink) -> None:
        """Close it, unless what crossed the goodbye is still being answered."""
        if not link.lost and (link.asking or link.serving or link.unacknowledged):
            self.loop.call_later(RETIRE_S, self._end_retired, link)
        else:
            self._ended(link, "idle")

    def stop(self) -> None:
        """Flush and close everything, at once."""
        self._stopped = True
        if self._tidying is not None:
            self._tidying.cancel()
        for link in [*self._links, *self._waiting, *self._retiring]:
            if link.dial is not None:
                link.dial.cancel()
            link.flush()
            self._forget(link)
        self._transport.stop()


def _another(there: Contact, wanted: Contact) -> AnotherAnswers:
    return AnotherAnswers(f"{there} answers at the address of {wanted}", there)


def _version_mismatch(text: str) -> CallError:
    return RemoteFault("VersionMismatch", text)
