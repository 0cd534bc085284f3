"""Letters: the notices that are due to one client, put together as they travel.

Law of this file: pure.  What one record is to several interests of a client goes as one, so that
its payload is packed and read once; of one interest nothing overtakes what was due before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from chord import Contact
from meteor.wire.messages import Acknowledge, AcknowledgeAll, Arrived, Notice, Told
from meteor.wire.operations import Notices
from meteor.wire.record_id import notice_id, stem_of

NOTICES_BYTES: Final = 256 * 1024
"""Payload that travels in one message of notices, unless one alone is larger."""
INTERESTS_MAX: Final = 512
"""Of one client, told of one record in one message."""


def id_of(interest: str, owner: str, stem: str, version: int, kind: str) -> str:
    """The id of the notice that tells an interest of a record."""
    id = notice_id(interest, owner, stem, version)
    return id if kind == "match" else f"{id}:{kind}"


def id_end(owner: str, stem: str, version: int, kind: str) -> str:
    """What follows in it on the interest."""
    return id_of("", owner, stem, version, kind)


def letters(client: int, due: Iterable[Notice]) -> Iterator[Notices]:
    """The messages in which a client's notices travel."""
    groups: list[list[Notice]] = []
    size = 0
    for group in _by_record(due):
        length = len(group[0].found.blob)
        if groups and size + length > NOTICES_BYTES:
            yield _letter(client, groups)
            groups, size = [], 0
        groups.append(group)
        size += length
    if groups:
        yield _letter(client, groups)


def notices_of(told: Told) -> Iterator[Notice]:
    """What it stands for."""
    found = told.found
    end = id_end(found.owner, stem_of(found.id), found.version, told.kind)
    for owner, interest in told.to:
        yield Notice(interest + end, interest, told.kind, found, told.source, owner)


Received = Mapping[Contact, Mapping[tuple[str, str], Sequence[str]]]
"""Ids of notices by their source and by owner and stem of their interest."""


def acknowledgements(received: Received, most: int) -> Iterator[Acknowledge | AcknowledgeAll]:
    """The messages that acknowledge them, `most` at once of one interest."""
    for source, interests in received.items():
        arrived = [
            Arrived(interest, tuple(ids[at : at + most]), owner)
            for (owner, interest), ids in interests.items()
            for at in range(0, len(ids), most)
        ]
        for at in range(0, len(arrived), INTERESTS_MAX):
            some = arrived[at : at + INTERESTS_MAX]
            if len(some) == 1:
                yield Acknowledge(some[0].interest, some[0].ids, source, some[0].owner)
            else:
                yield AcknowledgeAll(tuple(some), source)


def _by_record(due: Iterable[Notice]) -> list[list[Notice]]:
    """Notices of one record together, unless one would come before an earlier one of its
    interest."""
    due = list(due)
    if _is_one_record(due):
        return [due]
    groups: list[list[Notice]] = []
    places: dict[tuple[int, str], int] = {}
    last: dict[tuple[str, str], int] = {}
    for notice in due:
        record, interest = (id(notice.found), notice.kind), (notice.owner, notice.interest)
        place = places.get(record)
        if place is None or place <= last.get(interest, -1) or len(groups[place]) >= INTERESTS_MAX:
            place = places[record] = len(groups)
            groups.append([])
        groups[place].append(notice)
        last[interest] = place
    return groups


def _is_one_record(due: Sequence[Notice]) -> bool:
    """Whether they are what one record is to as many interests: most often."""
    return 0 < len(due) <= INTERESTS_MAX and (
        len({(id(one.found), one.kind) for one in due}) == 1
        and len({(one.owner, one.interest) for one in due}) == len(due)
    )


def _letter(client: int, groups: list[list[Notice]]) -> Notices:
    if all(len(group) == 1 for group in groups):
        return Notices(client, tuple([notice for (notice,) in groups]))
    told = [
        Told(
            group[0].found, group[0].kind, group[0].source,
            tuple([(notice.owner, notice.interest) for notice in group]),
        )
        for group in groups
    ]  # fmt: skip
    return Notices(client, (), tuple(told))
