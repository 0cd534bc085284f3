"""A scripted overlay that speaks `meteor.wire.messages`: enough of a peer to test a client against.

All fake peers of one `FakeOverlay` share one list of records, as the peers of a ring do; matching
is `Profile.matches`, one record after the other.  Faults are switched on by attributes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from chord import Contact, Deferred
from meteor.admission import place
from meteor.client.client import Client
from meteor.client.config import ClientConfig
from meteor.wire.codec import wire_codec
from meteor.wire.document import decode_document, unpack_profile
from meteor.wire.messages import (
    Acknowledge,
    Amend,
    Farewell,
    Found,
    Greet,
    Greeting,
    Notice,
    Post,
    PostReply,
    ResultPage,
)
from meteor.wire.record_id import make_id, split_id, stem_of
from sim.kernel import Kernel
from sim.network import Network
from sim.runtime import SimRuntime
from squid import KeywordSpace, Number, Word

SPACE = KeywordSpace("building", [Word("type"), Number("temperature", -40, 125)], bits=16)
MISSING = ((100, 200),)
MEETINGS = {
    ("store", "notify_data"): "match",
    ("store", "retrieve"): "match",
    ("notify_interest", "notify_data"): "appeared",
}
"""(subject, selector) -> what happens when they meet, whichever comes first."""
CLIENT_ID = 1 << 100


@dataclass
class Record:
    id: str
    version: int
    action: str
    profile: Any
    blob: bytes
    ttl_s: float
    expires_s: float
    client: Contact
    peer: FakePeer

    @property
    def stem(self) -> str:
        return stem_of(self.id)


@dataclass
class FakeOverlay:
    """Kernel, network, peers `p0`, `p1`, … and what they store."""

    seed: int = 1
    peers: list[FakePeer] = field(default_factory=list)
    records: dict[str, Record] = field(default_factory=dict)
    unacknowledged: dict[str, Notice] = field(default_factory=dict)
    page_size: int = 3
    complete: bool = True

    def __post_init__(self) -> None:
        self.kernel = Kernel(self.seed)
        self.network = Network(self.kernel, codec=wire_codec())
        self._clients = 0

    def add_peer(self) -> FakePeer:
        contact = Contact(1000 + len(self.peers), f"p{len(self.peers)}:1")
        peer = FakePeer(self, SimRuntime(self.kernel, self.network, contact))
        self.peers.append(peer)
        return peer

    def new_client(self, *addresses: str, **options: Any) -> Client:
        """A client that is not open yet; without addresses it knows every peer."""
        self._clients += 1
        runtime = SimRuntime(self.kernel, self.network, Contact(CLIENT_ID + self._clients, ""))
        known = addresses or [peer.contact.address for peer in self.peers]
        options.setdefault("config", ClientConfig(reconnect_delay_s=0.01))
        options.setdefault("first_version", int(self.kernel.now() * 1e6) + 1)
        return Client(runtime, [Contact.at(address) for address in known], **options)

    def run(self, conversation: Any) -> Any:
        """Run a test's conversation to its end in virtual time."""
        return self.kernel.run_until(self.kernel.spawn(conversation))

    def living(self) -> list[Record]:
        now = self.kernel.now()
        return [one for one in self.records.values() if one.expires_s > now]

    def found(self, record: Record) -> Found:
        left_ms = max(0, int((record.expires_s - self.kernel.now()) * 1000))
        return Found(record.id, record.version, "", left_ms, record.blob)

    def meet(self, arriving: Record) -> None:
        """Tell whoever must be told that `arriving` came."""
        for other in self.living():
            for one, two in ((arriving, other), (other, arriving)):
                kind = MEETINGS.get((one.action, two.action))
                if kind is not None and two.profile.matches(one.profile):
                    to, about = (two, one) if kind == "match" else (one, two)
                    self.tell(to, about, kind)

    def tell(self, to: Record, about: Record, kind: str) -> None:
        id = f"{to.stem}:{about.stem}:{about.version}"
        notice = Notice(id, to.stem, kind, self.found(about), to.peer.contact)
        self.unacknowledged[f"{kind}:{id}"] = notice
        to.peer.runtime.send(to.client, notice)

    def remove(self, record: Record) -> None:
        del self.records[record.stem]
        if record.action != "notify_data":
            return
        for watch in self.living():
            if watch.action == "notify_interest" and record.profile.matches(watch.profile):
                self.tell(watch, record, "gone")


class FakePeer:
    """One peer's end: records every request; `faults` are raised or returned instead of replies."""

    def __init__(self, overlay: FakeOverlay, runtime: SimRuntime) -> None:
        self.overlay, self.runtime = overlay, runtime
        self.contact = runtime.contact
        self.requests: list[Any] = []
        self.acknowledged: list[Acknowledge] = []
        self.clients: list[Contact] = []
        self.silent = False
        self.ready = True
        self.space = SPACE
        self.answer: Callable[[Any], Any] | None = None
        """Called with each Post or Amend; what it returns (not None) is the reply."""
        runtime.serve(self.handle, lambda _: None)

    def crash(self) -> None:
        self.overlay.network.crash(self.contact)

    def restart(self) -> None:
        """Serve again at the same address, with what the overlay stores."""
        self.runtime = SimRuntime(self.overlay.kernel, self.overlay.network, self.contact)
        self.runtime.serve(self.handle, lambda _: None)

    def farewell(self) -> None:
        for client in self.clients:
            self.runtime.send(client, Farewell("going home"))

    def resend(self, stem: str) -> None:
        """Tell an interest's client again what it has not acknowledged."""
        for notice in self.overlay.unacknowledged.values():
            if notice.interest == stem:
                self.runtime.send(self.overlay.records[stem].client, notice)

    def posts(self, action: str = "") -> list[Post]:
        posts = [one for one in self.requests if isinstance(one, Post)]
        return [one for one in posts if action in ("", decode_document(one.document).action)]

    def amends(self, verb: str = "") -> list[Amend]:
        amends = [one for one in self.requests if isinstance(one, Amend)]
        return [one for one in amends if not verb or one.verb == verb]

    def handle(self, sender: Contact, message: Any, _: float) -> Any:
        if isinstance(message, Greet):
            if sender not in self.clients:
                self.clients.append(sender)
            return self.silence() if self.silent else self.greeting()
        if isinstance(message, Acknowledge):
            self.acknowledged.append(message)
            for id in message.ids:
                for kind in ("match", "appeared", "gone"):
                    self.overlay.unacknowledged.pop(f"{kind}:{id}", None)
            return None
        self.requests.append(message)
        if self.silent:
            return self.silence()
        if self.answer is not None:
            reply = self.answer(message)
            if reply is not None:
                return reply
        if isinstance(message, Post):
            return self.post(sender, message)
        return self.amend(sender, message)

    def greeting(self) -> Greeting:
        return Greeting(self.contact, self.space.to_toml(), self.space.digest, self.ready)

    def silence(self) -> Deferred:
        async def say_nothing() -> None:
            await self.runtime.sleep(1e9)

        return Deferred(say_nothing())

    def reply(self, id: str, matches: int = 0, **fields: Any) -> PostReply:
        complete = self.overlay.complete
        fields.setdefault("complete", complete)
        fields.setdefault("missing", () if complete else MISSING)
        return PostReply(id=id, matches=matches, peers=1, **fields)

    def post(self, sender: Contact, post: Post) -> PostReply:
        document = decode_document(post.document)
        profile = unpack_profile(document.profile)
        id = self.place(post.stem, document.action, profile, post.everywhere)
        if document.action.startswith("delete"):
            return self.delete(id, document.action, profile, post.dry_run)
        pages = matches = 0
        if document.action == "retrieve":
            pages, matches = self.send_pages(sender, post.token, profile)
        if post.ttl_s > 0:
            self.keep(sender, id, post.version, post.ttl_s, post.document)
        return self.reply(id, matches, pages=pages, ttl_s=post.ttl_s)

    def place(self, stem: str, action: str, profile: Any, everywhere: bool) -> str:
        return make_id(stem, place(profile, action, SPACE, everywhere=everywhere), SPACE.curve)

    def keep(self, sender: Contact, id: str, version: int, ttl_s: float, blob: bytes) -> None:
        document = decode_document(blob)
        known = self.overlay.records.get(stem_of(id))
        if known is not None and known.version >= version:
            known.client, known.peer = sender, self
            return
        record = Record(
            id,
            version,
            document.action,
            unpack_profile(document.profile),
            blob,
            ttl_s,
            self.runtime.now() + ttl_s,
            sender,
            self,
        )
        self.overlay.records[record.stem] = record
        self.overlay.meet(record)

    def send_pages(self, sender: Contact, token: int, profile: Any) -> tuple[int, int]:
        living = self.overlay.living()
        found = [
            self.overlay.found(one)
            for one in living
            if one.action == "store" and profile.matches(one.profile)
        ]
        size = self.overlay.page_size
        pages = [found[first : first + size] for first in range(0, len(found), size)]
        for number, page in enumerate(pages):
            self.runtime.send(sender, ResultPage(token, number, tuple(page)))
        return len(pages), len(found)

    def delete(self, id: str, action: str, profile: Any, dry_run: bool) -> PostReply:
        kinds = {"store"} if action == "delete_data" else {"notify_data", "notify_interest"}
        hit = [
            one
            for one in self.overlay.living()
            if one.action in kinds and profile.matches(one.profile)
        ]
        for record in [] if dry_run else hit:
            self.overlay.remove(record)
        return self.reply(id, len(hit))

    def amend(self, sender: Contact, amend: Amend) -> PostReply:
        stem, _ = split_id(amend.id, SPACE.curve)
        record = self.overlay.records.get(stem)
        if record is not None and record.expires_s <= self.runtime.now():
            record = None
        if amend.verb == "replace":
            document = decode_document(amend.document)
            profile = unpack_profile(document.profile)
            id = self.place(stem, document.action, profile, False)
            self.keep(sender, id, amend.version, amend.ttl_s, amend.document)
            return self.reply(id, int(record is not None), ttl_s=amend.ttl_s)
        if record is None:
            return self.reply(amend.id, 0)
        if amend.verb == "cancel":
            self.overlay.remove(record)
        else:
            record.client, record.peer = sender, self
            record.expires_s = self.runtime.now() + amend.ttl_s
            self.resend(record.stem)
        return self.reply(record.id, 1, ttl_s=amend.ttl_s)
