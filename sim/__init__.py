"""Meteor in virtual time: the very same protocol code over a simulated network."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sim.clock import ClockPlan as ClockPlan
    from sim.clock import MachineClock as MachineClock
    from sim.disk import SimDisk as SimDisk
    from sim.disk import SimJournal as SimJournal
    from sim.faults import Faults as Faults
    from sim.faults import FrameFaults as FrameFaults
    from sim.faults import Partition as Partition
    from sim.kernel import Deadlock as Deadlock
    from sim.kernel import Kernel as Kernel
    from sim.network import Latency as Latency
    from sim.network import Network as Network
    from sim.network import TailedLatency as TailedLatency
    from sim.network import UniformLatency as UniformLatency
    from sim.overlay import Overlay as Overlay
    from sim.report import Report as Report
    from sim.runtime import SimRuntime as SimRuntime
    from sim.scenario import Scenario as Scenario
    from sim.scenario import run as run
    from sim.scenarios import SCENARIOS as SCENARIOS
    from sim.simulated_peer import SimPeer as SimPeer
    from sim.task import Cancelled as Cancelled
    from sim.task import Task as Task
    from sim.trace import Event as Event
    from sim.trace import Trace as Trace

_MODULES: Final = {
    "sim.clock": ("ClockPlan", "MachineClock"),
    "sim.disk": ("SimDisk", "SimJournal"),
    "sim.faults": ("Faults", "FrameFaults", "Partition"),
    "sim.kernel": ("Deadlock", "Kernel"),
    "sim.network": ("Latency", "Network", "TailedLatency", "UniformLatency"),
    "sim.overlay": ("Overlay",),
    "sim.report": ("Report",),
    "sim.runtime": ("SimRuntime",),
    "sim.scenario": ("Scenario", "run"),
    "sim.scenarios": ("SCENARIOS",),
    "sim.simulated_peer": ("SimPeer",),
    "sim.task": ("Cancelled", "Task"),
    "sim.trace": ("Event", "Trace"),
}
"""Where each public name comes from, imported on first use: the workers of the routing study import
`sim.spark` and have neither SimPy nor the peers' networking."""
_LAZY: Final = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "Kernel", "Deadlock", "Task", "Cancelled",
    "Overlay", "SimPeer",
    "Network", "Latency", "UniformLatency", "TailedLatency", "SimRuntime", "SimDisk", "SimJournal",
    "ClockPlan", "MachineClock",
    "Faults", "FrameFaults", "Partition",
    "Trace", "Event",
    "SCENARIOS", "Scenario", "Report", "run",
]  # fmt: skip


def __getattr__(name: str) -> object:
    """Import a public name on first use."""
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        import_module("simpy")  # looked for here, so that its absence has a clear text
    except ImportError as error:
        raise ImportError(
            "the simulator needs SimPy: install it with the extra, "
            "pip install 'meteor-rendezvous[sim]'"
        ) from error
    value = globals()[name] = getattr(import_module(module), name)
    return value


def __dir__() -> list[str]:
    """The public names, imported or not yet."""
    return sorted(__all__)
