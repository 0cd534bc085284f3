"""A watch: told when somebody becomes interested in what it would publish, and when nobody is.

Law of this file: the state follows the newest version of each interest, in whatever order the
peers' notices come; an interest that moved is not one that went.  Word that one went is not derived
again where it was lost with who was to tell: so it is asked, as often as the watch is renewed,
whether any lives.
"""

from __future__ import annotations

from typing import Any, Final

from chord import replace
from meteor.client.draft import Draft
from meteor.client.interest import Interest
from meteor.client.mailbox import Signal
from meteor.client.session import Session
from meteor.described import inner
from meteor.errors import Closed, MeteorError, Timeout
from meteor.lifetimes import check_wait_s
from meteor.values import Notification
from meteor.wire.messages import Notice
from meteor.wire.record_id import stem_of

STEMS_KEPT: Final = 65_536
"""How many interests that went are remembered, so that a late `appeared` does not revive them."""


class Watchers:
    """Which interests live, by the notices that came, in whatever order.  Pure."""

    def __init__(self, stems_kept: int = STEMS_KEPT) -> None:
        self._newest: dict[tuple[str, str], tuple[int, bool]] = {}
        self._stems_kept = stems_kept
        self.count = 0
        """How many live."""

    def note(self, who: tuple[str, str], version: int, *, gone: bool) -> None:
        """An interest, by its owner and stem, appeared or is gone; of one version, gone is the
        later news."""
        known = self._newest.get(who)
        if known is not None and (version, gone) <= known:
            return
        if known is not None and not known[1]:
            self.count -= 1
        self._newest.pop(who, None)
        self._newest[who] = (version, gone)
        self.count += not gone
        if len(self._newest) > self._stems_kept + self.count:
            oldest = next(name for name, (_, went) in self._newest.items() if went)
            del self._newest[oldest]

    def forget(self) -> None:
        """None of them lives any more; of which versions they were is remembered."""
        self._newest = {who: (version, True) for who, (version, _) in self._newest.items()}
        self.count = 0


class Watch(Interest):
    """A subject without data.  Beside the notifications (`appeared`, `gone`) of an interest it
    knows whether anybody is interested now.

    Until it is iterated over for the first time only the newest notifications are kept, as many as
    its queue is long: `active` does not depend on them."""

    def __init__(self, session: Session, draft: Draft, **options: Any) -> None:
        super().__init__(session, draft, **options)
        self._watchers = Watchers()
        self._turned = Signal(session.runtime)
        self._is_read = self._handler is not None
        self._appeared = 0

    @property
    def active(self) -> bool:
        """Whether at least one interest in what it would publish lives."""
        return self._watchers.count > 0

    async def wait_active(self, timeout: float | None = None) -> None:
        """Until somebody is interested; raises `Timeout` after `timeout` seconds, `Closed`."""
        await self._wait_for(True, timeout)

    async def wait_idle(self, timeout: float | None = None) -> None:
        """Until nobody is interested; raises `Timeout` after `timeout` seconds, `Closed`."""
        await self._wait_for(False, timeout)

    async def __anext__(self) -> Notification:
        """The next notification, as of any interest."""
        self._is_read = True
        return await super().__anext__()

    async def recv(self, timeout: float | None = None) -> Notification:
        """The next notification, as of any interest."""
        self._is_read = True
        return await super().recv(timeout)

    @inner
    def take_now(self) -> Notification | None:
        """The next notification if it is here already, as of any interest."""
        self._is_read = True
        return super().take_now()

    async def _wait_for(self, active: bool, timeout_s: float | None) -> None:
        check_wait_s(timeout_s)
        await self._open()
        runtime = self._session.runtime
        deadline = None if timeout_s is None else runtime.now() + timeout_s
        while self.active is not active:
            if self.state != "active":
                raise Closed(f"{self._attachment.draft}: the watch is {self.state}; post it again")
            left = None if deadline is None else deadline - runtime.now()
            if left is not None and (left <= 0 or not await self._turned.wait(left)):
                wanted = "interested" if active else "done"
                raise Timeout(
                    f"{self._attachment.draft}: nobody was {wanted} within {timeout_s} s; "
                    "wait longer, or without a limit"
                )
            if left is None:
                await self._turned.wait()

    def _receive(self, notice: Notice) -> bool:
        """Note the change, then queue the notification as any interest does: a handler already sees
        the new state."""
        if not self._is_read and len(self._items) >= self._limit:
            self._items.popleft()
            self.dropped += 1
        was, found = self.active, notice.found
        who = found.owner, stem_of(found.id)  # two owners may choose the same name
        self._watchers.note(who, found.version, gone=notice.kind == "gone")
        if notice.kind == "appeared":
            self._appeared += 1
        if self.active is not was:
            self._turned.notify()
        return super()._receive(notice)

    async def _renewed(self) -> None:
        """Ask how many interests live, by a watch that only passes."""
        # The record itself is renewed by now, whatever the count.  Where none is known to live
        # there is nothing to find out: `appeared`, unlike `gone`, is derived again from what lives
        # until it is acknowledged, also by an heir.
        if not self._watchers.count:
            return
        session, config = self._session, self._session.config
        question = replace(
            self._attachment.draft,
            stem=session.new_stem(),
            version=session.next_version(),
            ttl_s=0.0,
        )
        was, appeared = self.active, self._appeared
        try:
            reply = await session.post(question, config.reattach_timeout_s)
        except MeteorError:  # it is asked again
            return
        if reply.complete and appeared == self._appeared and not reply.matches:
            self._watchers.forget()
        if self.active is not was:
            self._turned.notify()

    def _ended(self) -> None:
        super()._ended()
        self._turned.notify()
