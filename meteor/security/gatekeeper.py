"""The gatekeeper of an entry peer: who asks, whether the policy allows it, and how much is left.

Law of this file: decisions, synchronous; it takes `now` for quotas and the peer's wall clock for
issue times.  Every refusal is counted by the name of its rule (SPEC section 5, `Refused.rule`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Final

from arms import DATA, INTEREST, Kind, OverBudget, Profile, Record, Weighing
from chord import dataclass
from meteor.admission import KEPT_KINDS, SUBJECTS, check_ttl_ms
from meteor.errors import Refused
from meteor.security.audience import checked_audience, may_see
from meteor.security.credentials import Request as Signable
from meteor.security.credentials import statement_of
from meteor.security.deciding import Ready, made_ready
from meteor.security.delegated import is_within
from meteor.security.policy import (
    COST,
    FORGET,
    OPEN,
    REPLY_ADDRESSES,
    Policy,
    Quota,
    Request,
)
from meteor.security.quotas import Counted, Holding, Ledger
from meteor.security.verifying import DELEGATION, NOBODY, Actor, Verifier
from meteor.wire.document import pack_profile, unpack_profile
from meteor.wire.messages import Amend, Document, Forget, Post, PostReply
from meteor.wire.operations import Carried
from squid import KeywordSpace


@dataclass(frozen=True, slots=True)
class Admitted:
    """What was let in."""

    actor: Actor
    document: Document | None = None
    """What is posted; None for what names an id."""
    size: int = 0
    issued_ms: int = 0
    """When it was signed; 0 where nobody did."""

    limit: bytes = b""
    """The packed selector within which the actor's delegation holds; empty for everything."""


class Gatekeeper:
    """What one peer lets in."""

    def __init__(
        self, space: KeywordSpace, wall_clock: Callable[[], float], policy: Policy = OPEN
    ) -> None:
        self._space = space
        self.verifier = Verifier(wall_clock)
        self.ledger = Ledger()
        self.denials: Counter[str] = Counter()
        """Refusals by the name of their rule, since the peer started; also what the peers refused
        that keep the record, as `owner`."""
        self._ready = made_ready(policy, space)

    @property
    def policy(self) -> Policy:
        """The policy that holds, in the terms of the space."""
        return self._ready.policy

    @property
    def is_open(self) -> bool:
        """Whether whoever does not sign may do everything, without count."""
        policy = self.policy
        return policy.allows_by_default and not policy.rules and not policy.quotas

    def install(self, policy: Policy) -> None:
        """Let another policy hold from now on; raises `TypeMismatch` for one that does not fit the
        space, and the old one stays."""
        self.take(self.made_ready(policy))

    def made_ready(self, policy: Policy) -> Ready:
        """What `take` takes; raises as `install`.  For any thread: it changes nothing here."""
        return made_ready(policy, self._space)

    def take(self, ready: Ready) -> Ready:
        """Let a policy that is ready hold from now on; returns the one before."""
        former, self._ready = self._ready, ready
        return former

    # -- who asks for what

    def admit_post(self, post: Post, document: Document, now: float) -> Admitted:
        """Let a post in; raises `Refused`, and `ProfileError` for what is malformed."""
        if self.is_open and post.credentials is None and not document.visible_to:
            return Admitted(NOBODY, document, len(post.document))
        with self.counted():
            actor = self._actor(post, document.action)
            self._check_audience(document, actor)
            limit = self._limit(actor)
            self._check_document(document, actor, limit)
            self._spend(actor, now)
        return Admitted(actor, document, len(post.document), _issued_ms(post), limit)

    def admit_amend(self, amend: Amend, document: Document | None, now: float) -> Admitted:
        """Let a renewal, a cancel, a find or a replace in; raises as `admit_post`."""
        with self.counted():
            actor = self._actor(amend, amend.verb)
            _check_may_ask(document, actor)
            limit = self._limit(actor)
            if document is None:
                self._check_policy(Request(actor.key, amend.verb))
            else:
                self._check_audience(document, actor)
                self._check_document(document, actor, limit)
            self._spend(actor, now)
        return Admitted(actor, document, len(amend.document), _issued_ms(amend), limit)

    def admit_reply(self, address: str) -> None:
        """Let a result be sent to a reply address; raises `Refused`."""
        with self.counted():
            if not self.policy.may_contact(address):
                raise Refused(
                    f"the reply address {address[:80]} is none that this peer's policy names; "
                    "leave it out and read the result here",
                    REPLY_ADDRESSES,
                )

    def admit_forget(self, forget: Forget) -> None:
        """Let somebody declare lost intervals gone; raises `Refused`."""
        with self.counted():
            actor = self._actor(forget, FORGET)
            self._check_policy(Request(actor.key, FORGET))

    def _actor(self, request: Signable, action: str) -> Actor:
        credentials = request.credentials
        if credentials is None:
            return NOBODY
        statement = statement_of(request, credentials, self._space.digest)
        return self.verifier.actor(credentials, statement, action)

    @staticmethod
    def _check_audience(document: Document, actor: Actor) -> None:
        if not document.visible_to:
            return
        checked_audience(document.visible_to)
        if not actor.owner:
            raise Refused(
                "visible_to needs an identity: what nobody owns is everybody's; "
                "connect with identity=",
                "identity",
            )

    def _limit(self, actor: Actor) -> bytes:
        """The selector of the actor's delegation, packed; empty for none."""
        delegation = actor.delegation
        if delegation is None or not delegation.selector:
            return b""
        return pack_profile(Profile.parse(delegation.selector, self._space))

    def _check_document(self, document: Document, actor: Actor, limit: bytes) -> None:
        """What is posted is held against the delegation and against the policy, for so many steps
        in all."""
        profile = unpack_profile(document.profile).typed(self._space)
        is_subject = document.action in SUBJECTS
        weighing = self._ready.decider.weighing(profile, is_subject=is_subject)
        _check_delegated(limit, profile, weighing)
        context = dict(document.context)
        request = Request(actor.key, document.action, profile, is_subject, context)
        self._check_policy(request, weighing)

    def _check_policy(self, request: Request, weighing: Weighing | None = None) -> None:
        verdict = self._ready.decider.decide(request, weighing)
        if verdict.allows:
            return
        who = request.key or "whoever does not sign"
        if verdict.rule == COST:
            reason = (
                "it takes too many steps to tell what this peer's policy says of it, and doubt "
                "denies; ask with fewer alternatives, or in parts"
            )
        else:
            reason = f"rule {verdict.rule!r} of this peer's policy does not allow it"
        raise Refused(f"{request.action} by {who}: {reason}", verdict.rule)

    def _spend(self, actor: Actor, now: float) -> None:
        quota = self.policy.quota_of(actor.key)
        if quota is not None:
            self.ledger.spend(actor.key, quota, now, is_named=self._is_named(actor.key))

    def _is_named(self, key: str) -> bool:
        """Whether the policy speaks of this one by himself; whoever does not sign is one."""
        return not key or key in self._ready.named

    # -- how much is left

    def charged(
        self,
        admitted: Admitted,
        full_id: str,
        version: int,
        ttl_s: float,
        now: float,
        instead: str = "",
    ) -> _Charged:
        """Count what is kept while it is posted, `instead` of a record of another id; what is
        refused further on is not counted.  Whoever posts gives the reply: before that, and where it
        says that not all of this happened, what was there counts on.

        Raises `Refused` beyond the owner's quota."""
        owner = admitted.actor.owner
        charged = self._charged_alone(admitted, full_id, version, ttl_s, now, instead)
        if instead in {"", full_id} or not self.policy.quotas:
            return charged
        return self._leaving(charged, owner, instead)

    @contextmanager
    def _leaving(
        self, charged: _Charged, owner: str, full_id: str
    ) -> Iterator[Callable[[PostReply], None]]:
        """What a replace takes away elsewhere counts no more, of whatever kind it is, and for
        however short a time what is in its place."""
        known = {whose: self.ledger.all_of(whose, full_id) for whose in (owner, "")}
        answered: list[PostReply] = []

        def note(reply: PostReply) -> None:
            note_charged(reply)
            answered.append(reply)

        with charged as note_charged:
            yield note
        for reply in filter(_took_effect, answered):
            whose = "" if reply.of_nobody else owner
            for left in known[whose]:
                self.ledger.release_this(whose, full_id, left)

    def _charged_alone(
        self,
        admitted: Admitted,
        full_id: str,
        version: int,
        ttl_s: float,
        now: float,
        instead: str,
    ) -> _Charged:
        document, owner = admitted.document, admitted.actor.owner
        kind = None if document is None else KEPT_KINDS.get(document.action)
        quota = self.policy.quota_of(owner)
        if quota is None or document is None or kind is None or not check_ttl_ms(ttl_s):
            return _UNCHARGED
        if not quota.counts(_kind(kind)):
            is_data = kind == DATA
            if not quota.counts(INTEREST if is_data else DATA):
                return _UNCHARGED
            return self._replacing(owner, full_id, version, is_data=not is_data)
        holding = Holding(_kind(kind), admitted.size, now + ttl_s, document.profile, version)
        return self._charged(owner, full_id, holding, quota, now, instead)

    @contextmanager
    def _charged(
        self, owner: str, full_id: str, holding: Holding, quota: Quota, now: float, instead: str
    ) -> Iterator[Callable[[PostReply], None]]:
        answered: list[PostReply] = []
        with self.counted():
            charge = self.ledger.charge(
                owner, full_id, holding, quota, now, instead, is_named=self._is_named(owner)
            )
        try:
            yield answered.append
        except Refused:
            self.ledger.take_back(charge)
            raise
        finally:
            self.ledger.settle(charge, has_replaced=any(map(_took_effect, answered)))

    @contextmanager
    def _replacing(
        self, owner: str, full_id: str, version: int, *, is_data: bool
    ) -> Iterator[Callable[[PostReply], None]]:
        """What is not counted itself takes the place of what may be."""
        answered: list[PostReply] = []
        yield answered.append
        if any(map(_took_effect, answered)):
            self.ledger.replaced(owner, full_id, version, is_data=is_data)

    def amended(self, admitted: Admitted, amend: Amend, reply: PostReply, now: float) -> None:
        """A renewal or a cancel was answered, where the record lies now; what had no matches
        changed nothing, if all have answered: what came too late to be counted may have been."""
        if amend.verb == "cancel" and reply.matches and _took_effect(reply):
            self.ledger.release("" if reply.of_nobody else admitted.actor.owner, reply.id)
        elif amend.verb == "renew" and (reply.matches or not reply.complete):
            for owner in {admitted.actor.owner, ""}:  # what nobody owns everybody may renew
                self.ledger.renew(owner, reply.id, now + amend.ttl_s)

    def counted_of(self, admitted: Admitted) -> Counted:
        """What counts for an owner as a delete begins: it takes nothing that comes later."""
        return self.ledger.settled_of(admitted.actor.owner)

    def deleted(self, admitted: Admitted, reply: PostReply, counted: Counted) -> Iterator[None]:
        """A delete by selector was answered: what it or an earlier one took counts no more.  One
        step a record."""
        document = admitted.document
        assert document is not None, "a delete has a selector"
        if not _took_effect(reply):
            return
        selector = unpack_profile(document.profile).typed(self._space)
        is_data = document.action == "delete_data"
        for full_id, holding in counted:
            if (holding.kind == DATA) == is_data:
                profile = unpack_profile(holding.profile).typed(self._space)
                as_selector = holding.kind == INTEREST
                is_taken = selector.contains_profile(profile, as_selector=as_selector)
                if is_taken and is_within(admitted.limit, profile, holding.kind):
                    self.ledger.release_this(admitted.actor.owner, full_id, holding)
            yield

    # -- who sees whom

    def sees(self, asker: str, other: Record | Carried) -> bool:
        """Whether an owner, or whoever does not sign, may know that a record is there."""
        visible_to = other.visible_to
        return not visible_to or may_see(asker, other.owner, visible_to, self.policy.groups)

    def counted(self) -> AbstractContextManager[None]:
        """Count what is refused within."""
        return _Refusals(self.denials)


_Charged = AbstractContextManager[Callable[[PostReply], None]]

_UNCHARGED: Final = nullcontext[Callable[[PostReply], None]](lambda _: None)
"""Where nobody has a quota."""


class _Refusals:
    """Counts what is refused within; no generator, as every post passes here."""

    __slots__ = ("_denials",)

    def __init__(self, denials: Counter[str]) -> None:
        self._denials = denials

    def __enter__(self) -> None:
        """Nothing is refused yet."""

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, Refused):
            self._denials[error.rule] += 1


def _check_delegated(limit: bytes, profile: Profile, weighing: Weighing) -> None:
    """Refuse what does not lie within the packed selector of a delegation, or takes too many steps
    to tell; empty for none."""
    if not limit:
        return
    selector = unpack_profile(limit)
    try:
        is_within = weighing.is_contained_in(selector)
    except OverBudget:
        raise Refused(
            "it takes too many steps to tell whether this lies within what the delegation is for "
            f"({selector}), and doubt denies; ask with fewer alternatives, or in parts",
            COST,
        ) from None
    if not is_within:
        raise Refused(
            f"the delegation is for what lies within ({selector}), and "
            f"({str(profile)[:200]}) does not",
            DELEGATION,
        )


def _check_may_ask(document: Document | None, actor: Actor) -> None:
    """Refuse a delegate who would learn by a replace what his delegation does not let him ask: an
    interest in the place of anything is told all that its owner may see."""
    delegation = actor.delegation
    if document is None or delegation is None or KEPT_KINDS.get(document.action) == DATA:
        return
    if document.action not in delegation.actions:
        actions = ", ".join(delegation.actions)
        raise Refused(
            f"the delegation is for {actions}, not for a replace by {document.action}", DELEGATION
        )


def _took_effect(reply: PostReply) -> bool:
    """Whether all of what was asked happened, and now: only then has what was there gone."""
    return reply.complete and not reply.repeated


def _issued_ms(request: Post | Amend) -> int:
    return 0 if request.credentials is None else request.credentials.issued_ms


def _kind(kind: str) -> Kind:
    assert kind in ("data", "interest", "watch")
    return kind  # type: ignore[return-value]  # the words of `arms.Kind`
