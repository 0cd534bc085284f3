"""Identities that are the same in every run, and requests signed by hand."""

from __future__ import annotations

from meteor import Client, Identity
from meteor.security.credentials import Signer, signed
from meteor.wire.messages import Amend, Post


def identity(name: str) -> Identity:
    """The identity of a name."""
    return Identity.from_seed(name.encode().ljust(32, b"."))


ALICE, BOB, CAROL = identity("alice"), identity("bob"), identity("carol")


def resign(client: Client, request: Post | Amend, signer: Signer, wall_s: float) -> Post | Amend:
    """The request as this signer would send it by way of the client."""
    return signed(request, signer, client.space.digest, int(wall_s * 1000))
