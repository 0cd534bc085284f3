"""Evidence of death: enough misses over enough time, and a bounded memory of the gone."""

from chord import Contact
from chord.suspicion import Departed, Silence

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
