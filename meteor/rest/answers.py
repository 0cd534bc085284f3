"""Answers as HTTP carries them: documents in the caller's form, problems, and what is unchanged.

Law of this file: every answer says its form, how long it may be kept (never, unless a condition is
asked again), and that a browser must not guess; nothing of the caller is echoed but in documents.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from aiohttp import web

from arms import FoundMessage, ProfileError, Result, write_result
from meteor.rest.conditional import entity_tag, http_date, is_unchanged
from meteor.rest.negotiation import JSON, XML, NotAcceptable, chosen_form
from meteor.rest.problems import JSON_TYPE, XML_TYPE, Problem

COMPLETE_HEADER: Final = "Meteor-Complete"
RETRY_AFTER_S: Final = 1


class Refusal(Exception):
    """A request that is answered by a problem of HTTP's own: `.problem`, with `.headers`."""

    def __init__(
        self,
        status: int,
        kind: str,
        detail: str,
        fields: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.problem = Problem(status, f"urn:meteor:error:{kind}", detail, dict(fields or {}))
        self.headers = dict(headers or {})


def json_answer(
    form: Any, *, status: int = 200, headers: Mapping[str, str] | None = None
) -> web.Response:
    """A document in JSON."""
    return web.Response(
        status=status, body=json_bytes(form), content_type=JSON, headers=dict(headers or {})
    )


def json_bytes(form: Any) -> bytes:
    """JSON in UTF-8; raises `ValueError` for what JSON cannot say."""
    return json.dumps(form, ensure_ascii=False, allow_nan=False).encode()


def completeness(complete: bool) -> dict[str, str]:
    """The header that says whether every interval answered."""
    return {COMPLETE_HEADER: str(complete).lower()}


def result_answer(
    form: str,
    fields: Mapping[str, Any],
    found: tuple[FoundMessage, ...] = (),
    headers: Mapping[str, str] | None = None,
) -> web.Response:
    """What came of an operation, in XML or JSON; `fields` are those of a receipt in JSON."""
    headers = {**completeness(bool(fields["complete"])), **(headers or {})}
    if form != XML:
        return json_answer(fields, headers=headers)
    result = Result(
        id=str(fields.get("id", "")),
        action=str(fields["action"]),
        complete=bool(fields["complete"]),
        matches=len(found) or _count(fields.get("matches", 0)),
        peers=int(fields.get("peers", 0)),
        missing=tuple((int(first), int(last)) for first, last in fields["missing"]),
        found=found,
    )
    return xml_answer(result, headers)


def _count(matches: object) -> int:
    return matches if isinstance(matches, int) else 0


def xml_answer(result: Result, headers: Mapping[str, str]) -> web.Response:
    """A result of the overlay in XML.

    Raises `Refusal` (406) for what XML cannot hold: whoever posted by JSON may have written control
    characters, and names of a context with blanks, of which whoever asks here knows nothing."""
    try:
        body = write_result(result)
    except ProfileError as error:
        raise Refusal(
            406, "NotAcceptable", f"{error}: what was found is there in JSON, Accept: {JSON}"
        ) from None
    return web.Response(body=body, content_type=XML, charset="utf-8", headers=dict(headers))


def conditional(
    request: web.Request,
    answer: web.Response,
    *,
    state: bytes | None = None,
    modified_s: float | None = None,
) -> web.Response:
    """The answer with its tag, or 304 where the caller has it.  `state` is what the tag is made of
    where the body also shows what changes by itself, such as a remaining time to live."""
    body = answer.body if isinstance(answer.body, bytes) else b""
    tag = entity_tag(body if state is None else state, weak=state is not None)
    answer.headers["ETag"] = tag
    answer.headers["Cache-Control"] = "no-cache"
    if modified_s is not None:
        answer.headers["Last-Modified"] = http_date(modified_s)
    headers = request.headers
    if not is_unchanged(
        tag, modified_s, headers.get("If-None-Match"), headers.get("If-Modified-Since")
    ):
        return answer
    kept = ("ETag", "Cache-Control", "Last-Modified", COMPLETE_HEADER, "Link", "Vary")
    return web.Response(
        status=304, headers={name: answer.headers[name] for name in kept if name in answer.headers}
    )


def problem_answer(
    request: web.Request,
    problem: Problem,
    *,
    prefers_xml: bool = False,
    headers: Mapping[str, str] | None = None,
) -> web.Response:
    """The problem in the form that the caller takes; where it takes neither, in the route's."""
    offers = (XML_TYPE, XML, JSON_TYPE, JSON) if prefers_xml else (JSON_TYPE, JSON, XML_TYPE, XML)
    try:
        form = chosen_form(request.headers.get("Accept"), offers)
    except NotAcceptable:
        form = offers[0]
    as_xml = form in (XML, XML_TYPE)
    known = {"Retry-After": str(RETRY_AFTER_S)} if problem.status == 503 else {}
    return web.Response(
        status=problem.status,
        body=problem.as_xml() if as_xml else problem.as_json(),
        content_type=XML_TYPE if as_xml else JSON_TYPE,
        headers={**known, **(headers or {}), "Cache-Control": "no-store"},
    )
