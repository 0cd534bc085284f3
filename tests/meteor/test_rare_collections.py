"""Who owns a process has Python's collector of cycles look rarely; what was before comes back."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from meteor import KeywordSpace, LocalOverlay, Word
from meteor.local import MANY
from meteor.rare_collections import THRESHOLDS, RareCollections, _wishes, collect_rarely

SPACE = KeywordSpace("few", [Word("type")])
OWN = (90_000, 90, 80)
"""Thresholds that somebody chose before: so large, as in a whole suite nothing is frozen here."""


@pytest.fixture(autouse=True)
def chosen() -> Iterator[None]:
    """A process with thresholds of its own, and nothing frozen."""
    before = gc.get_threshold()
    gc.unfreeze()  # what tests/conftest.py froze
    gc.set_threshold(*OWN)
    assert not _wishes._count
    yield
    gc.set_threshold(*before)
    gc.freeze()


@pytest.mark.long
async def test_an_overlay_of_many_peers_until_it_is_closed() -> None:
    async with LocalOverlay(MANY, space=SPACE):
        assert gc.get_threshold() == THRESHOLDS
        assert gc.get_freeze_count()
    assert gc.get_threshold() == OWN
    assert not gc.get_freeze_count()


async def test_an_overlay_of_few_leaves_the_collector_alone_until_they_are_many() -> None:
    async with LocalOverlay(MANY - 1, space=SPACE) as overlay:
        assert gc.get_threshold() == OWN
        assert not gc.get_freeze_count()
        await overlay.add_peer()
        assert gc.get_threshold() == THRESHOLDS
    assert gc.get_threshold() == OWN


@pytest.mark.long
async def test_an_overlay_that_fails_to_close_lets_it_work_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    overlay = await LocalOverlay(MANY, space=SPACE).__aenter__()
    close = overlay.peers[0].close

    async def fail(**_: object) -> None:
        raise OSError("no way to close")

    monkeypatch.setattr(overlay.peers[0], "close", fail)
    with pytest.raises(OSError, match="no way"):
        await overlay.close()
    assert gc.get_threshold() == OWN
    await close()
    for peer in overlay.peers[1:]:
        await peer.close(hand_over=False)


@pytest.mark.long
def test_the_last_of_several_puts_back_what_the_first_found() -> None:
    first, second = RareCollections(), RareCollections()
    first.begin()
    second.begin()
    first.end()
    first.end()
    assert gc.get_threshold() == THRESHOLDS
    assert gc.get_freeze_count()
    second.end()
    assert gc.get_threshold() == OWN
    assert not gc.get_freeze_count()


def test_what_somebody_set_meanwhile_stays() -> None:
    collections = RareCollections()
    collections.begin()
    gc.set_threshold(1, 2, 3)
    collections.end()
    assert gc.get_threshold() == (1, 2, 3)


@pytest.mark.long
def test_what_somebody_froze_before_stays_frozen() -> None:
    collect_rarely()
    frozen = gc.get_freeze_count()
    collections = RareCollections()
    collections.begin()
    assert 0 < gc.get_freeze_count() <= frozen  # some may have been let go of meanwhile
    collections.end()
    assert 0 < gc.get_freeze_count() <= frozen
    assert gc.get_threshold() == THRESHOLDS


@pytest.mark.long
def test_what_there_is_then_is_not_looked_at_and_what_comes_later_is() -> None:
    collections = RareCollections()
    before: list[object] = []
    before.append(before)
    collections.begin()
    after: list[object] = []
    after.append(after)
    looked_at = {id(one) for one in gc.get_objects()}
    assert id(before) not in looked_at
    assert id(after) in looked_at
    collections.end()
    assert id(before) in {id(one) for one in gc.get_objects()}
