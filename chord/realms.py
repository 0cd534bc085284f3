"""Who belongs to another ring than whoever speaks to it.

Law of this file: pure.  A peer of another realm may stand where one of ours has just fallen, at its
address and under its identifier: what is meant for the fallen one comes to it, and the other way
round.  To who asks it is no member; that takes it out of all pointers (`chord.watch`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chord.errors import Fault, NotJoined

if TYPE_CHECKING:
    from chord.contact import Contact


def refuse_another(said: bytes, realm: bytes, own: Contact) -> None:
    """Raise `Fault` for what comes from a member of another realm; empty where it does not say."""
    if said and said != realm:
        raise Fault(NotJoined.__name__, f"{own} is a member of a ring of another realm")
