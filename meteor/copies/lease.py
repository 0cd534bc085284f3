"""Being in touch with one's epoch: when a primary may answer without asking anybody.

Law of this file: a primary that was held, or cut off, may have been passed over without knowing.
Any frame of a copy shows that it was not, as whoever hears of a later view says so on that very
link before anything else; after too long a silence, which the link may not have outlived, or when
this peer's own loop was late, it asks first, and so it does while nobody else has a copy (DESIGN
section 5).  The lease is shorter than the silence after which the ring names another
owner.  Where a thing has to have several holders (`copies_min`), a frame shows nothing: as many of
them are asked as make enough, and their answers count from when they were asked.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import suppress
from functools import partial
from typing import Final

from chord import CallError, Contact, DialRefused, LinkClosed, RequestTimeout, Runtime
from meteor.copies.config import CopiesConfig
from meteor.copies.later_views import OTHERWISE_S, LaterViews
from meteor.copies.replication import Replication
from meteor.copies.turns import GAINED
from meteor.copies.word import SAID_SHARE
from meteor.keeping.views import Views
from meteor.wire.copy_messages import Touch, Touched
from meteor.wire.view import View
from squid import Intervals, intersect, merge, subtract

Token = tuple[str, int]
ROUNDS: Final = 3
"""What is left of a view whose part ended is asked about anew, and so is one without copies: so
often beside those who turn out to be silent, each of whom is asked once."""


class Lease:
    """Whether one peer's own views still stand."""

    def __init__(
        self,
        runtime: Runtime,
        views: Views,
        replication: Replication,
        later: LaterViews,
        config: CopiesConfig,
    ) -> None:
        self._runtime, self._views, self._config = runtime, views, config
        self._replication, self._later = replication, later
        self._needed = max(1, config.copies_min - 1)
        """How many others have to say so: whoever went on without them has not enough."""
        self._said_s: dict[int, tuple[int, float]] = {}
        """By the number of an own view, in which epoch of it, and when, it was asked as so many
        said so."""
        self._pulse_s = runtime.now()
        self._doubted: Intervals = ()
        """Of which all copies were silent for too long: until one vouched for just that.  Not by
        views, as what is left of one whose part ends is another one."""
        self._asked = 0

    def in_touch(self, part: Intervals) -> bool:
        """Whether the views of `part` may be answered for without asking anybody."""
        late = self._runtime.lateness() > self._config.lateness_s_max
        slow = self._runtime.now() - self._pulse_s > (
            self._config.tend_s + self._config.lateness_s_max
        )
        for view in self._views.touching(part):
            if self._witnesses(view) and (late or slow or self._is_doubted(view, part)):
                return False
        return True

    def _is_doubted(self, view: View, part: Intervals) -> bool:
        """Whether somebody must be asked: nobody has a copy who would have said so unasked, or all
        who have one were silent for too long since they were asked last."""
        now = self._runtime.now()
        if self._config.copies_min:
            return not self._was_said_lately(view, now)
        heard_s = max([self._runtime.link(one).last_heard_s for one in view.copies], default=0.0)
        if now - heard_s > self._config.lease_s:
            self._doubted = merge(self._doubted, view.intervals)
        if not view.copies or not self._doubted:
            return not view.copies
        return bool(intersect(self._doubted, intersect(view.intervals, part)))

    def _was_said_lately(self, view: View, now: float) -> bool:
        """Whether as many as have to hold it heard this peer so shortly ago that none of them can
        have gone on without it, and they keep that word (`Word`).  That *they* were heard is not
        enough here: what is read now may have been sent long before, and what this peer sends may
        be lost."""
        epoch, asked_s = self._said_s.get(view.number, (0, 0.0))
        return epoch == view.epoch and now - asked_s <= SAID_SHARE * self._config.silence_s

    async def confirm(self, part: Intervals) -> None:
        """Ask the copies whether the views of `part` still stand, and give up what does not.

        One that says so is enough, or as many as have to hold it, once the others had the time to
        say otherwise: who is silent is waited for, and given up, while the question is answered."""
        silent: set[int] = set()
        rounds = 0
        while part and rounds < ROUNDS:
            known = len(silent)
            part = await self._ask_about(part, silent)
            rounds += len(silent) == known  # else others come in their place, until nobody is left

    async def _ask_about(self, part: Intervals, silent: set[int]) -> Intervals:
        """Returns what of it is held here still, and nobody vouched for: what is left of a view
        whose part ended, or one whose copies count no more.  Who is `silent` is not asked twice."""
        settled = []
        for view in self._views.touching(part):
            if not self.in_touch(intersect(view.intervals, part)):
                token = self._next_token()
                settled.append((view.intervals, self._runtime.expect(token, None)))
                self._runtime.spawn(self._inquire(view, token, silent))
        left = [intervals for intervals, wait in settled if not await wait]
        return intersect(intersect(merge(*left), part), self._views.held())

    async def _inquire(self, view: View, token: Token, silent: set[int]) -> None:
        """About all of it: one word of a copy ends the whole doubt.  Where nobody has a copy, the
        ring may name the very ones that fell, while others took over: whoever is silent is passed
        over, until somebody answers or nobody is left.  So is at once who was silent as this peer
        was about to go on alone."""
        self._doubted, asked_s = merge(self._doubted, view.intervals), self._runtime.now()
        if not view.copies:
            silent |= self._later.silent()
        witnesses = [one for one in self._witnesses(view, silent) if one.id not in silent]
        said: set[int] = set()
        settle = partial(self._settle, view, token, asked_s)
        tasks = [self._runtime.spawn(self._touch(one, view, settle, said)) for one in witnesses]
        gone: list[Contact] = []
        for witness, task in zip(witnesses, tasks, strict=True):
            reply = await task
            silent |= {witness.id} if reply is None else set()
            if reply is None or (view.copies and not (reply.copy or reply.newer)):
                gone.append(witness)
        vouched = len(said) >= self._needed if view.copies else bool(said) or not witnesses
        if view.copies:
            await self._replication.evict(*gone)
        settle(vouched=vouched)
        if not view.copies:  # they are copies of others at most: nobody waits until those go on
            self._later.note_silent(gone, asked_s)
            await self._replication.evict(*gone)

    async def _touch(
        self, witness: Contact, view: View, settle: Callable[..., None], said: set[int]
    ) -> Touched | None:
        reply = await self._replication.ask(witness, Touch(view.epoch, view.intervals))
        if not isinstance(reply, Touched):
            return None
        if reply.newer:
            self._replication.passed_over(reply.newer)
        elif reply.copy or not view.copies:
            said.add(witness.id)
            if len(said) >= self._needed or not view.copies:
                self._runtime.spawn(self._suffices(settle))
        return reply

    async def _suffices(self, settle: Callable[..., None]) -> None:
        await self._runtime.sleep(OTHERWISE_S)
        settle(vouched=True)

    def _settle(self, view: View, token: Token, asked_s: float, *, vouched: bool) -> None:
        if self._runtime.deliver(token, vouched) and vouched:
            self._doubted = subtract(self._doubted, view.intervals)
            if self._config.copies_min:
                self._said_s = {one: its for one, its in self._said_s.items()
                                if one in self._views.own}  # fmt: skip
                self._said_s[view.number] = view.epoch, asked_s

    def _next_token(self) -> Token:
        self._asked += 1
        return "epoch confirmed", self._asked

    def _witnesses(self, view: View, silent: Collection[int] = ()) -> tuple[Contact, ...]:
        """Who would know of a later view: the copies, else whom the ring names as heirs, and who
        comes after those that are silent: whoever began a view told the next eight."""
        return view.copies or self._replication.wanted(silent)

    def pulse(self) -> None:
        """The loop of this peer runs."""
        self._pulse_s = self._runtime.now()
        self._doubted = intersect(self._doubted, self._views.held())
        for view in self._views.own.values():
            self._is_doubted(view, ())

    async def unconfirmed(self, part: Intervals) -> list[View]:
        """The views of which copies are kept here of `part`, as far as no other holder says that
        they are of the present epoch, or a neighbour says that they are not: two copies may have
        been evicted together.  Not the primary: whoever asks has found that one silent."""
        own, left = self._runtime.contact.id, []
        for copy in list(self._views.copies.values()):
            view = copy.view.within(part) if copy.whole else None
            if view is None:
                continue
            others = tuple(one for one in view.copies if one.id != own)
            if not await self._counts(view, others):
                left.append(copy.view)
        return left

    def is_deserted(self, view: View) -> bool:
        """Whether all other holders have been silent for so long that a copy may go on alone."""
        if self._runtime.lateness() > self._config.lateness_s_max:
            return False
        now, own = self._runtime.now(), self._runtime.contact.id
        others = [one for one in (view.primary, *view.copies) if one.id != own]
        heard_s = max(self._runtime.link(one).last_heard_s for one in others)
        return now - heard_s >= self._config.silence_s

    async def _counts(self, view: View, others: tuple[Contact, ...]) -> bool:
        """Whether one of the others has the same epoch, or as many as have to, the first that say
        so count; or this peer took the view over meanwhile, as those who are dead do not answer.
        Nobody waits for holders at whose addresses nobody listens any more."""
        token = self._next_token()
        at_first_s = max(self._config.silence_s - self._later.patience_s, 0.0)
        settled = self._runtime.expect(token, at_first_s)
        request = Touch(view.epoch, view.intervals, view.primary.id)
        objected = self._runtime.spawn(self._later.objected(view))
        there, began_s = {view.primary.id, *(one.id for one in others)}, self._runtime.now()
        said: set[int] = set()
        for holder in (view.primary, *others):
            self._runtime.spawn(self._confirms(holder, view, request, token, there, said))
        self._runtime.spawn(self._takes_over(view.intervals, token))
        counts = False
        with suppress(RequestTimeout):
            counts = await settled
        if not counts:
            # Most likely this copy will go on alone: it asks around first, and by then it is to be
            # known who of the neighbours is silent as well.  One that says nothing now has as long
            # as a holder: it may know that this one was evicted, and be held for a moment.
            self._later.sound_out(view)
            left_s = began_s + self._config.silence_s - self._runtime.now()
            if there or not await self._later.everybody_answers(view, max(left_s, 0.0)):
                left_s = began_s + self._config.silence_s - self._runtime.now()
                with suppress(RequestTimeout):
                    counts = left_s > 0 and await self._runtime.expect(token, left_s)
        return counts and not await objected

    async def _takes_over(self, part: Intervals, token: Token) -> None:
        ends_s = self._runtime.now() + self._config.silence_s
        while subtract(part, self._views.held()):
            left_s = ends_s - self._runtime.now()
            if left_s <= 0:
                return
            try:
                await self._runtime.expect(GAINED, left_s)
            except RequestTimeout:
                return
        self._runtime.deliver(token, True)

    async def _confirms(
        self,
        holder: Contact,
        view: View,
        request: Touch,
        token: Token,
        there: set[int],
        said: set[int],
    ) -> None:
        """Ask one holder; `there` are those that were not found to be gone, and some `said` so by
        now.  What the primary says does not count: whoever asks has found that one silent."""
        reply, silence_s = None, self._config.silence_s
        try:
            try:
                reply = await self._runtime.call(holder, request, silence_s)
            except LinkClosed:  # dial anew at once: a refused dial says more than a closed link
                reply = await self._runtime.call(holder, request, silence_s)
        except CallError as error:
            if type(error) is DialRefused:  # a kind of it says that somebody is there
                there.discard(holder.id)
                if not there:
                    self._runtime.deliver(token, False)
        is_copy = isinstance(reply, Touched) and reply.copy and not reply.newer
        if is_copy and holder.id != view.primary.id:
            said.add(holder.id)
            if len(said) >= self._needed:
                self._runtime.deliver(token, True)
