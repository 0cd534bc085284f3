"""No acknowledged write is lost as long as one copy of it is up.

Law of this file: judged by the questions asked when everything had healed, which select all.  What
was acknowledged and still lives is found by each of them, unless every copy of it was down at once
(`sim.checkers.copies`): then the answer names its place as missing, and no other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sim.checkers.copies import Loss
from sim.checkers.recall import SLACK_S
from sim.history import History, Question, Write
from squid import subtract


def violations(history: History, losses: Mapping[str, Loss]) -> list[str]:
    """Every write that is gone for no reason, or without a word; `losses` by stem."""
    questions = list(history.last_questions())
    if not questions:
        return ["nothing was asked when the run was over: it cannot be judged"]
    return [text for question in questions for text in _unexplained(question, history)] + [
        text
        for question in questions
        for write in _lacking(question, history)
        if (text := _wrong(question, write, losses))
    ]


def _unexplained(question: Question, history: History) -> Iterator[str]:
    """What the answer calls missing though copies of it were always up."""
    if not question.complete and not question.missing:
        yield "an answer is incomplete when everything has healed, and names nothing as missing"
    for first, last in subtract(question.missing, history.wounds):
        yield f"an answer calls [{first:x}, {last:x}] missing, though a copy of it was always up"


def _lacking(question: Question, history: History) -> Iterator[Write]:
    """What the answer should have had."""
    found = set(question.found)
    for write in history.writes.values():
        if (
            write.stem not in found
            and question.selects(write)
            and write.surely_lives(question.began_s, question.ended_s, SLACK_S)
        ):
            yield write


def _wrong(question: Question, write: Write, losses: Mapping[str, Loss]) -> str:
    """What is wrong about a write that the answer lacks; nothing if that may be."""
    loss = losses.get(write.stem)
    if loss is None:
        return (
            f"{write.stem}, acknowledged at {write.acknowledged_s:.3f} s, is lost, though a copy "
            "of it was always up"
        )
    if question.excuses(write):
        return ""
    return f"an answer lacks without a word what is lost: {loss}"
