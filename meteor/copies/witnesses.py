"""Witnesses: who knows of an epoch beside its holders, while these are fewer than they should be,
and when too few know of it for anything to be acknowledged.

Law of this file: a conversation; what a witness says counts as in `meteor.copies.takeover`.  A copy
that is cut off is evicted and cannot be told.  Should the others fall before it is back, it would
take the epoch that it knows for the last one, and lack what was acknowledged since without a word.
So before anything is acknowledged under a view that lacks copies, as many peers beside them begin
to learn it: k peers know of every epoch, and an heir that finds none of its content but a witness
says that the interval is missing (DESIGN section 5).  Where there are hardly k peers, as all may
just be falling or are just coming back, it is waited for a while, or for more of them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable
from typing import Final

from chord import ChordNode, Contact, Runtime
from meteor.copies.config import CopiesConfig
from meteor.keeping.views import Views
from meteor.wire.copy_messages import Begun, Instate, Instated, Learn
from meteor.wire.view import Settled, View, ViewKey
from squid import Intervals, intersect, subtract

SPARE: Final = 2
"""How many more are asked than are needed: who is asked may be silent as well."""


class Witnesses:
    """Whom one primary made witnesses of its views."""

    def __init__(
        self,
        node: ChordNode,
        runtime: Runtime,
        views: Views,
        config: CopiesConfig,
        ask: Callable[[Contact, object], Awaitable[object]],
    ) -> None:
        self._node, self._runtime, self._config, self._ask = node, runtime, config, ask
        self._views = views
        self._told: dict[ViewKey, tuple[View, tuple[Contact, ...]]] = {}
        self._went: dict[int, float] = {}
        """Who had a part in an own view, or in what became one, and went lately, and when."""
        self._dead: dict[int, Contact] = {}
        """Of these whom the ring gave up."""
        self._left: dict[int, tuple[Contact, float]] = {}
        """Who said lately that it leaves, by identifier, and when."""
        self._few: list[tuple[float, Intervals]] = []
        """Of what few knew as it began, or with few left at all, and when that was."""
        self._questions = 0

    async def tell(self, view: View, asked: Collection[int]) -> list[object]:
        """Return when as many peers know of a view as should, or nobody else can be told, with
        their replies.  Who was `asked` to be its copy and is none is silent; under a view without
        any copy nothing is acknowledged."""
        lacking = self._config.copies - 1 - len(view.copies)
        own_id = view.primary.id
        others = [one for one in self._node.successors if one.id not in asked and one.id != own_id]
        others = others[: lacking + SPARE]
        if lacking <= 0 or not view.copies or not others:
            return []
        _, told = self._told.get(view.key, (view, ()))
        self._told[view.key] = view, tuple(dict.fromkeys((*told, *others)))
        self._questions += 1
        token = "witnesses", self._questions
        enough = self._runtime.expect(token, None)
        replies: list[object] = []

        async def tell_one(contact: Contact) -> None:
            replies.append(await self._ask(contact, Learn(view)))
            know = sum(isinstance(one, Instated) and one.known for one in replies)
            if know >= lacking or len(replies) == len(others):
                self._runtime.deliver(token, None)

        for one in others:
            self._runtime.spawn(tell_one(one))
        await enough
        return list(replies)

    def note_silent(self, ids: Iterable[int]) -> None:
        """These peers, who had something, went."""
        now, lately_s = self._runtime.now(), self._runtime.now() - 2 * self._config.falling_s
        self._left = {one: left for one, left in self._left.items() if left[1] > lately_s}
        went = {one: at_s for one, at_s in self._went.items() if at_s > lately_s}
        self._went = went | {one: went.get(one, now) for one in ids if one not in self._left}

    def note_dead(self, contact: Contact) -> None:
        """The ring gave up a peer, who need have had nothing together with this one."""
        self.note_silent((contact.id,))
        self._dead = {one.id: one for one in self._dead.values() if one.id in self._went}
        self._dead[contact.id] = contact

    def _forget_who_is_back(self) -> None:
        """Whom the ring names in a later life is there."""
        for one in self._named():
            dead = self._dead.get(one.id)
            if dead is not None and one.incarnation > dead.incarnation:
                del self._dead[one.id]
                self._went.pop(one.id, None)

    def note_left(self, contact: Contact) -> None:
        """A peer leaves, and others have all that it had: nobody waits as if it had fallen."""
        self.note_silent(())
        self._left[contact.id] = contact, self._runtime.now()
        self._went.pop(contact.id, None)

    def has_left(self, copy: Contact) -> bool:
        """Whether a copy said lately that it leaves, in the life in which it is named or a later
        one: it keeps nothing for anybody from then on.  Who is merely silent said nothing."""
        contact, _ = self._left.get(copy.id, (None, 0.0))
        return (
            contact is not None
            and contact.address == copy.address
            and contact.incarnation >= copy.incarnation
        )

    def note_gone(self, view: View, before: Collection[int], witnesses: int) -> None:
        """A view begins; so many `witnesses` know of it, and some had its content `before`.  Where
        several went one soon after the other, and few are left, all may be falling: what these tell
        anybody now would be unknown to those of the others that are back first."""
        self._forget_who_is_back()
        around = {one.id for one in self._named()}
        self.note_silent(set(before) - view.holder_ids - around - {view.primary.id})
        for one in view.holder_ids:
            self._went.pop(one, None)
        know, left_over = 1 + len(view.copies) + witnesses, 1 + len(around - set(self._went))
        few = min(know, left_over - 1) < self._config.copies
        now, held = self._runtime.now(), view.intervals
        left = ((at_s, subtract(of, held)) for at_s, of in self._few
                if now < at_s + self._config.falling_s)  # fmt: skip
        self._few = [(at_s, of) for at_s, of in left if of]
        if few:
            self._few.append((now, held))

    def _named(self) -> list[Contact]:
        return [one for one in (*self._node.successors, self._node.predecessor) if one]

    def lacks(self, view: View) -> bool:
        """Whether nobody else has it, though there are others, or fewer than there have to be, or
        it seems that all are falling: nothing is acknowledged then."""
        return self._is_alone(view) or self._config.is_small(view) or self._began_as_all_fell(view)

    def is_pressing(self, view: View) -> bool:
        """Whether others are to have a view at once: it lacks some, and they are there."""
        if self._is_alone(view) or self._began_as_all_fell(view):
            return True
        others = [one for one in self._node.successors if not view.counts_on(one)]
        return self._config.is_small(view) and bool(others)

    def _began_as_all_fell(self, view: View) -> bool:
        return any(
            self._may_fall(at_s) and intersect(of, view.intervals) for at_s, of in self._few
        )

    def _may_fall(self, at_s: float) -> bool:
        """Whether several went shortly before something began with few, just now."""
        falling_s = self._config.falling_s
        self._forget_who_is_back()
        if len(self._went) < 2 or self._runtime.now() >= at_s + falling_s:
            return False
        return sum(one > at_s - falling_s for one in self._went.values()) > 1

    def before_it(self, view: View, before: View | None) -> Settled | None:
        """What a view is to stand for that is about to have more copies, or whose holders may all
        be falling: what these did last need not be known to any of the others."""
        brief = len(view.copies) < self._config.copies - 1 or self.may_fall()
        return before.as_settled() if before is not None and brief else None

    def may_fall(self) -> bool:
        """Whether several went just now."""
        return self._may_fall(self._runtime.now())

    def _is_alone(self, view: View) -> bool:
        return self._config.copies > 1 and not view.copies and bool(self._node.successors)

    def too_few(self, view: View) -> bool:
        """Whether no client may be told of anything in it, as this peer was started again, has
        lost the past of something, and fewer have it than had before.

        The others come back as well, and would go on among themselves with what they know, should
        these few fall meanwhile.  Alone it waits even where it seems to have the last word: a copy
        may have noted a later one as it fell.  What an operator forgets is not lost any more."""
        holders, before = 1 + len(view.copies), min(self._views.company, self._config.copies)
        return holders < before and bool(view.lost or (holders == 1 and self._views.lost()))

    def note_begun(self, view: View) -> None:
        """A view begins here, in which something may be acknowledged."""
        if not view.is_brief and not self._is_alone(view):
            self._views.chronicle.note(view)

    def say_begun(self, view: View) -> None:
        """Tell all around that a view began: should all its holders fall for good, they know that
        what came before is not the last word.  What began before its `lost` part was lost is told
        on, as who knew of that becomes less."""
        if view.is_brief or self._is_alone(view):
            return
        message = Begun((*self._views.chronicle.of(view.lost), view))
        around = {one.id: one for one in (*self._node.successors, *view.copies)}
        for one in around.values():
            if one.id != view.primary.id:
                self._runtime.send(one, message)

    def release(self) -> None:
        """Let those go whose view has all its copies by now, or ended here."""
        for key, (told, witnesses) in list(self._told.items()):
            view = self._views.own.get(key[1])
            if view is None or len(view.copies) >= self._config.copies - 1:
                del self._told[key]
                for one in witnesses:
                    if not (view or told).has_copy(one.id):
                        self._runtime.send(one, Instate(view or told))
