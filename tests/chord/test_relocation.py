"""When a peer moves: never without need, never to and fro."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chord import Contact, LoadAnswer, RelocationConfig
from chord.relocation import Look, Restraint, look_of

CONFIG = RelocationConfig(load_min=1)
LOADS = st.integers(0, 1000)


def sample(*loads: int) -> list[LoadAnswer]:
    return [
        LoadAnswer(Contact(number, "x"), load, 1, granting=False, onward=None)
        for number, load in enumerate(loads)
    ]


@given(LOADS, LOADS, st.lists(LOADS, max_size=20))
def test_a_move_lightens_the_heaviest_of_all_whom_it_touches(
    own: int, heir: int, loads: list[int]
) -> None:
    look = look_of(own, heir, sample(*loads), CONFIG)
    if look.target is None:
        return
    assert look.is_light
    heavy = look.target.load
    assert max(own + heir, heavy / 2) <= CONFIG.relief * heavy
    assert own <= CONFIG.share * heavy


@given(LOADS, LOADS, st.lists(LOADS, min_size=1, max_size=20))
def test_who_has_moved_does_not_move_again(own: int, heir: int, loads: list[int]) -> None:
    """Among the same peers: neither the one that moved, nor the one whose load it took half of."""
    look = look_of(own, heir, sample(*loads), CONFIG)
    if look.target is None:
        return
    at = look.target.contact.id
    half = look.target.load // 2
    after = [*loads[:at], look.target.load - half, *loads[at + 1 :], own + heir]
    again = look_of(half, look.target.load - half, sample(*after), CONFIG)
    mean = (half + sum(after)) / (1 + len(after))
    if look.target.load >= 2 * CONFIG.light * mean + 2:
        assert not again.is_light


def test_thresholds() -> None:
    even = sample(*[100] * 19)
    assert look_of(10, 100, even, CONFIG) == Look(is_light=True, target=None)
    assert look_of(80, 100, even, CONFIG) == Look(is_light=False, target=None)
    one_heavy = sample(*[100] * 18, 400)
    target = look_of(10, 100, one_heavy, CONFIG).target
    assert target is not None
    assert target.load == 400
    assert look_of(10, 350, one_heavy, CONFIG).target is None  # its heir would be as heavy
    assert look_of(10, 100, one_heavy, RelocationConfig(load_min=401)).target is None
    assert look_of(0, 0, [], CONFIG) == Look(is_light=False, target=None)


def test_an_arc_that_is_being_changed_is_no_target() -> None:
    busy = LoadAnswer(Contact(9, "x"), 400, 1, granting=True, onward=None)
    assert look_of(10, 50, [*sample(100, 100), busy], CONFIG).target is None


@given(st.lists(st.booleans(), max_size=30), st.integers(1, 4))
def test_restraint_wants_some_light_looks_in_a_row(looks: list[bool], wanted: int) -> None:
    restraint = Restraint(wanted)
    for at, is_light in enumerate(looks):
        permitted = restraint.permits(Look(is_light=is_light, target=None))
        assert permitted == (at + 1 >= wanted and all(looks[at + 1 - wanted : at + 1]))


def test_nobody_moves_in_its_first_minute() -> None:
    usual = RelocationConfig()
    assert usual.looks * 0.75 * usual.interval_s >= 60
