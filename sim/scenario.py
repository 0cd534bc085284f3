"""A scenario: a workload, churn, weather and disks, and what must be true of it.

Law of this file: one seed gives one run, and a run has one report.  First faults (safety: what was
promised holds), then none (liveness: one ideal ring and every arc held within `IDEAL_WITHIN_S`,
every question answered), then judgement, and every verb once more at every peer.  Where nothing is
to go wrong, nothing that clients ask may fail either.  An exception anywhere in a peer fails the
run, and so does a log record of level ERROR.

    report = run(SCENARIOS["crashes"], seed=7)
    assert not report.violations, report.text()
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from chord import ChordConfig
from meteor import Client, peer_options, wrong_values
from sim import closing_round
from sim.checkers import holders
from sim.checkers.convergence import IDEAL_WITHIN_S
from sim.checkers.notification import TOLD_WITHIN_S
from sim.churn import Churn, ChurnPlan
from sim.clock import ClockPlan
from sim.copy_watch import CopyWatch
from sim.disk_trouble import DiskPlan, DiskTrouble
from sim.error_log import error_log
from sim.history import History
from sim.judgement import judge
from sim.kernel import Kernel
from sim.link import MessageCodec, check_codec
from sim.overlay import Overlay
from sim.places import SPACE
from sim.replaying import line_that_repeats
from sim.report import Report
from sim.ring_look import ring_flaws
from sim.simulated_peer import SimPeer
from sim.strikes import Strikes
from sim.trace import Trace
from sim.view_watch import ViewWatch
from sim.weather import Weather, WeatherPlan
from sim.workload import Workload
from sim.workload_plan import WorkloadPlan
from squid import Intervals

LOOK_S = 0.25
"""How often the peers' holdings are looked at."""
LAST_TRIES = 5
"""How often the last question is asked until an answer comes."""
_PLANS = {"workload": WorkloadPlan, "churn": ChurnPlan, "weather": WeatherPlan, "clocks": ClockPlan}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A named composition; one seed of it is one run.

    Raises `TypeError` and `ValueError` for what no run can be made of, with the field's name."""

    name: str
    summary: str
    """One line for people."""
    peers: int = 12
    """Peers of the ring when the storm begins."""
    storm_s: float = 20.0
    """Virtual seconds of workload and faults."""
    workload: WorkloadPlan = field(default_factory=WorkloadPlan)
    churn: ChurnPlan = field(default_factory=ChurnPlan)
    weather: WeatherPlan = field(default_factory=WeatherPlan)
    clocks: ClockPlan = field(default_factory=ClockPlan)
    disks: DiskPlan | None = None
    """What disks the journals lie on; in memory without."""
    copies: int = 3
    """How many copies peers keep of a record: nothing may be lost while one of them is up, whatever
    answers say."""
    unique_holders: bool = True
    """Whether no two peers may hold one arc at any time; else only at rest."""

    def __post_init__(self) -> None:
        for name, kind in _PLANS.items():
            plan = getattr(self, name)
            if not isinstance(plan, kind):
                raise TypeError(f"{name}: give a {kind.__name__}, not {wrong_values.said(plan)}")
        wrong_values.check_kind("disks", self.disks, DiskPlan)
        peer_options.check_alike(ChordConfig.lan(), SPACE, copies=self.copies)
        wrong_values.check_numbers(self, {"storm_s"})
        if self.peers < self.workload.peers_min:
            raise ValueError(
                f"peers: {self.peers} are fewer than the {self.workload.peers_min} that the "
                "workload's clients are linked to"
            )

    @property
    def is_calm(self) -> bool:
        """Whether nothing goes wrong, and nobody comes or goes."""
        weather = self.weather
        churns = self.churn.rates or self.churn.strikes or self.churn.cut_offs
        return not (churns or weather.rates or weather.frames or self.disks)

    def play(self, seed: int, *, keep_trace: bool = False) -> tuple[Report, Trace]:
        """Run one seed; the report, and the trace if it is to be kept."""
        return traced_run(self, seed, keep_trace=keep_trace)


def run(
    scenario: Scenario,
    seed: int,
    *,
    codec: MessageCodec | None = None,
    keep_trace: bool = False,
    sabotage: Callable[[Overlay], None] | None = None,
) -> Report:
    """Run one seed of a scenario; with a `codec` every message travels as bytes.

    `sabotage` is called with the overlay before the storm, to plant a fault.  Raises `TypeError`
    for what is no `Scenario`, as a name alone, and for a seed that is no whole number."""
    return traced_run(scenario, seed, codec=codec, keep_trace=keep_trace, sabotage=sabotage)[0]


def traced_run(
    scenario: Scenario,
    seed: int,
    *,
    codec: MessageCodec | None = None,
    keep_trace: bool = True,
    sabotage: Callable[[Overlay], None] | None = None,
) -> tuple[Report, Trace]:
    """The same, and the trace of it."""
    _check_scenario(scenario)
    check_codec(codec)
    kernel = Kernel(seed, keep_trace=keep_trace)
    given = [name for name, one in (("codec", codec), ("sabotage", sabotage)) if one is not None]
    report = Report(scenario.name, kernel.seed, line_that_repeats(scenario, kernel.seed, *given))
    with error_log() as logged:
        try:
            _play(_Stage(scenario, kernel, codec), report, sabotage)
        except Exception as error:
            report.violations += [line.strip() for line in traceback.format_exception(error)[-4:]]
    report.violations += logged
    report.finish(kernel)
    return report, kernel.trace


def _check_scenario(scenario: object) -> None:
    if not isinstance(scenario, Scenario):
        given = wrong_values.said(scenario)
        raise TypeError(f'scenario: give a sim.Scenario, as sim.SCENARIOS["calm"] is, not {given}')


def _play(stage: _Stage, report: Report, sabotage: Callable[[Overlay], None] | None) -> None:
    if sabotage is not None:
        sabotage(stage.overlay)
    stage.storm()
    stage.heal(report)
    stage.ask_at_last(report)
    report.violations += [f"ownership: {text}" for text in stage.views.violations]
    report.violations += judge(stage.history, stage.copies.ledger.open_losses())
    report.violations += stage.failures()
    report.violations += closing_round.violations(stage.overlay, stage.history.wounds)
    stage.count(report)


class _Stage:
    """One run: the overlay and what drives it."""

    def __init__(self, scenario: Scenario, kernel: Kernel, codec: MessageCodec | None) -> None:
        self._scenario, self._kernel = scenario, kernel
        disk = scenario.disks.disk(kernel) if scenario.disks is not None else None
        self.history = History()
        self.overlay = Overlay(
            scenario.peers, space=SPACE, seed=kernel.seed, kernel=kernel, codec=codec,
            config=ChordConfig.lan(), disk=disk, clocks=scenario.clocks, copies=scenario.copies,
        )  # fmt: skip
        self._workload = Workload(
            self.overlay, self.history, scenario.workload, kernel.random("workload")
        )
        self.copies = CopyWatch(self.overlay, self.history)
        self.views = ViewWatch(self.overlay)
        self._churn = Churn(self.overlay, self.copies, scenario.churn, kernel.random("churn"))
        self._weather = Weather(
            self.overlay, self.history, scenario.weather, kernel.random("weather")
        )
        self._disks = DiskTrouble(
            self.overlay, scenario.disks or DiskPlan(), kernel.random("disks")
        )
        self.overlay.on_end = self._disk_failed
        self._strikes = Strikes(self.overlay, self._churn, scenario.churn, kernel.random("strikes"))
        self._workload.hear_of_changes(self._strikes.changes)
        self._overlaps: dict[str, None] = {}

    def storm(self) -> None:
        """The workload under churn and faults."""
        self._workload.start()
        self._kernel.spawn(self._look_on())
        self._churn.start()
        self._strikes.start()
        self._weather.start()
        self._disks.start()
        self.overlay.run_for(self._scenario.storm_s)
        self._workload.stop()
        self._strikes.stop()
        self._churn.stop()
        self._weather.stop()
        self._disks.stop()

    def heal(self, report: Report) -> None:
        """No faults any more: wait until the ring is ideal and every arc is held."""
        healed_s = self._kernel.now()
        while flaws := self._flaws():
            if self._kernel.now() - healed_s > IDEAL_WITHIN_S:
                report.violations += [f"{IDEAL_WITHIN_S:g} s after healing: {f}" for f in flaws]
                break
            self.overlay.run_for(LOOK_S)
        else:
            report.ideal_after_s = self._kernel.now() - healed_s
        self.overlay.run_for(TOLD_WITHIN_S)
        self.history.ended_s = self._kernel.now()
        self._workload.look()
        report.violations += list(self._overlaps)

    def ask_at_last(self, report: Report) -> None:
        """Every kind of answer must come now."""
        client: Client = self.overlay.client()
        for _ in range(LAST_TRIES):
            if self.overlay.run(self._workload.ask_everything(client)):
                return
        report.violations.append(f"{LAST_TRIES} questions after healing were not answered")

    def failures(self) -> list[str]:
        """What clients asked for in vain though nothing went wrong."""
        if not self._scenario.is_calm:
            return []
        counts = self._workload.counts.items()
        return [
            f"{what}: {times} times, though nothing went wrong"
            for what, times in counts
            if _is_outcome(what)
        ]

    def count(self, report: Report) -> None:
        """Fill in how often what happened."""
        done = (
            self._workload.counts, self._churn.counts, self._strikes.counts,
            self._weather.counts, self._disks.counts,
        )  # fmt: skip
        for counts in done:
            report.counts.update(counts)
            report.events += sum(n for what, n in counts.items() if not _is_outcome(what))
        writes = self.history.writes
        report.counts["lost: every copy down"] = sum(
            stem in writes and writes[stem].surely_lives(loss.at_s, loss.at_s, 0.0)
            for stem, loss in self.copies.ledger.losses.items()
        )
        for fault, times in self.overlay.faults.counts.items():
            report.counts[f"fault: {fault}"] = times

    def _flaws(self) -> list[str]:
        found = ring_flaws(self.overlay)
        held = self._held()
        found += holders.overlaps(held) + holders.gaps(held, SPACE.curve.size)
        if not self._churn.quiet:
            found.append("somebody is still joining, leaving or coming back")
        return found

    def _held(self) -> Mapping[str, Intervals]:
        living = self.overlay.living
        return {peer.address: peer.core.holdings.held for peer in living}

    def _disk_failed(self, peer: SimPeer) -> None:
        self.copies.went_down(peer)
        counts = self._disks.counts
        counts["crashes: disk full"] = counts.get("crashes: disk full", 0) + 1

    async def _look_on(self) -> None:
        """See whether two peers hold one arc."""
        while True:
            if self._scenario.unique_holders:
                for overlap in holders.overlaps(self._held()):
                    self._overlaps[f"at {self._kernel.now():.2f} s: {overlap}"] = None
            await self._kernel.sleep(LOOK_S)


def _is_outcome(what: str) -> bool:
    return ":" in what or " " in what
