"""What the runs of an application's action gave, in one document.

Law of this file: it collects and translates.  REST answers once, when the last peer has: who wants
each result as it is made takes a linked client.  What is held is bounded, and what does not fit is
refused by name, never left out.
"""

from __future__ import annotations

from collections.abc import AsyncIterable
from typing import Any

from aiohttp import web

from arms import ActionOutput, Message
from arms import Result as ResultDocument
from meteor.errors import LimitExceeded
from meteor.receipt import Receipt
from meteor.rest.answers import completeness, json_answer, xml_answer
from meteor.rest.json_form import intervals_object, payload_object
from meteor.rest.negotiation import XML
from meteor.rest.paging import PAGE_BYTES_MAX
from meteor.values import Result


async def collected(answer: AsyncIterable[Result]) -> list[Result]:
    """All results; raises `LimitExceeded` for more than one document holds."""
    results: list[Result] = []
    size = 0
    async for result in answer:
        results.append(result)
        size += len(result.data)
        if size > PAGE_BYTES_MAX:
            raise LimitExceeded("results bytes", size, PAGE_BYTES_MAX)
    return results


def outputs_answer(
    form: str, message: Message, receipt: Receipt, results: list[Result]
) -> web.Response:
    """The results of one message, with what is missing and why."""
    headers = completeness(receipt.complete)
    name = message.id or receipt.id
    if form != XML:
        return json_answer(_object(name, message.action, receipt, results), headers=headers)
    document = ResultDocument(
        id=name,
        action=message.action,
        complete=receipt.complete,
        matches=receipt.matches,
        peers=receipt.peers,
        missing=receipt.missing,
        outputs=tuple(
            ActionOutput(one.peer, one.matches, one.data, one.intervals) for one in results
        ),
        troubles=receipt.troubles,
    )
    return xml_answer(document, headers)


def _object(name: str, action: str, receipt: Receipt, results: list[Result]) -> dict[str, Any]:
    return {
        "id": name,
        "action": action,
        "complete": receipt.complete,
        "missing": intervals_object(receipt.missing),
        "matches": receipt.matches,
        "peers": receipt.peers,
        "results": [
            {
                "peer": one.peer,
                "matches": one.matches,
                "intervals": intervals_object(one.intervals),
                **payload_object(one.data),
            }
            for one in results
        ],
        "troubles": list(receipt.troubles),
    }
