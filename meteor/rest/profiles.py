"""`/profiles`: store what has a profile, ask for what a selector selects, delete it.

Law of this file: it translates.  An incomplete answer is status 200 and says so in the header and
in the body (SPEC section 7); a long one comes in pages, ordered by id and owner, each of them a
fresh answer of the overlay: nothing is kept for a caller between them.
"""

from __future__ import annotations

import json
from typing import Any, Final, Literal
from urllib.parse import quote, urlencode

from aiohttp import web

from meteor.client.guest import Guest
from meteor.dashboard.curve_picture import middle_of
from meteor.rest.answers import completeness, conditional, json_answer, result_answer
from meteor.rest.body import FORM_TYPE, announced_type
from meteor.rest.call import Call, Operation, Resource
from meteor.rest.config import RestConfig
from meteor.rest.json_form import intervals_object, match_object, receipt_object
from meteor.rest.negotiation import JSON, XML
from meteor.rest.paging import Page
from meteor.rest.parameters import Parameter
from meteor.rest.schemas import ref
from meteor.rest.signed import verbs_of
from meteor.rest.xml_form import found_message
from meteor.values import Match
from meteor.wire.record_id import split_id
from squid import KeywordSpace

LIFETIME_S_MAX: Final = 30 * 86_400.0


def timeout_parameter(config: RestConfig) -> Parameter:
    """How long the overlay may take."""
    return Parameter(
        "timeout", "number", "Seconds that the overlay may take.", low=0.0, exclusive_low=True,
        high=config.timeout_s_max,
    )  # fmt: skip


EVERYWHERE: Final = Parameter(
    "everywhere", "flag", "Allow a selector that asks every peer of the ring."
)
SELECT: Final = Parameter(
    "select", "text", "A selector: type=temp* temperature=20..30", required=True,
    example="type%3Dtemperature", form="meteor-selector",
)  # fmt: skip


class Profiles:
    """The resource over a peer's verbs."""

    def __init__(self, verbs: Guest, config: RestConfig) -> None:
        self._verbs, self._config = verbs, config

    def resources(self) -> list[Resource]:
        """What to serve."""
        return [Resource("/profiles", (self._get(), self._post(), self._delete()))]

    def _get(self) -> Operation:
        limit = Parameter(
            "limit", "integer", "Matches in one answer.", low=1, high=self._config.page_length_max
        )
        after = Parameter("after", "text", "Only what comes after this: see `next`.")
        places = Parameter(
            "places", "flag", "Say of each match where it lies in the keyword space; JSON alone."
        )
        timeout = timeout_parameter(self._config)
        return Operation(
            "GET", self._retrieve, "What lives and matches a selector",
            parameters=(SELECT, EVERYWHERE, limit, after, places, timeout),
            forms=(JSON, XML), answers={200: ref("Answer")}, in_turn=True,
        )  # fmt: skip

    def _post(self) -> Operation:
        parameters = (
            Parameter(
                "profile", "text", "What it is: type=temperature temperature=21.5", required=True,
                example="type%3Dtemperature%20temperature%3D21.5", form="meteor-profile",
            ),
            Parameter(
                "ttl", "number", "Seconds that it lives.", low=0.0, exclusive_low=True,
                high=LIFETIME_S_MAX,
            ),
            Parameter(
                "id", "text", "A name of your own: posted again it replaces.",
                pattern="^[A-Za-z0-9_-]{1,64}$",
            ),
            Parameter(
                "visible_to", "text", "Keys and groups that may know of it besides its owner, with "
                "commas between; the request must be signed.",
            ),
            timeout_parameter(self._config),
        )  # fmt: skip
        return Operation(
            "POST", self._store, "Store the body under a profile", parameters=parameters,
            forms=(JSON, XML), takes=("*/*",), answers={200: ref("Receipt")}, changes=True,
            in_turn=True,
        )  # fmt: skip

    def _delete(self) -> Operation:
        mode = Parameter(
            "mode", "choice", "What the selector contains, or all that it overlaps.",
            choices=("within", "overlap"),
        )  # fmt: skip
        dry_run = Parameter("dry_run", "flag", "Count only.")
        timeout = timeout_parameter(self._config)
        return Operation(
            "DELETE", self._remove, "Delete the data that a selector contains",
            parameters=(SELECT, mode, dry_run, EVERYWHERE, timeout),
            forms=(JSON, XML), answers={200: ref("Receipt")}, changes=True, in_turn=True,
        )  # fmt: skip

    async def _retrieve(self, call: Call) -> web.Response:
        verbs = await verbs_of(self._verbs, call)
        answer = verbs.retrieve(
            call.parameters.text("select"),
            everywhere=call.parameters.flag("everywhere"),
            timeout=call.timeout_s,
            allow_partial=True,
        )
        limit = call.parameters.integer("limit", call.config.page_length)
        picked = Page(call.parameters.optional("after") or "", limit)
        async for match in answer:
            picked.add(match)
        page, more = picked.matches, picked.has_more
        form: dict[str, Any] = {
            "action": "retrieve",
            "complete": answer.complete,
            "missing": intervals_object(answer.missing),
            "peers": 0 if answer.receipt is None else answer.receipt.peers,
            "total": picked.total,
        }
        headers = completeness(answer.complete)
        if more:
            form["next"] = _address(call, picked.end)
            headers["Link"] = f'<{form["next"]}>; rel="next", <{_address(call)}>; rel="first"'
        state = json.dumps(
            [call.form, call.parameters.flag("places"), form["complete"], form["missing"]]
            + [picked.total, more]
            + [[match.id, match.owner, match.version] for match in page]
        ).encode()
        if call.form == XML:
            messages = tuple(found_message(match) for match in page)
            response = result_answer(XML, form, messages, headers)
        else:
            matches = [match_object(match) for match in page]
            if call.parameters.flag("places"):
                for shown, match in zip(matches, page, strict=True):
                    shown["place"] = _place(match, self._verbs.space)
            response = json_answer(form | {"matches": matches}, headers=headers)
        return conditional(call.request, response, state=state)

    async def _store(self, call: Call) -> web.Response:
        request = call.request
        said = announced_type(request)
        nothing = request.content_type == FORM_TYPE or not said
        verbs = await verbs_of(self._verbs, call)
        receipt = await verbs.store(
            call.parameters.text("profile"),
            await call.body(),
            content_type=None if nothing else said,
            ttl=call.parameters.number("ttl"),
            id=call.parameters.optional("id"),
            visible_to=_names(call.parameters.optional("visible_to")),
            timeout=call.timeout_s,
            allow_partial=True,
        )
        return result_answer(call.form, receipt_object(receipt, "store"))

    async def _remove(self, call: Call) -> web.Response:
        mode: Literal["within", "overlap"] = (
            "overlap" if call.parameters.optional("mode") == "overlap" else "within"
        )
        verbs = await verbs_of(self._verbs, call)
        receipt = await verbs.delete_data(
            call.parameters.text("select"),
            mode=mode,
            dry_run=call.parameters.flag("dry_run"),
            everywhere=call.parameters.flag("everywhere"),
            timeout=call.timeout_s,
            allow_partial=True,
        )
        return result_answer(call.form, receipt_object(receipt, "delete_data"))


def _names(listed: str | None) -> list[str] | None:
    """The names in a list with commas between; nobody's for an empty one."""
    return None if listed is None else [name.strip() for name in listed.split(",") if name.strip()]


def _address(call: Call, after: str = "") -> str:
    """The address of a page of the same question."""
    names = ("select", "everywhere", "limit", "places", "timeout")
    given = [(name, call.parameters.optional(name)) for name in names]
    pairs = [(name, _written(value)) for name, value in given if value is not None]
    if after:
        pairs.append(("after", after))
    return f"/profiles?{urlencode(pairs, quote_via=quote)}"


def _place(match: Match, space: KeywordSpace) -> list[float]:
    """Where a match lies, as its id says it: a fraction of each dimension's axis."""
    box = split_id(match.id, space.curve)[1]
    return [round(fraction, 5) for fraction in middle_of(space, box)]


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
