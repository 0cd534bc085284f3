"""No acknowledged write is lost, except in an arc that is named as missing.

Law of this file: judged by the questions asked when everything had healed, which select all;
whatever was acknowledged and still lives is found by each of them.  With one copy an arc whose
holder is gone is lost for good, and named; with k copies a run that keeps a holder of every arc
alive has no missing arc, and `excuse` is False.
"""

from __future__ import annotations

from sim.checkers.recall import SLACK_S
from sim.history import History


def violations(history: History, *, excuse: bool = True) -> list[str]:
    """Every write that is gone; where `excuse` is False, also in an arc named as missing."""
    questions = list(history.last_questions())
    if not questions:
        return ["nothing was asked when the run was over: it cannot be judged"]
    return [
        f"{write.stem}, acknowledged at {write.acknowledged_s:.3f} s, is lost"
        for question in questions
        for write in history.writes.values()
        if question.selects(write)
        and write.surely_lives(question.began_s, question.ended_s, SLACK_S)
        and write.stem not in question.found
        and not (excuse and question.excuses(write.index))
    ]
