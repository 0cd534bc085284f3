"""Straight to the owner: links of a client to peers that keep what it posts again and again.

Law of this file: a shortcut is never trusted, and never waited for.  The owner of a point is what
the client's own peer last said; whoever gets a post routes it on where that is out of date.  A link
is opened beside the posts, by greeting, when enough of them went to one owner; one that is silent
about a post is dropped, and what was asked over it goes by the client's own peer, as if it had
never been there.  An exact post then takes two messages less, and the two peers' work at once
(Cassandra's and Redis Cluster's clients do the same).

What theirs do not ask is whether the client's own peer reaches that owner too: a client that
reaches both sides of a cut would be on both at once.  So the own peer vouches for an owner that
answered it until another could own its place, is asked to do so anew every few tenths of a second
(`meteor.client.vouching`), and gets the post itself where it did not; what is answered straight
later than that counts for nothing, and is asked again by the own peer.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from chord import ArcCache, CallError, Contact, KnownArc, Runtime
from meteor.client.config import ClientConfig
from meteor.wire.messages import Greet, Greeting

ARCS_MAX: Final = 1024
"""Arcs that are remembered: as many as a peer remembers."""
POSTS: Final = 5
"""So many posts to one owner within `WITHIN_S` are worth a link of their own: rarer ones would all
be needed to have that owner vouched for."""
WITHIN_S: Final = 1.0
SILENT_S, AS_LATE = 0.03, 2.0
"""How long an owner may say nothing while a post waits for it, beyond so many times what answers of
his took lately: what stands still for longer (a collector, a disk) costs its client one post more,
by the other way."""
FORGETS: Final = 0.9
"""What is left, with each answer, of how late an earlier one was."""
LOOK_S: Final = 0.01
LOOKS_ON_S: Final = 1.0
"""How often that is looked at, and until how long behind the last post."""
IDLE_S: Final = 60.0
"""A shortcut that nobody took for so long is closed."""
AVOIDED_S, AVOIDED_S_MAX = 5.0, 320.0
"""How long an owner that failed is not tried again; twice as long each time in a row."""
GREETED_WITHIN_S: Final = 3.0
FADES: Final = 4
"""Such a part of the time for which an owner is vouched for passes before that is asked for anew,
by the next post: owners that get ten posts a second have one in time then, nearly always."""
ANSWERED: Final = 2.0
"""What went straight while its owner was vouched for may be answered within so many times that
time, see `CopiesConfig.vouches_s`."""


class Way:
    """What a client knows of the way to one owner."""

    __slots__ = (
        "avoided_s", "avoided_until_s", "late_s", "is_open", "posts", "since_s", "under_way",
        "used_s", "vouched_by", "vouched_for_s", "vouched_since_s",
    )  # fmt: skip

    def __init__(self, now_s: float) -> None:
        self.posts, self.since_s = 0, now_s
        """How many posts would have gone there, and since when these are counted."""
        self.is_open = False
        self.late_s = 0.0
        """How late answers may be, as was seen lately; at first what greeting took, with the dial.
        """
        self.used_s = now_s
        self.under_way: dict[int, float] = {}
        """When those posts began that wait for it, by their tokens."""
        self.avoided_s, self.avoided_until_s = AVOIDED_S, float("-inf")
        self.vouched_by: Contact | None = None
        """The client's own peer that reached this owner,"""
        self.vouched_since_s = self.vouched_for_s = 0.0
        """when that was asked for, and for how long it goes straight from then on."""

    def count(self, now_s: float) -> bool:
        """One more post; whether a link is worth it."""
        if now_s - self.since_s > WITHIN_S:
            self.posts, self.since_s = 0, now_s
        self.posts += 1
        return self.posts >= POSTS and now_s >= self.avoided_until_s

    def avoid(self, now_s: float) -> None:
        """Count anew, and not soon; of several who say that it failed the first counts."""
        self.posts = 0
        if now_s < self.avoided_until_s:
            return
        self.avoided_until_s = now_s + self.avoided_s
        self.avoided_s = min(2 * self.avoided_s, AVOIDED_S_MAX)


class Shortcuts:
    """The straight ways of one client."""

    def __init__(
        self, runtime: Runtime, config: ClientConfig, is_own_peer: Callable[[Contact], bool]
    ) -> None:
        self._runtime, self._links_max = runtime, config.shortcuts_max
        self._is_own_peer = is_own_peer
        self._arcs = ArcCache(ARCS_MAX if config.shortcuts_max else 0)
        self._ways: OrderedDict[Contact, Way] = OrderedDict()
        self._awaited: dict[Way, Contact] = {}
        """The ways with posts under way, and whose they are: all that is looked at while one is."""
        self._open_count = 0
        self._used_s = float("-inf")
        self._watching = self._tidying = self._opening = False
        self.posts = 0
        """How many posts went straight."""

    @property
    def wanted(self) -> bool:
        """Whether any may be opened."""
        return self._links_max > 0

    def owner_of(self, key: int) -> Contact | None:
        """Who owns a key of the ring, as was last said."""
        return self._arcs.find(key)

    def learn(self, known: KnownArc) -> None:
        """The client's own peer names an owner."""
        self._arcs.learn(known.owner, known.arc)

    def vouch(self, owner: Contact, own_peer: Contact, since_s: float, for_s: float) -> None:
        """The client's own peer has reached an owner, after `since_s`."""
        way = self._ways.get(owner)
        if way is not None:
            way.vouched_by, way.vouched_since_s, way.vouched_for_s = own_peer, since_s, for_s

    def is_vouched_for(self, owner: Contact, own_peer: Contact) -> bool:
        """Whether a post may go straight still, as far as cuts between the two are concerned."""
        way = self._ways[owner]
        vouched_s = self._runtime.now() - way.vouched_since_s
        return way.vouched_by == own_peer and vouched_s < way.vouched_for_s

    def fades(self, owner: Contact) -> bool:
        """Whether it is time to have it vouched for anew."""
        way = self._ways[owner]
        return self._runtime.now() - way.vouched_since_s > way.vouched_for_s / FADES

    def counts(self, owner: Contact, own_peer: Contact) -> bool:
        """Whether what was answered straight just now holds on the own peer's side of a cut."""
        way = self._ways.get(owner)
        if way is None or way.vouched_by != own_peer:
            return False
        return self._runtime.now() - way.vouched_since_s < ANSWERED * way.vouched_for_s

    def is_open(self, owner: Contact) -> bool:
        """Whether a post may go there straight; one that may not counts, and may open the way."""
        now_s = self._runtime.now()
        way = self._ways.get(owner)
        if way is None:
            way = self._ways[owner] = Way(now_s)
            if len(self._ways) > ARCS_MAX:
                self._forget_one()
        if way.is_open:
            return True
        if way.count(now_s) and not self._opening and self._open_count < self._links_max:
            self._opening = True
            self._runtime.spawn(self._open(owner, way))
        return False

    def began(self, owner: Contact, token: int) -> None:
        """A post goes there."""
        way = self._ways[owner]
        self._used_s = way.used_s = way.under_way[token] = self._runtime.now()
        self._awaited[way] = owner
        self.posts += 1
        if not self._watching:
            self._watching = True
            self._runtime.spawn(self._watch())

    def ended(self, owner: Contact, token: int) -> None:
        """It was answered, or failed."""
        way = self._ways[owner]
        took_s = self._runtime.now() - way.under_way.pop(token)
        if not way.under_way:
            del self._awaited[way]
        way.late_s = max(took_s, FORGETS * way.late_s)

    def failed(self, owner: Contact) -> None:
        """It does not serve, or no link can be kept to it: go by one's own peer for a while."""
        way = self._ways.get(owner)
        if way is not None:
            self._arcs.forget(owner)
            self._shut(way)
            way.avoid(self._runtime.now())

    def refused(self, owner: Contact) -> None:
        """It takes nothing straight, and will not soon."""
        way = self._ways.get(owner)
        if way is not None:
            way.avoided_s = AVOIDED_S_MAX
            self.failed(owner)

    def link_closed(self, contact: Contact) -> None:
        """A link is gone."""
        way = self._ways.get(contact)
        if way is not None and way.is_open:
            self.failed(contact)

    def close(self) -> None:
        """Open no more."""
        self._links_max = 0

    def _shut(self, way: Way) -> None:
        self._open_count -= way.is_open
        way.is_open, way.posts = False, 0

    def _forget_one(self) -> None:
        """The one that was heard of first and is not open."""
        closed = (one for one, way in self._ways.items() if not way.is_open and not way.under_way)
        self._ways.pop(next(closed), None)

    async def _open(self, owner: Contact, way: Way) -> None:
        """Greet an owner, and take the straight way from then on if that is who answers."""
        began_s = self._runtime.now()
        try:
            greeting = await self._runtime.call(owner, Greet(), GREETED_WITHIN_S)
        except CallError:
            greeting = None
        self._opening = False
        serves = isinstance(greeting, Greeting) and greeting.ready and greeting.contact == owner
        if not serves or self._open_count >= self._links_max or self._ways.get(owner) is not way:
            self.failed(owner)
            return
        way.is_open, way.avoided_s = True, AVOIDED_S
        way.used_s = self._runtime.now()
        way.late_s = max(way.late_s, way.used_s - began_s)
        self._open_count += 1
        if not self._tidying:
            self._tidying = True
            self._runtime.spawn(self._tidy())

    async def _watch(self) -> None:
        """Drop who is silent about a post."""
        while self._awaited or self._runtime.now() - self._used_s < LOOKS_ON_S:
            await self._runtime.sleep(LOOK_S)
            awaited = self._awaited.items()
            for owner in [one for way, one in awaited if self._is_silent(one, way)]:
                self.failed(owner)
                self._drop(owner)
        self._watching = False

    async def _tidy(self) -> None:
        """Close what nobody takes."""
        while self._open_count:
            await self._runtime.sleep(IDLE_S / 4)
            idle_since_s = self._runtime.now() - IDLE_S
            for owner, way in list(self._ways.items()):
                if way.is_open and way.used_s < idle_since_s:
                    self._shut(way)
                    self._drop(owner)
        self._tidying = False

    def _drop(self, owner: Contact) -> None:
        """Close its link, unless it has become the client's own peer: two share one link."""
        if not self._is_own_peer(owner):
            self._runtime.drop(owner)

    def _is_silent(self, owner: Contact, way: Way) -> bool:
        if not way.is_open:
            return False
        began_s = next(iter(way.under_way.values()))
        heard_s = self._runtime.link(owner).last_heard_s
        beyond_s = self._runtime.now() - max(began_s, heard_s) - SILENT_S - AS_LATE * way.late_s
        return beyond_s > 0 and beyond_s > self._runtime.lateness()
