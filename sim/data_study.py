"""What the Chord papers' failures and churn do to data: real peers, and profiles with k copies.

Law of this file: it stores, breaks and asks; what may be lost is the account of
`sim.checkers.copies` alone.  *Failures*: a share of a ring at rest crashes at one moment.  *Churn*:
peers join and crash (they do not say good-bye) at one Poisson rate each.  When the ring is ideal
again everything is asked for.  What is not found must have had every copy down at once and be
named as missing; anything else is a violation.  Independent copies of which each dies with
probability p are all gone with p^k.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from chord import ChordConfig, Contact, MeteorError
from meteor import Client, KeywordSpace, Number, profile
from sim.checkers import durability
from sim.checkers.convergence import IDEAL_WITHIN_S
from sim.checkers.copies import Loss
from sim.copy_watch import CopyWatch
from sim.history import History, Question, Write
from sim.overlay import SETTLE_S, Overlay
from sim.ring_look import ring_flaws
from sim.simulated_peer import SimPeer

SPACE: Final = KeywordSpace("study", [Number("x", 0, 1), Number("y", 0, 1)])
"""Profiles lie evenly on its curve, as peers with hashed ids do."""
TTL_S: Final = 86_400.0
AT_ONCE: Final = 32
"""Stores in flight."""
TIMEOUT_S: Final = 10.0
TRIES: Final = 5
"""How often everything is asked for until an answer comes."""
LOOK_S: Final = 0.5
STEADY: Final = 3
"""Peers that nobody crashes under churn: joiners know them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataPlan:
    """The size of the study."""

    peers: int = 1000
    successors: int = 20
    profiles: int = 2000
    copies: tuple[int, ...] = (3, 5)
    churn_s: float = 60.0
    """How long peers come and go before everything is asked for."""
    seed: int = 1

    def __post_init__(self) -> None:
        """Raises `ValueError` for more copies than peers with such lists keep: each has to know
        who comes next where half of its successors are down."""
        most = self.successors // 2
        if any(count > most for count in self.copies):
            raise ValueError(
                f"{max(self.copies)} copies need lists of {2 * max(self.copies)} successors, not "
                f"of {self.successors}"
            )

    @property
    def config(self) -> ChordConfig:
        """The preset of all figures, with the papers' successor lists."""
        return replace(ChordConfig.lan(), successor_count=self.successors)


@dataclass(slots=True)
class DataRow:
    """One row: what was varied, how many copies there were, and what became of the profiles."""

    varied: float
    copies: int
    profiles: int
    """Acknowledged ones."""
    gone_share: float
    """p: the share of peers that crashed, under churn within one repair."""
    losses: list[Loss] = field(default_factory=list)
    """The profiles that were not found, each with the copies that died."""
    violations: list[str] = field(default_factory=list)
    """What was not true."""

    @property
    def lost_share(self) -> float:
        """Lost ones of all."""
        return len(self.losses) / self.profiles if self.profiles else 0.0

    @property
    def expected_share(self) -> float:
        """p^k."""
        return float(self.gone_share**self.copies)


def under_failures(
    plan: DataPlan, fractions: Sequence[float], progress: Callable[[str], None] = lambda _: None
) -> list[DataRow]:
    """One row a fraction and number of copies."""
    rows = []
    for copies in plan.copies:
        for fraction in fractions:
            stage = _Stage(plan, copies)
            stage.fill()
            stage.crash_at_once(fraction)
            rows.append(stage.judged(fraction, fraction))
            progress(_line(f"{fraction:g} crashed", rows[-1]))
    return rows


def under_churn(
    plan: DataPlan, rates: Sequence[float], progress: Callable[[str], None] = lambda _: None
) -> list[DataRow]:
    """One row a rate and number of copies."""
    rows = []
    for copies in plan.copies:
        for rate in rates:
            stage = _Stage(plan, copies)
            stage.fill()
            stage.come_and_go(rate)
            within_repair = min(1.0, rate * plan.config.silence_s / plan.peers)
            rows.append(stage.judged(rate, within_repair))
            progress(_line(f"R = {rate:g} a second", rows[-1]))
    return rows


def _line(varied: str, row: DataRow) -> str:
    line = f"{varied}, k = {row.copies}: {len(row.losses)} of {row.profiles} profiles lost"
    return f"{line}, {len(row.violations)} violations" if row.violations else line


class _Stage:
    """One ring with its profiles."""

    def __init__(self, plan: DataPlan, copies: int) -> None:
        self._plan, self._copies = plan, copies
        self._overlay = Overlay(
            plan.peers, space=SPACE, seed=plan.seed, config=plan.config, copies=copies
        )
        self._history = History()
        self._watch = CopyWatch(self._overlay, self._history)
        self._stream = self._overlay.kernel.random("study")
        self._failed: list[str] = []
        """What was asked in vain."""

    # ---- what happens ------------------------------------------------------------------------

    def fill(self) -> None:
        """Store the profiles, some at a time."""
        overlay, places = self._overlay, list(range(self._plan.profiles))
        clients = [overlay.client(peer=number) for number in range(min(8, self._plan.peers))]
        tasks = [
            overlay.kernel.spawn(self._store(clients[lane % len(clients)], places[lane::AT_ONCE]))
            for lane in range(AT_ONCE)
        ]
        for task in tasks:
            overlay.kernel.run_until(task)
        for client in clients:
            overlay.run(client.close())

    async def _store(self, client: Client, numbers: Sequence[int]) -> None:
        now, stream = self._overlay.kernel.now, self._stream
        for number in numbers:
            x, y = stream.random(), stream.random()
            write = Write(f"p{number}", _index(x, y), x, TTL_S, now())
            self._history.writes[write.stem] = write
            try:
                receipt = await client.store(
                    profile({"x": x, "y": y}), id=write.stem, ttl=TTL_S, timeout=TIMEOUT_S
                )
            except MeteorError as error:
                self._failed.append(
                    f"{write.stem} was not stored, though nothing went wrong: {error}"
                )
                continue
            write.id, write.acknowledged_s = receipt.id, now()

    def crash_at_once(self, fraction: float) -> None:
        """A share of all peers is gone in one moment."""
        overlay = self._overlay
        victims = self._stream.sample(overlay.peers, round(fraction * len(overlay.peers)))
        self._down(*victims)

    def come_and_go(self, rate: float) -> None:
        """Joins and crashes for a while, each at that rate."""
        kernel = self._overlay.kernel
        until_s = kernel.now() + self._plan.churn_s
        tasks = [
            kernel.spawn(self._joins(rate, until_s)),
            kernel.spawn(self._crashes(rate, until_s)),
        ]
        for task in tasks:
            kernel.run_until(task)

    async def _joins(self, rate: float, until_s: float) -> None:
        stream = self._overlay.kernel.random("joins")
        while await self._next(stream, rate, until_s):
            self._overlay.kernel.spawn(self._join())

    async def _join(self) -> None:
        peer = self._overlay.new_peer()
        known = [Contact.at(one.address) for one in self._overlay.peers[:STEADY]]
        try:
            await peer.core.start(known)
            await peer.core.settled(SETTLE_S)
        except MeteorError:
            self._down(peer)

    async def _crashes(self, rate: float, until_s: float) -> None:
        stream = self._overlay.kernel.random("crashes")
        while await self._next(stream, rate, until_s):
            if may_crash := self._overlay.living[STEADY:]:  # of few peers all may be down by now
                self._down(stream.choice(may_crash))

    async def _next(self, stream: random.Random, rate: float, until_s: float) -> bool:
        await self._overlay.kernel.sleep(stream.expovariate(rate))
        return self._overlay.kernel.now() < until_s

    def _down(self, *victims: SimPeer) -> None:
        self._watch.went_down(*victims)
        for victim in victims:
            victim.crash()

    # ---- the verdict -------------------------------------------------------------------------

    def judged(self, varied: float, gone_share: float) -> DataRow:
        """Wait for the ring, ask for everything, and see what is gone and why."""
        stored = [
            one.stem for one in self._history.writes.values() if one.acknowledged_s is not None
        ]
        row = DataRow(varied, self._copies, len(stored), gone_share)
        row.violations += self._heal()
        self._ask()
        losses = self._watch.ledger.losses
        found = {stem for question in self._history.questions for stem in question.found}
        row.losses += [losses[stem] for stem in stored if stem in losses.keys() - found]
        row.violations += self._failed
        row.violations += [
            f"durability: {text}" for text in durability.violations(self._history, losses)
        ]
        return row

    def _heal(self) -> list[str]:
        """Until the ring is ideal; what is not, when the time is over."""
        overlay, began_s = self._overlay, self._overlay.kernel.now()
        while flaws := ring_flaws(overlay):
            if overlay.kernel.now() - began_s > IDEAL_WITHIN_S:
                return [f"{IDEAL_WITHIN_S:g} s after healing: {flaw}" for flaw in flaws]
            overlay.run_for(LOOK_S)
        return []

    def _ask(self) -> None:
        """Everything, until an answer is complete; the last one that came counts, and that none
        did is said."""
        client, refusal = self._overlay.client(), ""
        for _ in range(TRIES):
            try:
                question = self._overlay.run(self._ask_once(client))
            except MeteorError as error:
                refusal = str(error)
            else:
                self._history.questions = [question]
                if question.complete:
                    return
            self._overlay.run_for(LOOK_S)
        if not self._history.questions:
            self._failed.append(f"{TRIES} questions after healing were not answered: {refusal}")

    async def _ask_once(self, client: Client) -> Question:
        now = self._overlay.kernel.now
        began_s = now()
        answer = client.retrieve("x=0..1", everywhere=True, allow_partial=True, timeout=TIMEOUT_S)
        stems = tuple([match.id.partition(".")[0] async for match in answer])
        return Question(
            0.0, 1.0, began_s, now(), stems, answer.complete, answer.missing, last=True
        )  # fmt: skip


def _index(x: float, y: float) -> int:
    typed = profile({"x": x, "y": y}).typed(SPACE)
    return SPACE.curve.encode(SPACE.box(typed.subject_terms(SPACE)).low)
