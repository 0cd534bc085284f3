"""Rings too small for the ring protocol: a keeper has the member list and installs it whole.

Law of this file: Zave's proof begins with an ideal ring of r + 1 members, so up to there nobody
joins by himself: the founder, or the lowest living identifier after it, is the keeper, gives every
list a version, and each member takes a newer list in one atomic step.  With r + 1 members the last
list is marked complete and forming ends.  DESIGN section 2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NoReturn

from chord.errors import CallError, Fault, JoinRefused, RemoteFault
from chord.messages import Acknowledged, Enter, Entered, Install, Membership, Ping
from chord.runtime import Deferred

if TYPE_CHECKING:
    from chord.config import ChordConfig
    from chord.contact import Contact
    from chord.pointers import RingPointers
    from chord.runtime import Handler, Runtime, Task
    from chord.watch import Watch


ENTER_SILENCES: Final = 2
"""A keeper is waited for so many times as long as a member may be silent; then it is asked again,
or whoever is the keeper by then."""


def neighbours_of(
    own_id: int, members: tuple[Contact, ...]
) -> tuple[Contact | None, tuple[Contact, ...]]:
    """Predecessor and successors of one member in the ideal ring of all."""
    others = sorted((m for m in members if m.id != own_id), key=lambda member: member.id)
    behind = [m for m in others if m.id < own_id]
    clockwise = (*[m for m in others if m.id > own_id], *behind)
    return (clockwise[-1] if clockwise else None), clockwise


def _are_twins(one: Contact, other: Contact) -> bool:
    return one.id == other.id and one.address != other.address


class Forming:
    """One node's part in a ring that is still forming; `membership` is None outside of one."""

    def __init__(
        self, runtime: Runtime, config: ChordConfig, pointers: RingPointers, watch: Watch
    ) -> None:
        self._runtime = runtime
        self._config = config
        self._pointers = pointers
        self._watch = watch
        self._waiting: list[Contact] = []
        self._taken: list[Contact] = []
        """Joiners that are about to be installed."""
        self._work: Task[None] | None = None
        self._entering = False
        self.membership: Membership | None = None
        self.installing = False
        """While a whole list is being taken: the keeper tells everybody, so nobody else need."""
        self.handlers: dict[type, Handler] = {
            Enter: self._on_enter,
            Install: self._on_install,
        }

    @property
    def keeper(self) -> Contact | None:
        """Who takes joiners in; None once the ring is formed.

        Successor lists reach round so small a ring: who has left ours lives no more."""
        if self.membership is None:
            return None
        living = self._living(self.membership)
        if any(member.id == self.membership.keeper.id for member in living):
            return self.membership.keeper
        return min(living, key=lambda member: member.id)

    def found(self) -> None:
        """Keep the list of a ring of one."""
        own = self._pointers.own
        version = 0 if self.membership is None else self.membership.version
        self.membership = Membership(version + 1, own, (own,))
        self._pointers.found()

    def dissolve(self) -> None:
        """Keep no list any more, and take none: we leave."""
        self.membership = None
        self._entering = False

    def pointers_changed(self) -> None:
        """Follow the pointers: forming is over, whatever we have heard, once somebody else stands
        there; the keeper strikes off who has gone; left alone, we found anew."""
        pointers, membership = self._pointers, self.membership
        if self.installing or not pointers.joined:
            return
        if pointers.alone:
            if membership is None or len(membership.members) > 1:
                version = 0 if membership is None else membership.version
                self.membership = Membership(version + 1, pointers.own, (pointers.own,))
        elif membership is not None:
            ids = {member.id for member in membership.members}
            if any(contact.id not in ids for contact in pointers.successors.contacts):
                self.membership = None
            elif self._is_keeper() and len(self._living(membership)) < len(ids):
                self._start_work()

    def _living(self, membership: Membership) -> list[Contact]:
        """The members that our pointers know, and we ourselves."""
        known = {contact.id for contact in self._pointers.successors.contacts}
        known.add(self._pointers.own.id)
        return [member for member in membership.members if member.id in known]

    def _is_keeper(self) -> bool:
        return self.keeper is not None and self.keeper.id == self._pointers.own.id

    # Joiner

    async def enter(self, keeper: Contact) -> bool:
        """Ask the keeper to be installed; False when the ring turns out to be formed.

        Raises `CallError`, `JoinRefused`."""
        config = self._config
        # In this time the others have found out that a keeper is dead, and have another one.
        limit_s = min(config.join_timeout_s, ENTER_SILENCES * config.silence_s)
        asked, self._entering = Enter(config.realm), True
        try:
            for _ in range(config.successor_count + 1):
                try:
                    reply = await self._runtime.call(keeper, asked, limit_s)
                except RemoteFault as fault:
                    if fault.kind == "JoinRefused":
                        raise JoinRefused(f"{self._pointers.own}: {fault.message}") from fault
                    raise
                if not isinstance(reply, Entered):
                    raise JoinRefused(f"{self._pointers.own}: {keeper} answered nonsense")
                if reply.installed or reply.keeper is None:
                    return reply.installed and self._pointers.joined
                keeper = reply.keeper
        finally:
            self._entering = False
        return False

    def _on_install(self, sender: Contact, request: object, remaining_s: float) -> object:
        """The keeper's list: taken if it is newer than ours, and we are in it."""
        del remaining_s
        assert isinstance(request, Install)
        self._watch.strangers.refuse(sender, request.realm)
        new, old, own = request.membership, self.membership, self._pointers.own
        if len(new.members) > self._config.successor_count + 1:
            raise Fault("LimitExceeded", f"{len(new.members)} members are no forming ring")
        if not all(map(self._pointers.may_name, new.members)):
            raise Fault("Refused", "a member of the list is no peer")
        wanted = self._entering if not self._pointers.joined else old is not None
        newer = old is None or (new.version, new.keeper.id) > (old.version, old.keeper.id)
        newer = newer or (self._entering and self._pointers.alone)
        if wanted and newer and any(member.id == own.id for member in new.members):
            self._apply(new)
        return Acknowledged()

    # Keeper

    def _on_enter(self, sender: Contact, request: object, remaining_s: float) -> object:
        """A joiner: taken in by the keeper, sent to it by the others."""
        del remaining_s
        assert isinstance(request, Enter)
        self._watch.strangers.refuse(sender, request.realm)
        membership = self.membership
        if not self._pointers.joined:
            raise Fault("NotJoined", f"{self._pointers.own} is no member")
        if membership is None or not self._is_keeper():
            return Entered(installed=False, keeper=self.keeper)
        self._refuse_second(sender)
        for other in membership.members:
            if _are_twins(other, sender):
                return Deferred(self._make_sure_of(other))
        return Deferred(self._take_in(sender))

    def _refuse_second(self, joiner: Contact) -> None:
        """Of several that come under one identifier the first is taken in; the others ask again."""
        for other in (*self._waiting, *self._taken):
            if _are_twins(other, joiner):
                raise Fault("TryAgain", f"{other.address} comes as {joiner.id:x} already")

    async def _make_sure_of(self, other: Contact) -> NoReturn:
        """A member of another address has the joiner's identifier: it may be the former life of the
        joiner, which nobody has missed yet."""
        taken = f"identifier {other.id:x} belongs to {other.address}"
        try:
            await self._watch.ask(other, Ping(self._config.realm))
        except CallError as error:  # refused or silent: the watch strikes it off, and he asks again
            raise Fault("TryAgain", f"{taken}, which does not answer") from error
        raise Fault("JoinRefused", taken)

    def _is_member(self, contact: Contact) -> bool:
        members = () if self.membership is None else self.membership.members
        return any(member.id == contact.id for member in members)

    async def _take_in(self, joiner: Contact) -> Entered:
        self._waiting = [other for other in self._waiting if other.id != joiner.id]
        self._waiting.append(joiner)
        await self._start_work()
        return Entered(installed=self._is_member(joiner) or self._pointers.has(joiner))

    def _start_work(self) -> Task[None]:
        if self._work is None or self._work.done():
            self._work = self._runtime.spawn(self._keep())
        return self._work

    async def _keep(self) -> None:
        """Change the list until nobody waits and nobody is gone: one new list at a time."""
        while (membership := self.membership) is not None and self._is_keeper():
            members = self._living(membership)
            if not self._waiting and len(members) == len(membership.members):
                return
            room = self._config.successor_count + 1 - len(members)
            self._taken, self._waiting = self._waiting[:room], self._waiting[room:]
            try:
                await self._change_members(members, self._taken)
            finally:
                self._taken = []
        self._waiting = []

    async def _change_members(self, members: list[Contact], joiners: list[Contact]) -> None:
        assert self.membership is not None
        own, taken = self._pointers.own, {joiner.id for joiner in joiners}
        members = [member for member in members if member.id not in taken]
        new = self._next(own, [*members, *joiners])
        # Joiners first: nobody points at a peer that is not yet a member.
        refused = await self._install_at(joiners, new)
        if not self._keeps():
            return
        if refused:
            new = self._next(own, [m for m in new.members if m.id not in refused], steps=2)
        self._apply(new)
        rest = [member for member in new.members if member.id != own.id]
        if not refused:
            rest = [member for member in rest if member.id not in taken]
        await self._install_at(rest, new)

    def _keeps(self) -> bool:
        return self.membership is not None

    def _next(self, keeper: Contact, members: list[Contact], steps: int = 1) -> Membership:
        assert self.membership is not None
        complete = len(members) > self._config.successor_count
        return Membership(self.membership.version + steps, keeper, tuple(members), complete)

    async def _install_at(self, contacts: list[Contact], new: Membership) -> set[int]:
        """Install at all of them at once; the identifiers of those that did not answer."""
        calls = [(c, self._runtime.spawn(self._install_one(c, new))) for c in contacts]
        return {contact.id for contact, call in calls if not await call}

    async def _install_one(self, contact: Contact, new: Membership) -> bool:
        try:
            await self._watch.ask(contact, Install(new, self._config.realm))
        except CallError:
            return False
        return True

    def _apply(self, new: Membership) -> None:
        """Point as the list says, in one step."""
        self.membership = None if new.complete else new
        predecessor, successors = neighbours_of(self._pointers.own.id, new.members)
        self.installing = True
        self._pointers.install(predecessor, successors)
        self.installing = False
