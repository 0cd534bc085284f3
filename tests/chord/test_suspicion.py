"""Evidence of death: enough misses over enough time, and a bounded memory of the gone."""

from chord import Contact
from chord.suspicion import SILENT_MAX, Departed, Silence

PEER, OTHER = Contact(1, "one:1"), Contact(2, "two:1")


def test_three_misses_within_a_moment_are_not_enough() -> None:
    silence = Silence(misses_max=3, silence_s=1.5)
    assert not any(silence.missed(PEER, now, now) for now in (0.0, 0.1, 0.2, 1.4))
    assert silence.missed(PEER, 1.4, 1.5)


def test_a_long_silence_with_two_misses_is_not_enough() -> None:
    silence = Silence(misses_max=3, silence_s=1.5)
    assert not silence.missed(PEER, 0.0, 1.0)
    assert not silence.missed(PEER, 9.0, 10.0)
    assert silence.missed(PEER, 10.0, 11.0)


def test_any_answer_begins_the_count_anew_for_that_contact_alone() -> None:
    silence = Silence(misses_max=2, silence_s=0.0)
    silence.missed(PEER, 0.0, 0.0)
    silence.missed(OTHER, 0.0, 0.0)
    silence.heard(PEER)
    assert not silence.missed(PEER, 1.0, 1.0)
    assert silence.missed(OTHER, 1.0, 1.0)


def test_misses_before_a_sign_of_life_do_not_count() -> None:
    """No answer, but a frame: a living peer that is held for a moment now and then, by a collector
    say, and speaks in between, is not dead at the third time."""
    silence = Silence(misses_max=3, silence_s=1.5)
    heard_s = float("-inf")
    for asked_s in (0.0, 20.0, 40.0, 60.0, 80.0):
        assert not silence.missed(PEER, asked_s, asked_s + 0.5, heard_s)
        heard_s = asked_s + 10.0
    assert not silence.missed(PEER, 81.0, 81.5, 75.0)
    assert silence.missed(PEER, 82.0, 82.5, 75.0)


def test_the_gone_are_remembered_up_to_a_number_and_a_time() -> None:
    departed = Departed(limit=2, memory_s=10.0)
    for at, contact in enumerate((PEER, OTHER, Contact(3, "three:1"))):
        departed.add(contact, float(at))
    assert PEER not in departed
    assert len(departed) == 2
    departed.expire(11.5)
    assert [contact.id for contact in departed] == [3]
    departed.discard(Contact(3, "three:1"))
    assert not len(departed)


def test_misses_that_lie_far_apart_are_not_in_a_row() -> None:
    """The link was closed in between, as nobody used it, so that nothing is known of what came."""
    silence = Silence(misses_max=3, silence_s=1.5)
    assert not silence.missed(PEER, 0.0, 0.5)
    assert not silence.missed(PEER, 1.0, 1.5)
    assert not silence.missed(PEER, 4_000.0, 4_000.5)
    assert not silence.missed(PEER, 4_001.0, 4_001.5)
    assert silence.missed(PEER, 4_002.0, 4_002.5)


def test_those_of_a_finger_are() -> None:
    silence = Silence(misses_max=3, silence_s=1.5)
    assert [silence.missed(PEER, at, at + 0.5) for at in (0.0, 75.0, 150.0)] == [False, False, True]


def test_who_is_never_asked_again_is_forgotten_some_day() -> None:
    silence = Silence(misses_max=3, silence_s=1.5)
    for number in range(5 * SILENT_MAX):
        silence.missed(Contact(number, f"peer-{number}:1"), number, number + 0.5)
    assert len(silence.misses) == SILENT_MAX
    last = Contact(5 * SILENT_MAX - 1, f"peer-{5 * SILENT_MAX - 1}:1")
    assert last in silence.misses
