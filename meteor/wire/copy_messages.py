"""What a primary and its copies say to each other.

Law of this file: only frozen values, durations only.  Every reply names the newer views that its
sender knows: a primary that was passed over learns it from the first peer that it asks.
"""

from __future__ import annotations

from chord import WideInt, dataclass
from meteor.wire.messages import WireInterval
from meteor.wire.operations import Carried
from meteor.wire.view import Ended, Rival, Stored, View


@dataclass(frozen=True, slots=True)
class Keep:
    """Make these records durable as my copy; the reply is `Kept`."""

    part: tuple[WireInterval, ...]
    """What of the curve the change is about: all of it must still be the sender's."""
    carried: tuple[Carried, ...]
    taken_in: tuple[Ended, ...] = ()
    """Of which ended views of others the sender has all content of it; only to a recruit, who has
    all of that by now."""


@dataclass(frozen=True, slots=True)
class Kept:
    """It is durable here, or it was not taken."""

    known: bool = True
    """False: the receiver is no copy of all of this; nothing was kept."""
    newer: tuple[View, ...] = ()
    """The sender's time is over for these; nothing was kept."""
    stones: tuple[Carried, ...] = ()
    """Tombstones here of what was to be kept, which was deleted at another place."""


@dataclass(frozen=True, slots=True)
class Learn:
    """Become a copy: what follows in `Keep`s is the content.  The reply is `Instated`."""

    view: View


@dataclass(frozen=True, slots=True)
class Instate:
    """A view that holds from now on; the receiver is one of its copies, or one no more.  The reply
    is `Instated` when that is durable."""

    view: View
    adopted_epoch: int = 0
    """The epoch of the view that this one takes over: who has all of that has all of this."""


@dataclass(frozen=True, slots=True)
class Stands:
    """Am I a copy of this view of yours?  The reply is `Instated`, known or not."""

    number: int


@dataclass(frozen=True, slots=True)
class Instated:
    """The answer to `Learn`, `Instate` and `Stands`."""

    known: bool = True
    """False: the receiver lacks content, and is no copy yet."""
    newer: tuple[View, ...] = ()
    """What stands against it; nothing was installed."""
    beside: tuple[View, ...] = ()
    """What of it the receiver kept whole for other primaries until now: these may be gone, and
    nobody else would say that something was acknowledged there."""


@dataclass(frozen=True, slots=True)
class Touch:
    """Am I, or is another one, still the primary of this, as far as you know?"""

    epoch: int
    part: tuple[WireInterval, ...]
    primary: WideInt | None = None
    """Of whom the asker keeps a copy; None when it means itself."""


@dataclass(frozen=True, slots=True)
class Touched:
    """The later views that the receiver knows; none when it stands."""

    newer: tuple[View, ...] = ()
    copy: bool = True
    """Whether the receiver is a whole copy of it."""


@dataclass(frozen=True, slots=True)
class Watermarks:
    """One way, to a copy: up to which number each interest's client has everything."""

    marks: tuple[tuple[str, str, int], ...]
    """Owner, stem and number."""


@dataclass(frozen=True, slots=True)
class Beside:
    """One way, to a primary: until now I answered for this under a view of mine."""

    view: View


@dataclass(frozen=True, slots=True)
class Begun:
    """One way, to the next peers of the ring and to copies: these views have begun.  Whoever comes
    with an earlier one of these intervals later on does not have the last word."""

    views: tuple[View, ...]


@dataclass(frozen=True, slots=True)
class HandedOver:
    """One way, to the next peers of the ring: the sender leaves, and others have all that it had.
    It is not to be taken for one that fell."""


@dataclass(frozen=True, slots=True)
class Reaches:
    """To a copy: may a delegate touch what you have of this identity?  The reply is `Reached`."""

    owner: str
    stem: str
    limit: bytes
    """The selector of the delegation, packed."""


@dataclass(frozen=True, slots=True)
class Reached:
    """He may, or there is nothing."""

    beyond: str = ""
    """Or the full id of what he may not touch."""


@dataclass(frozen=True, slots=True)
class ViewsNote:
    """The journal's note of what a peer has a part in."""

    own: tuple[View, ...] = ()
    copies: tuple[View, ...] = ()
    former: tuple[View, ...] = ()
    stored: tuple[Stored, ...] = ()
    """Former views whose content is in the attic."""
    taken_in: tuple[Ended, ...] = ()
    """Of which ended views of others all content is on the shelf."""
    begun: tuple[View, ...] = ()
    """The newest view that began of what the peers around have, as far as it was told."""
    had: tuple[WideInt, ...] = ()
    """Identifiers that the peer had at other places of the ring."""


MESSAGES: tuple[type, ...] = (
    Rival, View, Beside, Keep, Kept, Learn, Instate, Instated, Touch, Touched, Stands, Watermarks,
    Stored, Ended, ViewsNote, Begun, HandedOver, Reaches, Reached,
)  # fmt: skip

LASTING: tuple[type, ...] = (View, Ended)
"""Of these, what stays the same for long and is written again and again: in every note of a peer's
journal, and to several peers."""
