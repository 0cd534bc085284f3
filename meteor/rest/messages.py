"""`/messages`: the report's messages in XML, the same in JSON, and taking one back by its id.

Law of this file: it translates.  REST answers once: what goes on telling its sender is refused here
with the way that does, `/events` or a linked client.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, Final, cast

from aiohttp import web

from arms import ACTIONS, FoundMessage, Message, any_action, parse_message
from meteor.client.answer import Answer
from meteor.client.guest import Guest
from meteor.client.interest import Interest
from meteor.client.poster import PostOptions
from meteor.client.verbs import Verbs
from meteor.errors import LimitExceeded, Refused
from meteor.receipt import Receipt
from meteor.rest.answers import Refusal, completeness, json_answer, result_answer, xml_answer
from meteor.rest.body import document_form
from meteor.rest.call import Call, Operation, Resource
from meteor.rest.config import RestConfig
from meteor.rest.json_form import intervals_object, match_object, receipt_object
from meteor.rest.json_message import message_of_json
from meteor.rest.negotiation import JSON, XML
from meteor.rest.outputs import collected, outputs_answer
from meteor.rest.paging import Page
from meteor.rest.parameters import Parameter
from meteor.rest.profiles import EVERYWHERE, timeout_parameter
from meteor.rest.replies import Replies, notification_letter
from meteor.rest.schemas import ref
from meteor.rest.signed import SpeakingVerbs, verbs_of
from meteor.rest.xml_form import found_message, result_of
from meteor.values import Match, Notification
from meteor.values import Result as PeerResult

FOLLOWED: Final = ("notify_data", "notify_interest")
"""Actions that go on telling."""


class Messages:
    """The resource over a peer's verbs."""

    def __init__(self, verbs: Verbs, config: RestConfig, replies: Replies | None = None) -> None:
        self._verbs, self._config = verbs, config
        self._replies = replies or Replies()

    def resources(self) -> list[Resource]:
        """What to serve."""
        timeout = timeout_parameter(self._config)
        post = Operation(
            "POST", self._post, "Post a message of the overlay",
            parameters=(EVERYWHERE, timeout),
            forms=(XML, JSON), takes=(XML, JSON), body_schema=ref("Message"),
            answers={200: {"anyOf": [ref("Receipt"), ref("Answer"), ref("Results")]}}, changes=True,
            in_turn=True,
        )  # fmt: skip
        delete = Operation(
            "DELETE", self._cancel, "Take back what was posted, by the id of its receipt",
            parameters=(timeout,), forms=(JSON, XML), answers={200: ref("Receipt")}, changes=True,
            in_turn=True,
        )  # fmt: skip
        name = Parameter(
            "id", "text", "The id of a receipt or a match.", required=True, form="meteor-id"
        )
        return [Resource("/messages", (post,)), Resource("/messages/{id}", (delete,), (name,))]

    async def _post(self, call: Call) -> web.Response:
        body = await call.body()
        sent = document_form(call.request, body, (XML, JSON))
        call = call.answered_as(sent, (XML, JSON))
        message = parse_message(body) if sent == XML else message_of_json(body)
        self._check_repliable(message)
        follows = message.action in FOLLOWED
        verbs = await verbs_of(self._verbs, call)
        check_owner(message, verbs.owner)
        options = self._options(message, call)
        if follows:
            receipt = await self._follow(verbs, message, options)
            return self._settled(call, message, receipt)
        response = await self._carry_out(call, verbs, message, options)
        if message.reply_to and isinstance(response.body, bytes):
            self._replies.send(message.reply_to, response.body, response.content_type)
        return response

    async def _follow(self, verbs: Verbs, message: Message, options: PostOptions) -> Receipt:
        """Post an interest whose notifications go to the reply address while its ttl runs."""
        self._replies.make_room()

        def tell(notification: Notification) -> None:
            self._replies.send(message.reply_to, *notification_letter(notification))

        told: dict[str, Any] = {
            "handler": tell, "keep_alive": False, "ttl": message.ttl_s, "allow_partial": True,
            "id": options["id"], "context": options["context"], "timeout": options["timeout"],
            "visible_to": options.get("visible_to"),
        }  # fmt: skip
        if message.action == "notify_interest":
            interest: Interest = verbs.notify_interest(message.profile, **told)
        else:
            everywhere = options["everywhere"]
            interest = verbs.notify_data(message.profile, everywhere=everywhere, **told)
        self._replies.follow(interest)  # before it is posted: others are meanwhile
        await interest
        if isinstance(verbs, SpeakingVerbs):
            verbs.go_on()
        return interest.receipt or Receipt("", complete=False)

    def _check_repliable(self, message: Message) -> None:
        """What goes on telling needs an address that the policy names; raises `Refused`, and
        `UnknownAction` before that."""
        check_repliable(message)
        if message.reply_to:
            if not isinstance(self._verbs, Guest):
                raise Refused("this peer contacts no reply address", "reply_addresses")
            self._replies.check(message.reply_to, self._verbs.gatekeeper)

    async def _carry_out(
        self, call: Call, verbs: Verbs, message: Message, options: PostOptions
    ) -> web.Response:
        if message.action not in ACTIONS:
            return await self._perform(call, verbs, message, options)
        if message.action != "retrieve":
            posted = verbs.post(message.profile, message.action, **options)
            return self._settled(call, message, await cast("Awaitable[Receipt]", posted))
        answer = verbs.post(message.profile, "retrieve", **options)
        picked = Page("", call.config.page_length_max)
        async for match in answer:
            picked.add(match)
        if picked.has_more:  # a result has no pages
            raise LimitExceeded("matches", picked.total, len(picked.matches))
        receipt = answer.receipt or Receipt("", complete=False)
        return self._found(call, message, receipt, picked.matches)

    async def _perform(
        self, call: Call, verbs: Verbs, message: Message, options: PostOptions
    ) -> web.Response:
        """Have an application's action run, and wait for all its results."""
        posted = verbs.post(message.profile, message.action, **options)
        answer = cast("Answer[PeerResult]", posted)
        results = await collected(answer)
        receipt = answer.receipt or Receipt("", complete=False)
        return outputs_answer(call.form, message, receipt, results)

    def _options(self, message: Message, call: Call) -> PostOptions:
        options: PostOptions = {
            "content_type": message.content_type or None,
            "context": dict(message.context),
            "data": message.data,
            "everywhere": call.parameters.flag("everywhere"),
            "id": message.id or None,
            "timeout": call.timeout_s,
            "allow_partial": True,
        }
        if message.visible_to is not None:
            options["visible_to"] = message.visible_to
        if message.ttl_s is not None:
            options["ttl"] = message.ttl_s
        return options

    @staticmethod
    def _settled(call: Call, message: Message, receipt: Receipt) -> web.Response:
        if call.form == XML:
            result = result_of(receipt, message)
            return xml_answer(result, completeness(receipt.complete))
        return result_answer(JSON, receipt_object(receipt, message.action))

    @staticmethod
    def _found(call: Call, message: Message, receipt: Receipt, found: list[Match]) -> web.Response:
        headers = completeness(receipt.complete)
        if call.form == XML:
            messages: tuple[FoundMessage, ...] = tuple(found_message(match) for match in found)
            return xml_answer(result_of(receipt, message, messages), headers)
        form: dict[str, Any] = {
            "id": message.id or receipt.id,
            "action": message.action,
            "complete": receipt.complete,
            "missing": intervals_object(receipt.missing),
            "peers": receipt.peers,
            "total": len(found),
            "matches": [match_object(match) for match in found],
        }
        return json_answer(form, headers=headers)

    async def _cancel(self, call: Call) -> web.Response:
        full_id = call.request.match_info["id"]
        verbs = await verbs_of(self._verbs, call)
        receipt = await verbs.cancel(full_id, timeout=call.timeout_s, allow_partial=True)
        if receipt.complete and not receipt.matches:
            raise Refusal(404, "NotFound", f"nothing lives under the id {full_id[:120]}")
        return result_answer(call.form, receipt_object(receipt, "cancel"))


def check_owner(message: Message, owner: str) -> None:
    """Refuse credentials that nobody proved: the post would else be nobody's without a word."""
    if message.owner and message.owner != owner:
        raise Refused(
            f"the credentials name {message.owner[:80]}, and the request is signed by "
            f"{owner or 'nobody'}: sign it (Meteor-Key, Meteor-Signature, Meteor-Issued), or leave "
            "the key out",
            "signature",
        )


def check_repliable(message: Message) -> None:
    """REST answers once; raises `Refused`, and `UnknownAction` before that."""
    action = any_action(message.action)
    if message.reply_to and action.name in FOLLOWED:
        return
    if action.name in FOLLOWED or (action.name == "retrieve" and message.ttl_s):
        raise Refused(
            f"{message.action} with a lifetime goes on telling its sender: take GET /events, "
            "meteor.connect, `meteor watch`, or give notify_data a reply address",
            "linked_client",
        )
