"""From a verb's arguments to its conversation.

Law of this file: everything is validated in the caller's turn, before a coroutine exists; what is
returned only waits to be awaited.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, Final, get_args

from arms import ACTIONS
from chord import replace as replace_fields
from meteor.client.answer import Answer
from meteor.client.callbacks import check_handler
from meteor.client.draft import (
    Draft,
    ProfileLike,
    checked_action,
    checked_content,
    draft_found,
    make_draft,
    with_profile,
)
from meteor.client.interest import Interest
from meteor.client.mailbox import Overflow
from meteor.client.poster import QUEUE_LENGTH
from meteor.client.session import Session
from meteor.client.settling import receipt_of, settled
from meteor.client.watch import Watch
from meteor.errors import Refused
from meteor.lifetimes import checked_timeout_s, checked_ttl_s
from meteor.receipt import Receipt
from meteor.security.audience import checked_audience
from meteor.security.credentials import owner_of
from meteor.values import Match, Result
from meteor.wire.record_id import check_stem, split_id
from meteor.wrong_values import checked_truth, checked_whole, said

OVERFLOWS: Final[tuple[str, ...]] = get_args(Overflow)


def draft_post(
    session: Session,
    profile: ProfileLike,
    action: str,
    *,
    data: bytes | str = b"",
    json: object = ...,
    content_type: str | None = None,
    ttl: float | None = None,
    id: str | None = None,
    context: Mapping[str, str] | None = None,
    everywhere: bool = False,
    mode: str = "within",
    dry_run: bool = False,
    with_data: bool = True,
    once: bool = False,
    visible_to: Sequence[str] | None = None,
) -> Draft:
    """The validated post of a verb; raises what is wrong with it."""
    content = checked_content(data, json, content_type, context, session.config)
    return make_draft(
        profile,
        action,
        session.space,
        stem=session.new_stem() if id is None else check_stem(id),
        version=session.next_version(),
        content=replace_fields(
            content,
            with_data=checked_truth("with_data", with_data),
            once=checked_truth("once", once),
            visible_to=_audience(session, visible_to),
        ),
        ttl=ttl,
        everywhere=everywhere,
        mode=mode,
        dry_run=dry_run,
    )


def _audience(session: Session, visible_to: Sequence[str] | None) -> tuple[str, ...]:
    """Who may see a post; nobody else than its owner, who is named then, for an empty list."""
    if visible_to is None:
        return ()
    owner = owner_of(session.signer)
    if not owner:
        raise Refused(
            "visible_to needs an identity, as what nobody owns is everybody's: "
            "connect(..., identity=meteor.Identity.load(path)) (--identity FILE)",
            "identity",
        )
    return checked_audience(visible_to) or (owner,)


def begin(
    session: Session, draft: Draft, timeout_s: float, allow_partial: bool
) -> Awaitable[Receipt] | Answer | Answer[Result] | Interest:
    """What the action of a draft calls for."""
    if draft.action == "retrieve":
        return make_answer(session, draft, timeout_s=timeout_s, allow_partial=allow_partial)
    if draft.action in {"notify_data", "notify_interest"}:
        return make_interest(session, draft, timeout_s=timeout_s, allow_partial=allow_partial)
    if draft.action in {"store", "delete_data", "delete_interest"}:
        return carry_out(session, draft, timeout_s, allow_partial)
    return make_results(session, draft, timeout_s=timeout_s, allow_partial=allow_partial)


def make_answer(
    session: Session,
    draft: Draft,
    *,
    queue: int = QUEUE_LENGTH,
    overflow: Overflow = "error",
    timeout_s: float,
    allow_partial: bool,
) -> Answer:
    """The answer to a retrieve, not asked yet."""
    check_queue(queue, overflow)
    return Answer(
        session,
        draft,
        queue=queue,
        overflow=overflow,
        timeout_s=timeout_s,
        allow_partial=checked_truth("allow_partial", allow_partial),
        item=Match,
    )


def check_application_action(action: str) -> None:
    """Raises `ValueError` for what is no application's action but Meteor's own, `UnknownAction`
    for what is none at all."""
    if checked_action(action) in ACTIONS:
        raise ValueError(f"perform: {action!r} is Meteor's own action; use client.{action}(...)")


def make_results(
    session: Session, draft: Draft, *, timeout_s: float, allow_partial: bool
) -> Answer[Result]:
    """The results of an application's action, not asked for yet."""
    return Answer(
        session,
        draft,
        queue=QUEUE_LENGTH,
        overflow="error",
        timeout_s=timeout_s,
        allow_partial=checked_truth("allow_partial", allow_partial),
        item=Result,
    )


def make_interest(
    session: Session,
    draft: Draft,
    *,
    queue: int = QUEUE_LENGTH,
    overflow: Overflow = "error",
    **options: Any,
) -> Interest:
    """The interest or watch of a draft, not posted yet."""
    check_queue(queue, overflow)
    options = {"handler": None, "keep_alive": True, **options}
    _check_stream(options)
    if draft.action == "retrieve":  # it stands for its time, and is not renewed
        options["keep_alive"] = False
    kind = Watch if draft.action == "notify_interest" else Interest
    return kind(session, draft, queue=queue, overflow=overflow, **options)


def _check_stream(options: Mapping[str, Any]) -> None:
    check_handler(options["handler"])
    for name in ("keep_alive", "allow_partial"):
        checked_truth(name, options[name])


def check_queue(queue: int, overflow: str) -> None:
    """Raises `ValueError` for a queue that holds nothing, or a policy that is none, and `TypeError`
    for what is no length."""
    if not (isinstance(overflow, str) and overflow in OVERFLOWS):
        raise ValueError(f"overflow is one of {', '.join(OVERFLOWS)}, not {said(overflow)}")
    if checked_whole("queue", queue) < 1:
        raise ValueError(f"queue: {said(queue)} is no length; at least one notification must fit")


def attach(
    session: Session, id: str, *, ttl: float | None, timeout: float, **options: Any
) -> Awaitable[Interest]:
    """See `Verbs.attach`."""
    split_id(id, session.space.curve)
    checked_ttl_s("notify_data", ttl)
    check_queue(options["queue"], options["overflow"])
    _check_stream(options)
    return _attach(session, id, ttl, checked_timeout_s(timeout), options)


async def _attach(
    session: Session, id: str, ttl: float | None, timeout_s: float, options: Mapping[str, Any]
) -> Interest:
    """Find it, then post it again as it is, which brings its notices here: all that lives
    first."""
    began_s = session.runtime.now()
    reply = await session.amend("find", id, timeout_s)
    found = next(iter(reply.found), None)
    if found is None:
        settled(receipt_of(reply), f"attach to {id}", allow_partial=False)
        raise Refused(
            f"attach to {id}: nothing lives under this id; it may have run out, post it anew",
            "unknown",
        )
    draft = draft_found(found, session.space, ttl, keep_alive=options["keep_alive"])
    left_s = max(timeout_s - (session.runtime.now() - began_s), 0.0)
    return await make_interest(session, draft, timeout_s=left_s, found=True, **options)


def carry_out(
    session: Session, draft: Draft, timeout_s: float, allow_partial: bool
) -> Awaitable[Receipt]:
    """Post a draft whose answer is a receipt."""
    return _carry_out(session, draft, timeout_s, checked_truth("allow_partial", allow_partial))


async def _carry_out(
    session: Session, draft: Draft, timeout_s: float, allow_partial: bool
) -> Receipt:
    reply = await session.post(draft, timeout_s)
    return settled(receipt_of(reply), draft, allow_partial=allow_partial)


def renew(
    session: Session, id: str, ttl: float | None, timeout: float, allow_partial: bool
) -> Awaitable[Receipt]:
    """See `Verbs.renew`."""
    stem, _ = split_id(id, session.space.curve)
    timeout_s = checked_timeout_s(timeout)
    checked_truth("allow_partial", allow_partial)
    stream = session.streams.get(session.stream_name(stem))
    if stream is None:
        ttl_s = checked_ttl_s("store", ttl)
        stamp = session.next_version()
        return _amend(session, "renew", id, timeout_s, allow_partial, version=stamp, ttl_s=ttl_s)
    ttl_s = stream.ttl_s if ttl is None else checked_ttl_s(stream.draft.action, ttl)
    return _settled(stream.renew(ttl_s, timeout_s), f"renew of {id}", allow_partial)


def cancel(session: Session, id: str, timeout: float, allow_partial: bool) -> Awaitable[Receipt]:
    """See `Verbs.cancel`."""
    stem, _ = split_id(id, session.space.curve)
    timeout_s = checked_timeout_s(timeout)
    checked_truth("allow_partial", allow_partial)
    return _cancel(session, id, stem, timeout_s, allow_partial)


def replace(
    session: Session,
    id: str,
    profile: ProfileLike,
    *,
    data: bytes | str,
    json: object,
    content_type: str | None,
    ttl: float | None,
    context: Mapping[str, str] | None,
    visible_to: Sequence[str] | None,
    timeout: float,
    allow_partial: bool,
) -> Awaitable[Receipt]:
    """See `Verbs.replace`."""
    stem, _ = split_id(id, session.space.curve)
    timeout_s = checked_timeout_s(timeout)
    checked_truth("allow_partial", allow_partial)
    stream = session.streams.get(session.stream_name(stem))
    if stream is not None:
        draft = with_profile(stream.draft, profile, session.space, session.next_version())
        return _settled(stream.replace(draft, timeout_s), draft, allow_partial)
    draft = draft_post(
        session,
        profile,
        "store",
        data=data,
        json=json,
        content_type=content_type,
        ttl=ttl,
        id=stem,
        context=context,
        visible_to=visible_to,
    )
    return _amend(
        session,
        "replace",
        id,
        timeout_s,
        allow_partial,
        version=draft.version,
        ttl_s=draft.ttl_s,
        document=draft.document,
    )


async def _amend(
    session: Session,
    verb: str,
    id: str,
    timeout_s: float,
    allow_partial: bool,
    **fields: Any,
) -> Receipt:
    """Renew, cancel or replace what is no stream of this client."""
    reply = await session.amend(verb, id, timeout_s, **fields)
    return settled(receipt_of(reply), f"{verb} of {id}", allow_partial=allow_partial)


async def _cancel(
    session: Session, id: str, stem: str, timeout_s: float, allow_partial: bool
) -> Receipt:
    """Cancel; an interest of this client ends here first."""
    stream = session.streams.get(session.stream_name(stem))
    if stream is not None:
        reply = await stream.cancel(timeout_s)
        if reply is not None:
            return settled(receipt_of(reply), f"cancel of {id}", allow_partial=allow_partial)
    return await _amend(session, "cancel", id, timeout_s, allow_partial)


async def _settled(
    carried_out: Awaitable[Receipt], operation: object, allow_partial: bool
) -> Receipt:
    """The receipt that comes, or `Incomplete`."""
    return settled(await carried_out, operation, allow_partial=allow_partial)
