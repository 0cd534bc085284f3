"""Copying: every change of records is durable at every copy before it shows.

Law of this file: one conversation, that of a change with the copies and learners of the views that
it touches.  A copy that is silent, or refuses, is evicted before anything is acknowledged without
it (DESIGN section 5).  Changes show in the order of their numbers: of every pair the later arrival
finds the earlier, and a watermark leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

from chord import Contact, MeteorError, Runtime
from meteor.copies.turns import Sequence as Order
from meteor.keeping.holdings import Holdings
from meteor.keeping.placement import GONE, Admission, key_of
from meteor.keeping.shelf import Shelf
from meteor.keeping.views import Views
from meteor.wire.copy_messages import Keep, Kept
from meteor.wire.operations import Carried
from meteor.wire.view import View
from squid import Intervals, intersect, merge, subtract


class Superseded(MeteorError):
    """What a change was about is not this peer's any more."""


class Copying:
    """How one primary's changes come to its copies."""

    def __init__(
        self,
        runtime: Runtime,
        views: Views,
        holdings: Holdings,
        shelf: Shelf,
        learners: Mapping[int, tuple[Contact, int]],
        *,
        ask_each: Callable[[Sequence[tuple[Contact, object]]], Awaitable[list[object]]],
        lacks: Callable[[View], bool],
        too_few: Callable[[View], bool],
        evict: Callable[..., Awaitable[None]],
        settle: Callable[[Iterable[View]], Awaitable[None]],
        passed_over: Callable[[Iterable[View]], None],
        on_lack: Callable[[], None],
        level: Callable[[Intervals, float], Awaitable[bool]],
    ) -> None:
        self._runtime, self._views, self._holdings = runtime, views, holdings
        self._shelf, self._learners = shelf, learners
        self._ask_each, self._evict, self._settle = ask_each, evict, settle
        self._lacks, self._too_few = lacks, too_few
        self._passed_over, self._on_lack, self._level = passed_over, on_lack, level
        self._order = Order(runtime, "changes in order")

    async def keep(
        self, carried: Iterable[Carried], part: Intervals, ends_s: float
    ) -> list[Carried]:
        """Make changes about `part` durable here and at every copy; the caller shows them in the
        turn in which this returns.  Raises `Superseded` when the part is another peer's meanwhile,
        or when the time is up: what was written may show later, and is not acknowledged."""
        changes = list(carried)
        numbered = self._shelf.begin(changes)
        ticket = self._order.begin()
        local = self._runtime.begin(self._shelf.commit(numbered))
        try:
            await self._replicate(numbered, part, ends_s)
            await local
            await self._order.reached(ticket)
            self._check_held(part)
        except Superseded:
            await local
            self._take_in(numbered)
            self._shelf.owe(numbered, self._holdings.held)
            raise
        finally:
            self._order.end(ticket)
            self._shelf.end(numbered)
        if self._shelf.owed:
            self._shelf.paid(numbered, subtract(self._holdings.held, part))
        self._shelf.leave(numbered[len(changes) :])
        return numbered[: len(changes)]

    async def keep_for_client(
        self, carried: Iterable[Carried], part: Intervals, ends_s: float
    ) -> list[Carried]:
        """The same of what a client is told is kept.  Raises `Superseded` as well where too few are
        there for that: they are not waited for here, as a hand-off waits for what is under way.
        What peers have of the past is brought together all the same, that it is lost no more; and
        what became too few while it was written shows, as all that are there have it."""
        self._check_company(part)
        kept = await self.keep(carried, part, ends_s)
        try:
            self._check_company(part)
        except Superseded:
            self._take_in(kept)
            raise
        return kept

    def _take_in(self, written: Iterable[Carried]) -> None:
        """Let show what nobody is promised.  Whoever it concerns is told of it all the same: it is
        found from now on, and need not be asked for again."""
        for one in written:
            if self._shelf.may_show(one):  # word that it moved may have come meanwhile
                self._shelf.take_in(one, None)

    async def enough(
        self, part: Intervals, ends_s: float, owed: Iterable[Sequence[Carried]]
    ) -> None:
        """The same of what is so already, and need not be written: return when a client may be told
        of it.  Who tried before may have written it here alone, and what other holders wrote is
        `owed` to one's own copies: see `Shelf.owed_in`.  So it is with what was here already when
        this peer came to hold it."""
        self._check_company(part)
        if not await self._level(part, ends_s):
            raise Superseded("the copies could not be compared in time")
        await self.pay(owed, part, ends_s)
        while not self._counts(views := self._views.touching(part)):
            await self._let_count(views, ends_s)
        self._check_company(part)
        self._check_held(part)

    async def pay(
        self, owed: Iterable[Sequence[Carried]], part: Intervals, ends_s: float
    ) -> None:
        """Bring what other holders wrote here to the copies of `part`, page by page."""
        for some in owed:
            if self._runtime.now() > ends_s:
                raise Superseded("there is more than could be written in time")
            if some:
                await self.keep(some, part, ends_s)
            else:
                await self._runtime.sleep(0.0)

    def _check_company(self, part: Intervals) -> None:
        if self._views.company and any(map(self._too_few, self._views.touching(part))):
            raise Superseded("too few of the peers that had the part are back yet")

    def _check_held(self, part: Intervals) -> None:
        if subtract(part, self._holdings.held):
            raise Superseded("the part was given up meanwhile")

    async def barrier(self) -> None:
        """Wait until all changes begun before show, or have failed."""
        await self._order.barrier()

    async def ask_copies(self, part: Intervals, question: object) -> list[object]:
        """What every copy and learner of `part` says, those that become one meanwhile as well: who
        would keep what is written in this turn.  Who says nothing is evicted."""
        asked: set[int] = set()
        replies: list[object] = []
        while targets := self._targets(self._views.touching(part), part, asked):
            contacts = [contact for contact, _ in targets]
            asked.update([contact.id for contact in contacts])
            told = await self._ask_each([(contact, question) for contact in contacts])
            replies += told
            silent = [one for one, reply in zip(contacts, told, strict=True) if reply is None]
            await self._evict(*silent)
        return replies

    async def _replicate(self, numbered: Sequence[Carried], part: Intervals, ends_s: float) -> None:
        have: set[int] = set()
        while True:
            views = self._views.touching(part)
            if subtract(part, merge(*[view.intervals for view in views])):
                raise Superseded("the part was given up meanwhile")
            targets = self._targets(views, part, have)
            if not targets:
                if self._counts(views):
                    return
                await self._let_count(views, ends_s)
                continue
            silent = await self._keep_at(targets, numbered)
            have.update([contact.id for contact, _ in targets])
            await self._evict(*silent)

    async def _keep_at(
        self, targets: Sequence[tuple[Contact, Intervals]], numbered: Sequence[Carried]
    ) -> list[Contact]:
        """Let copies keep what is of their parts; those that do not have it now."""
        asked: list[tuple[Contact, Keep]] = []
        keeps: dict[Intervals, Keep] = {}  # most often all copies are of the same part
        for contact, part in targets:
            keep = keeps.get(part)
            if keep is None:
                its = [one for one in numbered if self._shelf.meets(one, part)] if part else []
                keep = keeps[part] = Keep(part, tuple(map(self._shelf.outgoing, its)))
            if keep.carried:
                asked.append((contact, keep))
        silent: list[Contact] = []
        for (contact, _), reply in zip(asked, await self._ask_each(asked), strict=True):
            if isinstance(reply, Kept):
                if reply.newer:
                    self._passed_over(reply.newer)
                elif reply.known:
                    if reply.stones:
                        await self._learn(reply.stones, numbered)
                    continue
            silent.append(contact)
        return silent

    async def _learn(self, stones: Sequence[Carried], numbered: Iterable[Carried]) -> None:
        """What is written was deleted elsewhere, as a copy knows: here as well then.  Acknowledged
        all the same, it would be there by the others alone."""
        keys = {key_of(one) for one in numbered}
        known = [one for one in stones if one.kind == GONE and key_of(one) in keys]
        await self._shelf.admit(known, Admission())

    def _targets(
        self, views: Sequence[View], part: Intervals, have: set[int]
    ) -> list[tuple[Contact, Intervals]]:
        """Who is to keep a change of `part`, each with what of it is its own."""
        found: dict[int, tuple[Contact, Intervals]] = {}
        for view in views:
            its = intersect(view.intervals, part)
            learners = [one for one, number in self._learners.values() if number == view.number]
            for contact in (*view.copies, *learners):
                known = found.get(contact.id)
                part_of_it = its if known is None else merge(known[1], its)
                found[contact.id] = (contact if known is None else known[0]), part_of_it
        return [found[one] for one in sorted(found) if one not in have]

    def _counts(self, views: Sequence[View]) -> bool:
        """Whether what all have may be acknowledged."""
        return not any(view.is_brief or self._lacks(view) for view in views)

    async def _let_count(self, views: Sequence[View], ends_s: float) -> None:
        """Settle what began as many fell, or wait for a copy where one lacks."""
        if self._runtime.now() >= ends_s:
            raise Superseded("no peer became a copy in time")
        if not any(map(self._lacks, views)):
            await self._settle(views)
            return
        self._on_lack()
        await self._runtime.sleep(0.01)
