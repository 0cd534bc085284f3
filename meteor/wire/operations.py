"""What peers say to each other above the router: operations, hand-offs, notices on their way.

Law of this file: only frozen values; durations, no clock readings (the journal alone keeps
wall-clock expiry, in `meteor.keeping.shelf`).
"""

from __future__ import annotations

from chord import Contact, WideInt, dataclass
from meteor.wire.messages import Found, Notice, Told, WireInterval
from meteor.wire.view import Ended, Rival, View


@dataclass(frozen=True, slots=True)
class Route:
    """Whom to tell: a client, by the peer that it is linked to."""

    peer: Contact
    client: WideInt
    asked: int = 0
    """The client's count of its requests, when it said so; each try of one has a number."""
    since: int = 0
    """Since when that client has the record, as it says; of several who was last to take it up."""
    again: bool = False
    """Whether it posts what it had, where that may be lost: who took it up since keeps it."""


@dataclass(frozen=True, slots=True)
class Operation:
    """The body of a share: what to do at every peer that holds a part of the region."""

    verb: str
    """An action of `arms`, or `renew`, `cancel`, `find`."""
    id: str
    """The full id of the record in question; empty for one-off questions."""
    version: int
    owner: str
    ttl_ms: int
    document: bytes = b""
    route: Route | None = None
    mode: str = "within"
    dry_run: bool = False
    moved_to: str = ""
    """Of a cancel that is the second half of a replace: the new id."""
    visible_to: tuple[str, ...] = ()
    """As in `Document`: rendezvous points need not read that."""
    limit: bytes = b""
    """The selector of the delegation under which this is asked of an id, packed."""
    issued_ms: int = 0
    """When its sender signed it, by his clock; 0 where nobody did."""
    came_with: int = 0
    """The version with which a record is said to have come to this place; 0 of what follows none.
    To the second half of a replace word that it left before that is not where it is; a question,
    or a delete, waits here for what is being written, as that may be it."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The body of a report: what one peer did in its part."""

    matches: int
    refused: str = ""
    """`older` or `deleted`: the stem is known here with a newer version, or was deleted; of a find
    also `no interest`."""
    moved_to: str = ""
    """The new id of a record that was replaced."""
    known: bool = False
    """Whether the record in question is here."""
    moved: tuple[str, ...] = ()
    """Of a query: the new ids of what left this part lately for another place."""
    repeated: bool = False
    """Whether this is what was said of the same signed request before: nothing was done now."""
    version: int = 0
    """With which the record went to `moved_to`; of `older`, the one that is kept."""
    moves: tuple[tuple[str, int], ...] = ()
    """Of each of `moved`: whose it is, and the version with which it went there."""
    of_nobody: bool = False
    """Whether the record that an owner named by its id was nobody's."""


@dataclass(frozen=True, slots=True)
class FoundPage:
    """The body of a result frame."""

    found: tuple[Found, ...]


# -- hand-offs


@dataclass(frozen=True, slots=True)
class Carried:
    """One record, or the tombstone of one, as it travels in a hand-off and rests in the journal."""

    kind: str
    """`data`, `interest`, `watch`; `gone` or `moved` for a tombstone."""
    id: str
    owner: str
    version: int
    action: str
    ttl_ms: int
    """In the journal: Unix milliseconds of expiry."""
    blob: bytes
    number: int
    """Its writer's count of changes when this one happened, beyond any it had seen."""
    acknowledged: int
    """Of an interest: its holder's watermark, see `meteor.rendezvous.outbox`."""
    route: Route | None
    moved_to: str = ""
    operation: bytes = b""
    """Of a tombstone: the delete that put it here, so that it is counted once wherever it goes."""
    renewed: int = 0
    """The stamp of its last renewal, of the author's counter: equal wherever that was carried out,
    as expiries never are.  A living record of one version counts by it."""
    visible_to: tuple[str, ...] = ()
    """As in `Document`."""
    limit: bytes = b""
    """The selector of the delegation under which it was posted, packed: what of its owner's lies
    elsewhere under its name, and not within, does not make way for it."""


@dataclass(frozen=True, slots=True)
class PeerNote:
    """The journal's note of who a peer is: a restarted one resumes under its identifier."""

    id: WideInt
    incarnation: int
    space: str
    born: int = 0
    """The incarnation that began the journal: nothing is in it that an earlier one had."""


@dataclass(frozen=True, slots=True)
class Claim:
    """Who holds this interval?  Asked by a peer to which the ring gives it."""

    interval: WireInterval
    tried: tuple[tuple[int, int], ...] = ()
    """Number and epoch of its own views of it that never began: who noted one in a former life need
    not remember that, and could not ask once the asker has gone to another place."""


HeardOf = tuple[int, tuple[WireInterval, ...]]
"""An epoch, and of what."""


@dataclass(frozen=True, slots=True)
class ClaimAnswer:
    """What of the interval the receiver holds, and whom else to ask."""

    held: tuple[WireInterval, ...]
    lost: tuple[WireInterval, ...]
    elsewhere: tuple[Contact, ...]
    settled: bool
    """False while the receiver itself waits for a hand-off."""
    copies: tuple[View, ...] = ()
    """Of what of it the receiver is a whole copy."""
    former: tuple[View, ...] = ()
    """What of it the receiver had a part in before it was restarted, or passed over."""
    damaged: bool = False
    """Whether the receiver's memory of that is damaged."""
    learning: tuple[View, ...] = ()
    """Of what of it the receiver is being made a copy."""
    gifts: tuple[tuple[WideInt, int], ...] = ()
    """The keys of those `copies` that begin by what the receiver gave, and are not known to have
    begun."""
    taken_in: tuple[Ended, ...] = ()
    """Of which ended views of others the receiver has all content of it."""
    begun: tuple[View, ...] = ()
    """The newest views of it that began, as far as the receiver was told."""
    heard: tuple[HeardOf, ...] = ()
    """How late an epoch the receiver heard of since it was started, piece by piece."""
    awaited: tuple[WireInterval, ...] = ()
    """What of it the receiver is just taking over."""
    tried: tuple[tuple[int, int], ...] = ()
    """Number and epoch of views of it that the receiver asked copies to take, and that never
    began."""
    passed_over: tuple[tuple[int, int], ...] = ()
    """The same of next epochs of views that it had before: what was acknowledged it had there."""
    gave: tuple[View, ...] = ()
    """What of it the receiver was the primary of until it gave that to one who is not known to have
    begun."""
    former_taken_in: tuple[tuple[Ended, ...], ...] = ()
    """Of which ended views of others the receiver has all content with each of `former`, on its
    shelf or in its attic, one after the other."""
    stands_for: tuple[tuple[int, tuple[View, ...]], ...] = ()
    """By the numbers of `tried`, and the epochs of `passed_over`: whose content whoever took one
    may have under its name.  Of a next epoch the first is the last that its primary had of it."""
    born: int = 0
    """The incarnation that began the receiver's journal: of what an earlier one had, and gave away,
    or let go, it knows nothing."""
    remembers: bool = False
    """Whether, though its memory is `damaged`, it knows of all that it had a part in: nothing but
    records is lost."""
    sound: tuple[int, ...] = ()
    """And in which epochs of `former` and `gave` it had all of it, as it began to since."""
    had: tuple[WideInt, ...] = ()
    """Identifiers that the receiver had at other places of the ring, the last one last."""


@dataclass(frozen=True, slots=True)
class Pull:
    """Give me the next records of this interval, those changed after `cursor`."""

    interval: WireInterval
    cursor: int
    epoch: int = 0
    """Of the former view whose content is wanted, should that not be on the shelf."""
    primary: WideInt | None = None
    """Whose view that was, when it is to be known whether all of it is there."""


@dataclass(frozen=True, slots=True)
class PulledPage:
    """A page of a hand-off; `more` while there are further records."""

    carried: tuple[Carried, ...]
    cursor: int
    more: bool
    whole: bool = True
    """Whether all that was acknowledged in the view that was asked for is kept there ..."""
    since: int = 0
    """... and in its primary's epochs from this one on."""
    place: tuple[int, ...] = ()
    """Where the cursor counts: the life of whoever has it, and which lots of its attic, none of
    them for the shelf.  Between two such places it means nothing."""
    taken_in: tuple[Ended, ...] = ()
    """Of which ended views of others all content is there as well, where a view was asked for."""


@dataclass(frozen=True, slots=True)
class Freeze:
    """Begin nothing new in this interval, and give me what I do not have yet."""

    interval: WireInterval
    cursor: int


@dataclass(frozen=True, slots=True)
class Frozen:
    """The last changes, and the grant to name when taking the interval over."""

    page: PulledPage
    grant: int
    lost: tuple[WireInterval, ...]
    epoch: int = 0
    """The lowest of the giver's views of it: who has all of that has everything."""
    copies: tuple[Contact, ...] = ()
    """Who has all of it besides the giver."""
    highest: int = 0
    """The highest of them: the taker's is to be later."""
    rivals: tuple[Rival, ...] = ()
    """Of the giver's views."""
    taken_in: tuple[Ended, ...] = ()
    """Of which ended views of others the giver has all content of it."""
    since: int = 0
    """From which epoch of the giver on all that it acknowledged of it is there, what was lost or
    had a rival as well: it began then, or later."""


@dataclass(frozen=True, slots=True)
class TakeOver:
    """All of it is durable here: make it mine.  Idempotent by interval and grant."""

    interval: WireInterval
    grant: int
    view: View | None = None
    """The taker's view of it: the giver may be one of its copies."""


@dataclass(frozen=True, slots=True)
class Yours:
    """The receiver wrote down that it gave the interval away."""

    epoch: int = 0
    """The last one in which it had any of it; 0 when it was given before."""
    tried: int = 0
    """The last one that it asked copies to take, and that never began: some may hold on to it."""


@dataclass(frozen=True, slots=True)
class Inherit:
    """Somebody has this interval that is the receiver's now: as its holder, or from a former life.
    The reply is `Inherited` once the receiver has all of it."""

    interval: WireInterval
    taken_in: tuple[Ended, ...] = ()
    """Of which ended views of others it has all there."""


@dataclass(frozen=True, slots=True)
class Inherited:
    """The successor holds what it was asked to inherit."""


# -- notices between peers


@dataclass(frozen=True, slots=True)
class Notices:
    """A rendezvous peer's notices for a client of the receiver."""

    client: WideInt
    notices: tuple[Notice, ...]
    told: tuple[Told, ...] = ()
    """More of them."""


@dataclass(frozen=True, slots=True)
class StateQuestion:
    """How much do you hold?  For the picture of the ring."""


@dataclass(frozen=True, slots=True)
class State:
    """A peer's own count of its records."""

    data: int
    interests: int
    watches: int
    lost: tuple[WireInterval, ...] = ()
    copies: int = -1
    forgotten: int = 0


@dataclass(frozen=True, slots=True)
class ForgetPast:
    """Declare the past of this interval, which is lost at the receiver, gone.  The reply is
    `meteor.wire.messages.Forgotten`."""

    interval: WireInterval


MESSAGES: tuple[type, ...] = (
    Route, Operation, Summary, FoundPage, Carried, PeerNote,
    Claim, ClaimAnswer, Pull, PulledPage, Freeze, Frozen, TakeOver, Yours, Inherit, Inherited,
    Notices, StateQuestion, State, ForgetPast,
)  # fmt: skip
