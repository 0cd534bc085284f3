"""How a restarted peer comes back into its ring, or begins it again when all were down.

Law of this file: one conversation, bounded in time: nobody waits for ever for somebody else.  While
any contact of the former life is a member, the peer joins by it; of those that restart together the
lowest identifier goes first, after a second look, the others give it a moment; whoever goes on
alone remembers its contacts, and the rings made so merge (`chord.reunion`).  DESIGN section 2.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final

from chord.contact import Contact
from chord.errors import AnotherAnswers, CallError, JoinRefused, LookupFailed
from chord.frozen import replace
from chord.place_search import TryAgain
from chord.remembered import distinct

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chord.config import ChordConfig
    from chord.forming import Forming
    from chord.joining import Joining
    from chord.place_search import PlaceSearch
    from chord.ring_state import RingState
    from chord.runtime import Runtime
    from chord.watch import Watch

ASKED_AT_ONCE: Final = 16
"""Contacts asked at the same time."""
LOOKS_MAX: Final = 5
"""Half a second, for somebody that may go before and that nobody here has heard of."""
PAUSE_S: Final = 0.1
"""Mean pause between two rounds of asking."""


class Standing(Enum):
    """What a contact of the former life is now."""

    MEMBER = "a member of a ring"
    WAKING = "a peer that is no member yet"
    ABSENT = "not to be reached"


class Resuming:
    """The return of one node."""

    def __init__(
        self,
        runtime: Runtime,
        config: ChordConfig,
        watch: Watch,
        forming: Forming,
        joining: Joining,
        search: PlaceSearch,
    ) -> None:
        self._runtime = runtime
        self._config = config
        self._watch = watch
        self._forming = forming
        self._joining = joining
        self._search = search

    async def resume(self, state: RingState, contacts: Sequence[Contact]) -> bool:
        """Join by whom the state and `contacts` name, or found anew; whether there was a ring.

        Raises `JoinRefused` where the ring does not take us."""
        known = distinct((*state.contacts, *contacts), self._runtime.contact)
        for contact in reversed(known):
            self._watch.remember(contact)
        give_up_s = self._runtime.now() + self._config.resume_patience_s
        named = {contact.address for contact in known}
        looks = 0
        while known:
            # Who asked this peer may be of its ring since: it has said who it is, too.
            asked = distinct((*self._watch.met.values(), *known), self._runtime.contact)
            standings = await self._ask_all(asked)
            members = [c for c, standing in standings if standing is Standing.MEMBER]
            if members and await self._join(members):
                return True
            waking = [c for c, standing in standings if standing is Standing.WAKING]
            its = [contact for contact in waking if contact.address in named]
            looks = looks + 1 if not members and self._goes_first(its) else 0
            if looks >= self._looks(its, waking):
                break
            if self._runtime.now() >= give_up_s:
                break
            await self._runtime.sleep(PAUSE_S * self._runtime.random.uniform(0.5, 1.5))
        self._forming.found()
        return False

    def _looks(self, its: Sequence[Contact], waking: Sequence[Contact]) -> int:
        """How often whoever goes first looks before it does: another one may know a member that it
        never heard of, and one of its ring that it never heard of may go before it; or look for
        another ring, for ever."""
        if len(its) < len(waking) and not self._goes_first(waking):
            return LOOKS_MAX
        return 2 if waking else 1

    def _goes_first(self, waking: Sequence[Contact]) -> bool:
        own_id = self._runtime.contact.id
        return all(contact.known and contact.id > own_id for contact in waking)

    async def _join(self, members: Sequence[Contact]) -> bool:
        try:
            await self._joining.join(members)
        except (CallError, LookupFailed):
            return False
        return True

    async def _ask_all(self, contacts: Sequence[Contact]) -> list[tuple[Contact, Standing]]:
        found = []
        for start in range(0, len(contacts), ASKED_AT_ONCE):
            batch = contacts[start : start + ASKED_AT_ONCE]
            tasks = [self._runtime.spawn(self._ask(contact)) for contact in batch]
            found += [await task for task in tasks]
            if any(standing is Standing.MEMBER for _, standing in found):
                break
        return found

    async def _ask(self, contact: Contact, *, is_second: bool = False) -> tuple[Contact, Standing]:
        """Who is at a contact's address, and what it is: it may have gone to another place in the
        ring meanwhile, and then has another identifier."""
        try:
            await self._search.ask(contact)
        except TryAgain:
            return contact, Standing.WAKING
        except AnotherAnswers as error:
            there = Contact.at(contact.address)
            if error.who is not None and not is_second:
                # Under the address that this peer knows: it may call itself by another one.
                there = replace(error.who, address=contact.address)
            return await self._ask(there, is_second=True)
        except (CallError, JoinRefused):
            return contact, Standing.ABSENT  # or of a ring that is not ours
        return contact, Standing.MEMBER
