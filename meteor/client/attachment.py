"""The life of one interest in the overlay, as its client keeps it.

Law of this file: the overlay's record and this object change together or this object says so.
While the client lives the record is renewed at a third of its ttl; whenever the link changes it is
re-attached, and posted again under the same stem if the overlay has lost it: under a new version
where nothing of it is left, as watches may have heard that it is gone.  Trouble in the background
is reported, never raised (DESIGN section 5).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Literal

from chord import RequestTimeout, Task, replace
from meteor.client.deduplication import Deduplicator
from meteor.client.draft import Draft
from meteor.client.renewal_pace import (
    LOOKS_S,
    REATTACH_S,
    REATTACH_S_MAX,
    SLOW_S,
    TAKEN_BACK_AFTER_S,
    renewed_every_s,
)
from meteor.client.session import Session
from meteor.client.settling import receipt_of
from meteor.errors import Closed, Incomplete, Interval, MeteorError, Refused, Timeout
from meteor.receipt import Receipt
from meteor.wire.collector import Collect
from meteor.wire.messages import Found, Notice, PostReply
from meteor.wire.record_id import make_id

State = Literal["new", "opening", "active", "expired", "closed", "detached", "failed"]

ENDED: Final[frozenset[State]] = frozenset({"expired", "closed", "detached", "failed"})

DELETED: Final = "deleted"
"""The rule by which peers refuse what somebody has deleted: that interest is over."""


class Attachment:
    """One interest, watch or standing retrieve between its client and the overlay."""

    def __init__(
        self,
        session: Session,
        draft: Draft,
        *,
        receive: Callable[[Notice], bool],
        ended: Callable[[], None],
        keep_alive: bool,
        renewed: Callable[[], Awaitable[None]] | None = None,
        collect: Collect | None = None,
        found: bool = False,
    ) -> None:
        self.state: State = "new"
        self.id = make_id(draft.stem, draft.region, session.space.curve)
        self.draft = draft
        self.missing: tuple[Interval, ...] = ()
        self.ttl_s = draft.ttl_s
        self.receipt: Receipt | None = None
        self._expires_s = 0.0
        self._session, self._name = session, session.stream_name(draft.stem)
        self._receive, self._ended, self._collect = receive, ended, collect
        self._renewed = renewed
        self._keep_alive = keep_alive and draft.ttl_s > 0
        self._found = found  # it lived before: no failure of ours is a reason to delete it
        self._since = max(session.next_version(), draft.version + 1) if found else draft.version
        """Who takes it up later is told instead, and nothing that is renewed here changes that."""
        self._seen = Deduplicator()
        self._living: Task[None] | None = None
        self._reattaching = self._renewing = self._brought = 0
        self._renewals: set[int] = set()
        self._replaces: set[int] = set()
        """Those of its owner's that nobody has answered yet, by number and by version."""
        self._acknowledged = (0, 0.0, 0.0)
        """Which of them was the last that was carried out, and the life that it has since."""
        self._may_outlive = False
        """Whether the record may live longer than is known here."""

    @property
    def stem(self) -> str:
        """The identity, which every notice carries."""
        return self.draft.stem

    @property
    def is_active(self) -> bool:
        """Whether the overlay keeps it and nobody has ended it."""
        return self.state == "active"

    @property
    def is_ended(self) -> bool:
        """Whether it is over here, however it ended."""
        return self.state in ENDED

    async def open(self, timeout_s: float) -> Receipt:
        """Post it; its notices are accepted from now on.  Raises as `Session.post`."""
        self.state = "opening"
        before = self._session.streams.get(self._name)
        if before is not None:  # posted again under its name: the newer one takes its place
            before.abandon()
        self._session.streams[self._name] = self
        taking_back = self._session.runtime.begin(self._take_back())
        try:
            reply = await self._session.post(
                self.draft, timeout_s, self._take_page, lambda: not self.is_ended,
                since=self._since,
            )  # fmt: skip
            if not self.is_ended:
                self._attached(reply)
            elif not reply.complete:  # nobody tried it again, as it was wanted no more
                raise Closed(f"{self.draft} was closed while it was being posted")
        except Timeout:  # it may be kept somewhere
            self.give_up()
            raise
        except MeteorError:
            self.end("closed")
            raise
        finally:
            if self.is_active or self.state in ENDED:
                taking_back.cancel()
            else:  # whoever waits was cancelled: it may be kept, or soon be
                self.end("closed")
                self._session.runtime.deliver(self, None)
        if self.is_active:
            self._living = self._session.spawn(self._live())
            self._follow(0)
        return receipt_of(reply)

    async def _take_back(self) -> None:
        """Delete what nobody waits for any more.  Begun before it is needed, so that it ends with
        all other conversations: an event loop that ends cancels whoever waits, too."""
        try:
            await self._session.runtime.expect(self, None)
        except RequestTimeout:  # the runtime was closed
            return
        await self._session.runtime.sleep(TAKEN_BACK_AFTER_S)
        if not self._found and self._name not in self._session.streams:
            await self._delete()

    def accept(self, notice: Notice) -> bool:
        """Hand a notice on that was not seen before; true if its source may forget it."""
        key = notice.id if notice.kind == "match" else f"{notice.kind}:{notice.id}"
        if key in self._seen:
            return True
        if not self._receive(notice):
            return False
        now = self._session.runtime.now()
        self._seen.add(key, now + notice.found.ttl_ms / 1000, now)
        return True

    def _take_page(self, found: Sequence[Found]) -> None:
        """What lives comes, as the answer to a post; too late where it was ended meanwhile."""
        if self._collect is not None and not self.is_ended:
            self._collect(found)

    async def reattach(self) -> None:
        """Renew at the present link, or post again what the overlay has lost; never raises.  What
        fails or is refused, as many come at once, is tried again, and so are the intervals that did
        not answer: until then notices go to where this client was linked before."""
        self._reattaching += 1
        mine, pause_s = self._reattaching, min(REATTACH_S, self._renewed_every_s)
        runtime = self._session.runtime
        while self.is_active and not await self._is_attached_again():
            # Not all interests at the same moment: a quota may let only a few of them pass.
            await runtime.sleep(pause_s * (0.5 + 0.5 * runtime.random.random()))
            pause_s = min(2 * pause_s, REATTACH_S_MAX, self._renewed_every_s)
            if mine != self._reattaching:
                return  # another one sees to it
        if self.is_active and self._renewed is not None:
            await self._renewed()

    @property
    def _renewed_every_s(self) -> float:
        return renewed_every_s(self.ttl_s)

    async def _is_attached_again(self) -> bool:
        """Whether it need not be tried again."""
        try:
            async with self._session.uplink.renewals:
                if self.is_active and not self._is_over():
                    self._brought += 1  # for good where this fails: it may come late
                    await self._renew(self._session.config.reattach_timeout_s)
                    self._brought -= 1
        except MeteorError as error:
            if self.is_active:
                if isinstance(error, Refused) and error.rule == DELETED:
                    self.end("closed")
                self._session.report(error)
            return False
        return not self.missing

    async def renew(self, ttl_s: float, timeout_s: float) -> Receipt:
        """Let it live for `ttl_s` seconds from now; raises as `Session.post`."""
        self._check_active()
        if not self._renewals:
            self._acknowledged = self._renewing, self.ttl_s, self._expires_s
        self._renewing += 1
        mine, reply = self._renewing, None
        until_s = self._session.steady_clock() + ttl_s
        self._renewals.add(mine)
        self.ttl_s, self._expires_s = ttl_s, until_s
        try:
            reply = await self._renew(timeout_s)
        finally:
            self._renewals.remove(mine)
            if reply is not None:
                self._acknowledged = max(self._acknowledged, (mine, ttl_s, until_s))
            if all(other < mine for other in self._renewals):  # else a later one says how long
                _, self.ttl_s, self._expires_s = self._acknowledged
            if reply is None:  # it ends as it would have; what was carried out after all, too
                self._may_outlive = True
                if self.is_active and self._keep_alive:  # the record may have the shorter life
                    self._session.spawn(self.reattach())
        self._keep_alive = self._keep_alive and ttl_s > 0  # as of one that was posted so
        self._restart()
        return receipt_of(reply)

    async def replace(self, draft: Draft, timeout_s: float) -> Receipt:
        """Move to another profile under the same stem; raises as `Session.post`."""
        self._check_active()
        ttl_s, before, renewing = self._life_s(), self._reattaching, self._renewing
        until_s = self._session.steady_clock() + ttl_s
        self._replaces.add(draft.version)
        try:
            reply = await self._session.amend(
                "replace",
                self.id,
                timeout_s,
                version=draft.version,
                ttl_s=ttl_s,
                document=draft.document,
                collect=self._take_page,
                since=self._since,
            )
        finally:
            self._replaces.remove(draft.version)
        # Of two at once the later one counts, whichever is answered first.
        if self.is_active and draft.version > self.draft.version:
            self.draft = draft
            self._attached(reply, until_s, renewing)
            if self.missing:
                self._session.spawn(self.reattach())
            else:
                self._follow(before)
        return receipt_of(reply)

    def _follow(self, before: int) -> None:
        """Bring it to the present link if that came while it was posted or moved: the peer that
        answered was perhaps the one before, which may be gone, and whoever tells it sends there."""
        if self._reattaching != before:
            self._session.spawn(self.reattach())

    async def cancel(self, timeout_s: float) -> PostReply | None:
        """End here, then delete it in the overlay; None if it never was there."""
        was_there = self.state in {"opening", "active"}
        self.end("closed")
        return await self._session.amend("cancel", self.id, timeout_s) if was_there else None

    def abandon(self) -> None:
        """End here; the overlay's record runs out by its ttl."""
        self.end("closed")

    async def detach(self, timeout_s: float) -> None:
        """End here, and let the overlay's record live its whole ttl from now; raises as
        `Session.post`, then it lives what is left of that."""
        was_there, ttl_s = self.is_active, self._life_s()
        self.end("detached")
        if was_there and self._keep_alive:
            stamp = self._session.next_version()
            await self._session.amend("renew", self.id, timeout_s, version=stamp, ttl_s=ttl_s)

    def give_up(self) -> None:
        """It could not be opened: what was posted goes, what was found stays."""
        if self._found:
            self.abandon()
        else:
            self.drop("closed")

    def end(self, state: Literal["expired", "closed", "detached", "failed"]) -> None:
        """Accept no more notices; its owner is told, once."""
        if self.state in ENDED:
            return
        self.state = state
        if self._session.streams.get(self._name) is self:
            del self._session.streams[self._name]
        if self._living is not None:
            self._living.cancel()
        self._ended()

    def drop(self, state: Literal["closed", "failed"]) -> None:
        """End here now, and delete it in the overlay in the background."""
        was_there = self.state in {"opening", "active"}
        self.end(state)
        if was_there and not self._session.uplink.closed:
            self._session.spawn(self._delete())

    async def _delete(self) -> None:
        try:
            await self._session.amend("cancel", self.id, self._session.config.close_timeout_s)
        except MeteorError as error:
            self._session.report(error)

    async def _renew(self, timeout_s: float) -> PostReply:
        """One renewal.  Where it is gone, or may be gone, or perhaps never was, it is posted again:
        an heir without a copy knows nothing of it and takes it, everybody else has it already."""
        ttl_s, began_s = self._life_s(), self._session.steady_clock()
        until_s, renewing = began_s + ttl_s, self._renewing
        draft, before = self.draft, self.missing
        stamp = self._session.next_version()
        reply = await self._session.amend(
            "renew", self.id, timeout_s, version=stamp, ttl_s=ttl_s, since=self._since
        )
        if reply.matches == 0 and self.is_active and self.draft is not draft:
            return await self._renew(timeout_s)  # posted again meanwhile, with another ttl perhaps
        is_somewhere_unknown = reply.matches == 0 or not reply.complete or bool(before)
        if is_somewhere_unknown and self.is_active and self.draft is draft:
            if reply.matches == 0 and reply.complete:  # it ran out, watches heard: this is another
                draft = self.draft = replace(draft, version=self._before_replaces(stamp))
            posted = replace(draft, ttl_s=ttl_s if renewing == self._renewing else self._life_s())
            reply = await self._session.post(
                posted, timeout_s, self._take_page, lambda: self.is_active,
                since=self._since, again=True,
            )  # fmt: skip
        if self._session.steady_clock() - began_s > SLOW_S:
            self._may_outlive = True  # its time counts from when a peer read of it
        if self.is_active and self.draft is draft:
            self._attached(reply, until_s, renewing)
            if self.missing and self.missing != before:
                self._session.report(self._partly_attached())
        return reply

    def _before_replaces(self, version: int) -> int:
        """The version under which it is posted again: whatever its owner replaces it by is later,
        and counts wherever both come, in either order."""
        later = (one for one in self._replaces if one > self.draft.version)
        return min([version, *(one - 1 for one in later)])

    def _life_s(self) -> float:
        """How long the record is to live from now: its whole ttl, or what remains of it."""
        if self._keep_alive:
            return self.ttl_s
        return max(0.0, self._expires_s - self._session.steady_clock())

    def _is_over(self) -> bool:
        """Whether its time is; then it ends here.  That may have been long ago, as the machine
        slept: posted again by the next link, it would live on."""
        if self._keep_alive or self._life_s() > 0:
            return False
        self.end("expired")
        if (self._may_outlive or self._brought) and not self._found:
            self._session.spawn(self._delete())
        return True

    def _partly_attached(self) -> Incomplete:
        return Incomplete(
            f"{self.draft}: re-attached, but {len(self.missing)} interval(s) of its region do not "
            "answer; they are tried again until they do",
            receipt=self.receipt,
            missing=self.missing,
        )

    def _attached(self, reply: PostReply, until_s: float | None = None, renewing: int = 0) -> None:
        """The overlay has it: under which id, where not, and until when: however long that took,
        what is not kept alive lives no longer.  Not so where its owner began to renew it since:
        what came late with the life that it had before may have prolonged that of the owner."""
        self.id = reply.id or self.id
        self.state = "active"
        self.missing = reply.missing
        self.receipt = receipt_of(reply)
        if until_s is None:
            until_s = self._session.steady_clock() + (reply.ttl_s or self.ttl_s)
        if renewing == self._renewing:
            self._expires_s = until_s
        else:
            self._session.spawn(self.reattach())

    def _restart(self) -> None:
        """Count the renewals of a new ttl from now."""
        if self._living is not None:
            self._living.cancel()
        self._living = self._session.spawn(self._live())

    async def _live(self) -> None:
        """Renew while the client lives; or end when the ttl has run out."""
        runtime = self._session.runtime
        if self._found or self.missing:  # posted again as it was, it has the end that it had
            self._session.spawn(self.reattach())
        while self.is_active:
            if self._keep_alive:
                await runtime.sleep(self._renewed_every_s)
                await self.reattach()
            elif not self._is_over():
                await runtime.sleep(min(self._life_s(), LOOKS_S))

    def _check_active(self) -> None:
        if not self.is_active:
            raise Closed(f"{self.draft} is {self.state}; post it again")
