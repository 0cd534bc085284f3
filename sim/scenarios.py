"""The named scenarios.

Law of this file: compositions only.  Rates are events a virtual second; what is not said is off.
"""

from __future__ import annotations

from dataclasses import replace

from sim.churn import ChurnPlan
from sim.clock import ClockPlan
from sim.disk_trouble import DiskPlan
from sim.faults import FrameFaults
from sim.replaying import COMMAND, NAMED
from sim.ring_scenario import RingScenario
from sim.scenario import Scenario
from sim.weather import WeatherPlan
from sim.workload_plan import WorkloadPlan

_ROUGH = FrameFaults(loss=0.01, duplication=0.01, reordering=0.05)
_IMPATIENT = WorkloadPlan(timeout_s=1.0)
"""Who waits longer than a cut lasts never hears what one side has to say of the other."""
_CURIOUS = WorkloadPlan(interests=0.5)
"""What is deleted, or over, must not be told to whoever comes later: somebody has to."""

_MOVING = WorkloadPlan(
    asks=0.35, deletes=0.03, moves=0.25, renewals=0.05, clearings=0.02, interests=0.3
)
"""Things that are moved on and on, renewed, and deleted many at a time."""

_WIDE = WorkloadPlan(
    asks=0.35,
    deletes=0.05,
    moves=0.1,
    renewals=0.03,
    clearings=0.04,
    interests=0.5,
    wide=0.6,
    overlaps=0.3,
    partial=0.5,
)
"""Ranges of values and parts of words, which lie at several peers, and what asks for these."""

_RESTLESS = WorkloadPlan(
    clients=4,
    asks=0.3,
    deletes=0.1,
    moves=0.12,
    renewals=0.08,
    clearings=0.1,
    cleared=100.0,
    refills=0.8,
    short_lived=0.3,
    interests=0.3,
    first_peer=1,
    wide=0.3,
    attaches=0.4,
    onces=0.2,
    watches=2,
    again=0.06,
    twice=0.06,
)
"""Clients at peers that fall, who change things, and whose interests change hands."""

_SENSORS = WorkloadPlan(
    clients=6, places=6, pause_s=0.025, asks=0.4, deletes=0.1, clearings=0.01, timeout_s=1.0
)
"""Some posts a second at each of few places: what clients go straight to owners with."""

_ALL = (
    Scenario(name="calm", summary="no faults: answers equal a plain filter", workload=_CURIOUS),
    Scenario(
        name="growth",
        summary="peers join and leave politely under load",
        workload=_CURIOUS,
        churn=ChurnPlan(joins=1.0, leaves=1.0),
    ),
    Scenario(
        name="crashes",
        summary="peers join, leave and crash; what is lost is named",
        workload=_CURIOUS,
        churn=ChurnPlan(joins=1.0, leaves=0.3, crashes=0.7),
    ),
    Scenario(
        name="restarts",
        summary="peers crash and come back under their journals",
        workload=_CURIOUS,
        churn=ChurnPlan(joins=0.3, crashes=1.0, restarts=0.8),
    ),
    Scenario(
        name="relocations",
        summary="peers leave for other places on the ring, as load wants it, while others crash",
        workload=_CURIOUS,
        churn=ChurnPlan(joins=0.3, crashes=0.6, restarts=0.6, relocations=0.8),
    ),
    Scenario(
        name="moving",
        summary="what is stored moves on and on while peers join, crash and come back",
        workload=_MOVING,
        churn=ChurnPlan(joins=0.5, leaves=0.3, crashes=0.7, restarts=0.6),
    ),
    Scenario(
        name="moving-apart",
        summary="what is stored moves on and on while peers are cut off for up to four seconds",
        workload=replace(_MOVING, timeout_s=1.0),
        weather=WeatherPlan(partitions=0.2, frames=_ROUGH),
        unique_holders=False,
    ),
    Scenario(
        name="ranges-that-fall",
        summary="what is stored and asked for lies at several peers, that crash and come back",
        workload=_WIDE,
        churn=ChurnPlan(joins=0.5, leaves=0.3, crashes=0.7, restarts=0.6),
    ),
    Scenario(
        name="ranges-apart",
        summary="what is stored and asked for lies at several peers, of which some are cut off",
        workload=replace(_WIDE, timeout_s=1.0),
        weather=WeatherPlan(partitions=0.2, frames=_ROUGH),
        unique_holders=False,
    ),
    Scenario(
        name="clients-that-move",
        summary="clients lose their peers as they delete, replace and renew; others attach",
        workload=_RESTLESS,
        churn=ChurnPlan(
            leaves=0.6, crashes=0.2, joins=0.6, restarts=0.8, strikes=0.1, cut_offs=0.5, steady=1
        ),
        unique_holders=False,
    ),
    Scenario(
        name="backups",
        summary="six peers, of which some come back under journals of up to ten seconds before",
        peers=6,
        workload=replace(_CURIOUS, deletes=0.2, moves=0.1),
        churn=ChurnPlan(
            joins=0.1,
            leaves=0.1,
            crashes=1.0,
            restarts=1.0,
            behind=0.6,
            behind_s_max=10.0,
            steady=1,
            peers_min=2,
            peers_max=9,
        ),
        disks=DiskPlan(latency_s=0.002, backups_every_s=0.5, steady=1),
        unique_holders=False,
    ),
    Scenario(
        name="few-peers",
        summary="what is stored moves on and on at six peers, of which often only two are up",
        peers=6,
        storm_s=25.0,
        workload=_MOVING,
        churn=ChurnPlan(
            joins=0.1,
            leaves=0.1,
            crashes=0.7,
            restarts=1.0,
            pauses=0.2,
            pause_s_max=5.0,
            steady=1,
            peers_min=2,
            peers_max=9,
        ),
        disks=DiskPlan(latency_s=0.003, fillings=0.1, steady=1),
        unique_holders=False,
    ),
    Scenario(
        name="sensors",
        summary="clients store and ask at few places, straight at owners, that crash and are held",
        storm_s=12.0,
        workload=_SENSORS,
        churn=ChurnPlan(joins=0.5, leaves=0.3, crashes=0.5, restarts=0.4, pauses=0.3),
        unique_holders=False,
    ),
    Scenario(
        name="sensors-apart",
        summary="clients store and ask straight at owners, of which some are cut off for seconds",
        storm_s=12.0,
        workload=_SENSORS,
        weather=WeatherPlan(partitions=0.2, one_way_partitions=0.1, frames=_ROUGH),
        unique_holders=False,
    ),
    Scenario(
        name="neighbours",
        summary="three ring neighbours crash at once and come back: what they had comes back too",
        churn=ChurnPlan(groups=0.25),
        unique_holders=False,
    ),
    Scenario(
        name="falls",
        summary="all peers crash one by one, and come back in another order: a few store at first",
        peers=5,
        storm_s=30.0,
        workload=WorkloadPlan(clients=4, asks=0.35, deletes=0.15, timeout_s=1.0),
        churn=ChurnPlan(falls=0.1, steady=0, peers_min=0),
        disks=DiskPlan(latency_s=0.004, unsynced="lost", steady=0),
        unique_holders=False,
    ),
    Scenario(
        name="disks",
        summary="slow disks that stall and run full; crashes tear what was being written",
        churn=ChurnPlan(crashes=0.7, restarts=0.9),
        disks=DiskPlan(latency_s=0.01, fillings=0.2, stalls=0.1),
        unique_holders=False,
    ),
    Scenario(
        name="rough",
        summary="frames lost, late and twice, on reliable links",
        weather=WeatherPlan(frames=_ROUGH),
    ),
    Scenario(
        name="clogs",
        summary="links stand still for up to a second",
        weather=WeatherPlan(clogs=3.0),
    ),
    Scenario(
        name="clocks",
        summary="clocks are up to a hundredth fast or slow, wall clocks an hour wrong, peers move",
        workload=WorkloadPlan(short_lived=0.5),
        churn=ChurnPlan(joins=1.0, leaves=1.0),
        clocks=ClockPlan(drift_max=0.01, wall_error_s_max=3600.0),
    ),
    Scenario(
        name="pauses",
        summary="processes are held for up to 0.7 s, less than what makes them suspect",
        # Half a second of silence may lie before it, and 1.5 s of it make them suspect (seed 4).
        churn=ChurnPlan(pauses=1.0, pause_s_max=0.7),
    ),
    Scenario(
        name="long-pauses",
        summary="processes are held for up to six seconds, until others give them up",
        churn=ChurnPlan(pauses=0.3, pause_s_max=6.0),
        unique_holders=False,
    ),
    Scenario(
        name="partitions",
        summary="some peers are cut off from the others for up to four seconds",
        workload=_IMPATIENT,
        weather=WeatherPlan(partitions=0.2),
        unique_holders=False,
    ),
    Scenario(
        name="one-way",
        summary="some peers are heard no more, though they hear",
        workload=_IMPATIENT,
        weather=WeatherPlan(one_way_partitions=0.2),
        unique_holders=False,
    ),
    Scenario(
        name="ring-that-loses-nothing",
        summary="2,000 events, a tenth of them joins and crashes; one copy of everything lives on",
        storm_s=40.0,
        workload=WorkloadPlan(clients=12, pause_s=0.27, asks=0.4, deletes=0.2),
        churn=ChurnPlan(joins=10.5, crashes=10.5, peers_min=9, peers_max=16, careful=True),
        unique_holders=False,
    ),
    Scenario(
        name="storm",
        summary="everything at once, at least 2,000 events, a tenth of them joins and crashes",
        storm_s=120.0,
        workload=WorkloadPlan(clients=11, pause_s=0.25, timeout_s=1.0),
        churn=ChurnPlan(joins=2.5, leaves=0.5, crashes=2.4, restarts=0.6, pauses=0.2),
        weather=WeatherPlan(frames=_ROUGH, clogs=0.3, partitions=0.02, one_way_partitions=0.02),
        clocks=ClockPlan(drift_max=0.001, wall_error_s_max=60.0),
        disks=DiskPlan(latency_s=0.003, fillings=0.05, stalls=0.05),
        unique_holders=False,
    ),
)

SCENARIOS = {scenario.name: scenario for scenario in _ALL}
"""Overlays with clients, by name."""

RINGS = {scenario.name: scenario for scenario in (RingScenario(),)}
"""Rings alone, by name."""

EVERY: dict[str, Scenario | RingScenario] = {**SCENARIOS, **RINGS}
"""All that `meteor-sim scenario` knows."""

NAMED.update({"sim.SCENARIOS": SCENARIOS, COMMAND: EVERY})
