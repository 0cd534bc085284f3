"""Going round a ring and looking: what the doctor asks peers, one after the other question.

Law of this file: questions only, each within its time; what comes back are facts, judged in
`meteor.operation.findings`.  A peer that does not answer is a fact too.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

import aiohttp
from prometheus_client.parser import text_string_to_metric_families

from meteor.client.connection import Connecting
from meteor.errors import MeteorError, NotConnected
from meteor.operation.findings import Asked, PeerFacts
from meteor.security.tls import TLS
from meteor.wire.messages import RingPicture

AT_ONCE: Final = 16
"""Peers that are asked at once."""
BODY_BYTES_MAX: Final = 4_000_000

Connect = Callable[[str], Connecting]
"""Makes a connection to one address."""


async def ask_all(
    addresses: Sequence[str], connect: Connect, timeout_s: float
) -> tuple[list[Asked], RingPicture | None]:
    """Ask each address for the ring that it belongs to; the first picture is returned too."""
    answers = await asyncio.gather(*(_ask(one, connect, timeout_s) for one in addresses))
    pictures = [picture for _, picture in answers if picture is not None]
    return [asked for asked, _ in answers], pictures[0] if pictures else None


async def _ask(
    address: str, connect: Connect, timeout_s: float
) -> tuple[Asked, RingPicture | None]:
    try:
        async with connect(address) as client:
            picture = await client.ring(timeout=timeout_s)
    except NotConnected as error:
        return Asked(address, error.tried[0] if error.tried else str(error)), None
    except MeteorError as error:
        return Asked(address, str(error)), None
    members = frozenset(peer.contact.id for peer in picture.peers)
    return Asked(address, members=members), picture


async def visit_all(addresses: Sequence[str], tls: TLS | None, timeout_s: float) -> list[PeerFacts]:
    """What each of these peers says of itself over HTTP."""
    places = asyncio.Semaphore(AT_ONCE)
    context = None if tls is None else tls.client_context()
    timeout = aiohttp.ClientTimeout(total=timeout_s)
    async with aiohttp.ClientSession(timeout=timeout, trust_env=False) as session:

        async def visit(address: str) -> PeerFacts:
            async with places:
                return await _visit(session, address, context)

        return list(await asyncio.gather(*map(visit, addresses)))


async def _visit(
    session: aiohttp.ClientSession, address: str, context: ssl.SSLContext | None
) -> PeerFacts:
    protected = context is not None
    base = f"{'https' if protected else 'http'}://{address}"
    try:
        async with session.get(f"{base}/readyz", ssl=context or True) as answer:
            offset_s = _clock_offset_s(answer.headers.get("Date"), time.time())
            ends = _end_of(answer)
            unready = "" if answer.status == 200 else await _detail(answer)
        async with session.get(f"{base}/metrics", ssl=context or True) as answer:
            body = await answer.content.read(BODY_BYTES_MAX) if answer.status == 200 else b""
    except (aiohttp.ClientError, OSError) as error:
        return PeerFacts(address, protected, error=str(error) or type(error).__name__)
    values = metric_values(body.decode("utf-8", "replace"))
    count = values.get("meteor_journal_commit_seconds_count", 0.0)
    return PeerFacts(
        address,
        protected,
        unready=unready,
        clock_offset_s=offset_s,
        certificate_ends=ends,
        copies_missing=values.get("meteor_copies_missing", 0.0),
        journal_damaged=values.get("meteor_journal_damaged", 0.0) > 0,
        lateness_s=values.get("meteor_loop_lateness_seconds", 0.0),
        commit_mean_s=values.get("meteor_journal_commit_seconds_sum", 0.0) / count if count else 0,
    )


def metric_values(text: str) -> dict[str, float]:
    """The samples of a text for Prometheus by name, labels left aside; none of what is no such
    text."""
    try:
        families = list(text_string_to_metric_families(text))
    except (ValueError, KeyError, IndexError):
        return {}
    return {one.name: one.value for family in families for one in family.samples}


def _clock_offset_s(date: str | None, now_s: float) -> float:
    """How far the other clock is ahead; its header has whole seconds, so half of one is added."""
    try:
        theirs_s = parsedate_to_datetime(date or "").timestamp() + 0.5
    except ValueError:
        return 0.0
    return theirs_s - now_s


def _end_of(answer: aiohttp.ClientResponse) -> datetime | None:
    """When the certificate of the other side ends; None without TLS."""
    connection = answer.connection
    transport = None if connection is None else connection.transport
    certificate: Any = None if transport is None else transport.get_extra_info("peercert")
    if not certificate or "notAfter" not in certificate:
        return None
    return datetime.fromtimestamp(ssl.cert_time_to_seconds(certificate["notAfter"]), UTC)


async def _detail(answer: aiohttp.ClientResponse) -> str:
    """Why a peer is not ready, in its own words."""
    try:
        problem = await answer.json(content_type=None)
    except ValueError:
        return f"status {answer.status}"
    detail = problem.get("detail") if isinstance(problem, dict) else None
    return str(detail)[:200] if detail else f"status {answer.status}"
