"""What all verbs share: whom they speak for, and the words of their options.

Law of this file: no verb.  The verbs stand in `posting_verbs`, `interest_verbs` and
`keeping_verbs`, by what becomes of the post, and come together in `verbs`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypedDict

from meteor.client.session import Session
from meteor.security.credentials import owner_of

QUEUE_LENGTH: Final = 1000
"""Notifications that may wait to be taken before the stream fails."""

Mode = Literal["within", "overlap"]


class PostOptions(TypedDict, total=False):
    """What may go with every post; see `PostingVerbs.post`."""

    data: bytes | str
    json: object
    content_type: str | None
    ttl: float | None
    id: str | None
    context: Mapping[str, str] | None
    visible_to: Sequence[str] | None
    timeout: float
    allow_partial: bool
    everywhere: bool


class Poster(ABC):
    """Somebody who can post: a client, or a peer itself."""

    @property
    @abstractmethod
    def _session(self) -> Session:
        """What carries the verbs out; raises `Closed` where nothing does."""

    @property
    def owner(self) -> str:
        """Whose is what is posted here: the key of the identity, or of whom it acts for; empty for
        nobody's."""
        return owner_of(self._session.signer)
