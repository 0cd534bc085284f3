"""Recall is complete, or the answer says for which part it is not (DESIGN section 3).

Law of this file: everything that was acknowledged before a question began, and lived until it had
ended, is in the answer once, unless the answer names its place as missing; nothing else is in it,
and all of it with the data and the profile that were stored.
While the network is partitioned an answer speaks for its side: what was acknowledged since the cut
may be known to the other side alone, until both have had time to become one again
(DESIGN section 5); what was acknowledged before it is in every answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from sim.history import History, Question

SLACK_S = 1.0
"""What expires within this of an answer's end may be in it or not."""


def violations(history: History) -> list[str]:
    """Every answer that lacks, repeats or invents something."""
    return [text for question in history.questions for text in _of(question, history)]


def _of(question: Question, history: History) -> Iterator[str]:
    asked = f"value={question.low:g}..{question.high:g} asked at {question.began_s:.3f} s"
    found = Counter(question.found)
    for stem, times in found.items():
        write = history.writes.get(stem)
        if times > 1:
            yield f"{asked}: {stem} is in the answer {times} times"
        if write is None or write.began_s > question.ended_s:
            yield f"{asked}: {stem} was never stored"
        elif not question.selects(write):
            yield f"{asked}: {stem} has the value {write.value:g}"
    for stem in question.garbled:
        yield f"{asked}: {stem} is not as it was stored"
    for write in history.writes.values():
        if (
            write.stem not in found
            and question.selects(write)
            and write.surely_lives(question.began_s, question.ended_s, SLACK_S)
            and not question.excuses(write)
            and not history.may_be_hidden(
                write.began_s, write.acknowledged_s or write.began_s, question
            )
        ):
            yield (
                f"{asked}: {write.stem}, acknowledged at {write.acknowledged_s:.3f} s, is not in "
                f"the answer, which names {len(question.missing)} missing intervals without it"
            )
