"""How a peer introduces itself to another: who is there, and of which keyword space.

Law of this file: one conversation, the same for whoever joins, resumes or asks for a space.
"""

from __future__ import annotations

from chord import CallError, Contact, RemoteFault, RequestTimeout, Runtime
from meteor.errors import MeteorError, from_fault
from meteor.wire.messages import Greet, Greeting
from squid import KeywordSpace

GREET_S = 3.0
"""How long a peer may take to answer."""


async def greet(runtime: Runtime, contact: Contact, space: KeywordSpace | None) -> Greeting:
    """Introduce oneself to a peer; raises `CallError`, and `SpaceMismatch` where spaces differ."""
    request = Greet() if space is None else Greet(space.digest, space.to_toml())
    try:
        greeting = await runtime.call(contact, request, GREET_S)
    except RemoteFault as fault:
        raise from_fault(fault) from fault
    if not isinstance(greeting, Greeting):
        raise MeteorError(f"{contact} answered a greeting with {type(greeting).__name__}")
    return greeting


def why_silent(error: CallError, contact: Contact) -> str:
    """Why a greeting brought no answer, for people: without what was asked of whom, which they
    know."""
    why = str(error).removeprefix(f"{Greet.__name__} to {contact.address}: ")
    if isinstance(error, RequestTimeout):
        return f"{why}: it is cut off, or overloaded, or no peer of Meteor's"
    return why


def said_of(contact: Contact, error: Exception) -> str:
    """What became of asking a contact, for a list of those that were tried: its address once, then
    why."""
    why = why_silent(error, contact) if isinstance(error, CallError) else str(error)
    return f"{contact.address}: {why.removeprefix(contact.address).lstrip(': ')}"
