"""What peers and their clients say to each other, above the ring and the router.

Law of this file: only frozen values; new fields are added at the end, with defaults.  Durations
travel, clock readings never do.  The same messages serve a client on its own link and the client
that lives inside a peer.
"""

from __future__ import annotations

from typing import Annotated, Final

from chord import Contact, KnownArc, WideInt, dataclass
from meteor.described import described
from meteor.security.delegation import Delegation

LAIN: Final = "Lain"
"""Refused by a peer that was held just now: it may be an old request, and is to be asked again."""
WAY_ROUND: Final = "WayRound"
"""The fault of a peer that takes nothing straight: the client's own peer does."""

WireInterval = tuple[WideInt, WideInt]
"""First and last curve index, both included."""


@dataclass(frozen=True, slots=True)
class Document:
    """The immutable content of a post; encoded once by its poster, kept and handed on as bytes."""

    action: str
    profile: bytes
    """`arms.Profile.pack()` in msgpack."""
    data: bytes = b""
    content_type: str = ""
    context: Annotated[tuple[tuple[str, str], ...], "few"] = ()
    claims: Annotated[tuple[tuple[str, str], ...], "few"] = ()
    """Attributes of the credentials element: unverified, kept."""
    reply_to: str = ""
    with_data: bool = True
    """Of an interest: whether what it is told of comes with its payload."""
    once: bool = False
    """Of an interest: whether the first notice is the only one."""
    visible_to: Annotated[tuple[str, ...], "few"] = ()
    """Keys and groups that may know of it besides its owner; empty: everybody."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """Who posts: a signature over the document and what goes with it, see
    `meteor.security.credentials`."""

    key: str
    signature: bytes
    issued_ms: int
    """Unix milliseconds on the signer's clock: the one clock reading on the wire."""
    delegation: Delegation | None = None
    """Under which the signer acts for another key."""


@dataclass(frozen=True, slots=True)
class Greet:
    """A joiner or a client asks who is there; `digest` is empty when it takes the ring's space."""

    digest: bytes = b""
    space: str = ""
    """The asker's space in TOML, so that a refusal can show the difference."""


@dataclass(frozen=True, slots=True)
class Greeting:
    """The answer to `Greet`."""

    contact: Contact
    space: str
    digest: bytes
    ready: bool
    """Whether the peer is a member of a ring and serves."""
    id_bits: int = 160
    vouches: bool = False
    """Whether it can be asked to `Vouch`."""


@dataclass(frozen=True, slots=True)
class Post:
    """A client posts a document.  The reply is a `PostReply`; the matches of a retrieve come
    before it as `ResultPage`s on the same link, in order."""

    token: int
    """Chosen by the client; pages carry it."""
    document: bytes
    stem: str
    version: int
    ttl_s: float
    timeout_s: float
    everywhere: bool = False
    mode: str = "within"
    """Of a delete: `within` or `overlap`."""
    dry_run: bool = False
    credentials: Credentials | None = None
    """None: nobody signed it."""
    asks_owner: bool = False
    """Whether the reply is to name the owner of the point that this is about."""
    straight: bool = False
    """Whether another peer named this one as that owner, see `meteor.client.shortcuts`."""
    since: int = 0
    """Of an interest: since when this client has it, by its count of versions."""
    again: bool = False
    """Whether it had it before, and posts it again where it may be lost."""


@dataclass(frozen=True, slots=True)
class Amend:
    """A client renews, cancels, replaces or finds what was posted, by id.  The reply is a
    `PostReply` whose `matches` says on how many records it took effect (0: not found); that of a
    find has the record, if it is an interest.

    Renewing an interest also makes the sender's link the one that its notices go to."""

    token: int
    verb: str
    """`renew`, `cancel`, `replace` or `find`."""
    id: str
    version: int
    """Of the new document; of a renew its stamp, by which copies tell that it took place."""
    ttl_s: float
    timeout_s: float
    document: bytes = b""
    """The new document of a replace."""
    credentials: Credentials | None = None
    since: int = 0
    """As in `Post`, of a renew or a replace."""


@dataclass(frozen=True, slots=True)
class PostReply:
    """What became of a post."""

    id: str
    """The full id, `<stem>.<region>`; of a replaced record the new one."""
    complete: bool
    missing: tuple[WireInterval, ...]
    matches: int
    """What the peers' reports count, added up; of a delete with `dry_run` each record once.  Where
    two of them answered for one place, as it changed hands or something was replaced meanwhile,
    what both met is in here twice: a report has no names, and those of all would be an answer.  So
    whoever asks a retrieve without a ttl counts what came instead (`Answer.receipt`)."""
    peers: int
    pages: int = 0
    """How many `ResultPage`s were sent before this."""
    hops: int = 0
    ttl_s: float = 0.0
    """The time to live that took effect."""
    found: tuple[Found, ...] = ()
    """Of a find: the record."""
    troubles: tuple[str, ...] = ()
    """Of an application's action: why peers did not run it, the first few."""
    packed: tuple[bytes, ...] = ()
    """The last pages, where they were ready together with the reply, as in `ResultPage`."""
    repeated: bool = False
    """Whether a peer knew the same signed request from before, and did nothing now."""
    owner: KnownArc | None = None
    """Where that was asked, and is known: who owns the point, and what else."""
    owner_for_s: float = 0.0
    """For how long, from when that was asked, this peer vouches for that owner, which it has just
    heard: nobody can have passed it over until then, for all that this peer may be cut off."""
    of_nobody: bool = False
    """Whether what was cancelled or replaced by its id was nobody's, and not who asked's own."""


@dataclass(frozen=True, slots=True)
class Vouch:
    """A client whose posts go straight to the owners of these points asks its own peer whether it
    reaches them still.  The reply is `Vouched`."""

    points: Annotated[tuple[WideInt, ...], "few"]
    """Curve indexes."""


@dataclass(frozen=True, slots=True)
class Vouched:
    """The owners that just answered a peer, and for how long from when it was asked, as in
    `PostReply`, it vouches for them."""

    owners: tuple[KnownArc, ...] = ()
    for_s: float = 0.0


@described
@dataclass(frozen=True, slots=True)
class Found:
    """A stored record on its way to whom it concerns."""

    id: str
    """Its full id, `<stem>.<region>`."""
    version: int
    """Of two of one stem the higher is the newer."""
    owner: str
    """The key that signed it, or whose delegate did; empty: nobody's."""
    ttl_ms: int
    """What remains of its life, rounded down."""
    blob: bytes
    """The encoded `Document`; empty for a notice without payload."""


@dataclass(frozen=True, slots=True)
class ResultPage:
    """Some of a retrieve's matches."""

    token: int
    number: int
    found: tuple[Found, ...]
    packed: tuple[bytes, ...] = ()
    """More of them, in pages as the peers that keep them made them: the client alone reads them
    (`meteor.wire.found_pages`).  A match may come more than once."""


@described
@dataclass(frozen=True, slots=True)
class Notice:
    """A rendezvous peer tells a client: a match for its interest, or an interest that appeared or
    is gone for its watch.  Sent again until acknowledged to `source`."""

    id: str
    """`<interest id>:<other stem>:<version>`, the same whoever sends it and how often."""
    interest: str
    """The stem of the client's interest or watch."""
    kind: str
    """`match`, `appeared` or `gone`."""
    found: Found
    """What matched, or the interest."""
    source: Contact
    """The peer that tells it, and waits for the acknowledgement."""
    owner: str = ""
    """The owner of the client's interest or watch."""


@dataclass(frozen=True, slots=True)
class Told:
    """As many notices of one record and kind, for several interests of one client: what they have
    in common travels once."""

    found: Found
    kind: str
    source: Contact
    to: Annotated[tuple[tuple[str, str], ...], "few"]
    """Owner and stem of each interest or watch."""


@dataclass(frozen=True, slots=True)
class Acknowledge:
    """A client has these notices (one way; handed on by its peer to their source)."""

    interest: str
    ids: Annotated[tuple[str, ...], "few"]
    source: Contact
    owner: str = ""
    """The owner of the interest."""
    client: WideInt = 0
    """Whose link it came by, as the client's peer says: others acknowledge nothing."""


@dataclass(frozen=True, slots=True)
class Arrived:
    """What a client has of the notices of one of its interests."""

    interest: str
    ids: Annotated[tuple[str, ...], "few"]
    owner: str = ""


@dataclass(frozen=True, slots=True)
class AcknowledgeAll:
    """As `Acknowledge`, of several interests."""

    arrived: Annotated[tuple[Arrived, ...], "few"]
    source: Contact
    client: WideInt = 0


@dataclass(frozen=True, slots=True)
class Farewell:
    """A peer that stops tells its clients to go to another one now."""

    reason: str = ""


@dataclass(frozen=True, slots=True)
class IsWanted:
    """A peer asks its client whether it still waits for a request; the reply is `Wants`."""

    token: int


@dataclass(frozen=True, slots=True)
class Wants:
    """Whether it does."""

    so: bool


@dataclass(frozen=True, slots=True)
class RingQuestion:
    """A client asks its peer what the ring looks like from there (`meteor ring`)."""

    limit: int = 1024


@described
@dataclass(frozen=True, slots=True)
class Neighbour:
    """One peer of the ring as another sees it."""

    contact: Contact
    """Its identifier, which is the last of its arc, and its address."""
    first: WideInt
    """The first ring id of its arc."""
    stored: int
    """Records that it holds; -1 while unknown."""
    answers: bool
    """Whether it answered when the ring was walked."""
    data: int = -1
    """How much data it answers for; -1 while unknown."""
    interests: int = -1
    """How many interests and watches it answers for; -1 while unknown."""
    lost: tuple[WireInterval, ...] = ()
    """Intervals of curve indexes that it answers for, whose past nobody knows."""
    copies: int = -1
    """How many peers have all that it answers for, itself included; -1 while unknown."""
    forgotten: int = 0
    """How many lost intervals it was told to forget since it started."""


@described
@dataclass(frozen=True, slots=True)
class RingPicture:
    """The ring in order, walked along successors from the peer that was asked."""

    peers: tuple[Neighbour, ...]
    """In ring order, from the peer that was asked."""
    closed: bool
    """Whether the walk came back to where it began."""
    id_bits: int = 160
    """How wide the ring's identifiers are."""


@dataclass(frozen=True, slots=True)
class Forget:
    """An operator declares the past of lost intervals gone.  The reply is `Forgotten`."""

    intervals: tuple[WireInterval, ...]
    credentials: Credentials | None = None


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was lost, and counts as whole from now on."""

    intervals: tuple[WireInterval, ...]


MESSAGES: tuple[type, ...] = (
    Document,
    Delegation,
    Credentials,
    Greet,
    Greeting,
    Post,
    Amend,
    PostReply,
    Vouch,
    Vouched,
    Found,
    ResultPage,
    Notice,
    Told,
    Acknowledge,
    Arrived,
    AcknowledgeAll,
    Farewell,
    IsWanted,
    Wants,
    RingQuestion,
    Neighbour,
    RingPicture,
    Forget,
    Forgotten,
)
