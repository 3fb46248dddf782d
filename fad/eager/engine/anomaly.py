"""Anomaly mode: where a backward fails or computes nan, the line of the forward that it belongs to is told."""
import sys
import time
import warnings
from collections.abc import Callable

import numpy as np

from ...util.array import AnyArray
from ..graph.node import Node
from ..tensors.state import Process, changed, now, set_for_all, state
from ..tensors.tensor import raw
from .engine import watched

SLOW = ("Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for "
        "debugging.")
ERROR = "Error detected in {0}. ", "caused the error"
INDUCED = "\n\nPrevious calculation was induced by {0}. ", "induced the previous calculation"
TRACE = "Traceback of forward call that {0}:\n{1}"
NO_TRACE = "No forward pass information available. Enable detect anomaly during forward pass for more information."


def is_anomaly_enabled() -> bool:
    """Whether anomaly mode is on."""
    return now().anomaly


def is_anomaly_check_nan_enabled() -> bool:
    """Whether gradients are checked for nan in anomaly mode."""
    return now().check_nan


class set_detect_anomaly:
    """Switch anomaly mode on or off for the whole process. Used in a `with` statement, it does so for that block only.
    """

    def __init__(self, mode: bool, check_nan: bool = True):
        self.before = Process.anomaly, Process.check_nan
        self.mode = changed(anomalous=bool(mode), watching_nan=bool(check_nan))
        set_for_all(anomaly=bool(mode), check_nan=bool(check_nan))

    def __enter__(self) -> None:
        """It was meant for the block."""
        set_for_all(anomaly=self.before[0], check_nan=self.before[1])
        self.mode.__enter__()

    def __exit__(self, *exc: object) -> None:
        self.mode.__exit__()


class detect_anomaly(changed):
    """Within, a backward that fails or gives nan warns with the forward's lines for its node; nan raises."""

    def __init__(self, check_nan: bool = True):
        super().__init__(anomalous=True, watching_nan=bool(check_nan))
        warnings.warn(SLOW, UserWarning, stacklevel=2)


def tell(node: "Node | None") -> None:
    """Warn with the place where a node was made, and with those of nodes that were being evaluated then, one by one."""
    begin, did = ERROR
    while node is not None:
        trace, parent = (None, None) if node.extra is None else (node.extra.trace, node.extra.parent)
        _warn(begin.format(node.name()) + (NO_TRACE if trace is None else TRACE.format(did, trace)))
        node, (begin, did) = parent, INDUCED


def _warn(text: str) -> None:
    try:
        warnings.warn(text, UserWarning, stacklevel=7)
    except UserWarning:  # warnings are errors just now, but the error to raise is that of backward
        print(text, file=sys.stderr)


def evaluate(node: Node, pull: Callable, g: AnyArray) -> tuple:
    """A node's backward, watched (and timed, with a profiler)."""
    profiler = now().profiler
    if profiler is not None:
        started, inner = time.perf_counter_ns(), time.perf_counter_ns()
        answer = _watched(node, pull, g) if now().anomaly else pull(g)
        profiler.note(node.name(), inner, node=node)
        profiler.note(f"autograd::engine::evaluate_function: {node.name()}", started, node=node)
        return answer
    return _watched(node, pull, g)


def _watched(node: Node, pull: Callable, g: AnyArray) -> tuple:
    outer, state.evaluating = state.evaluating, node
    try:
        answer = pull(g)
    except Exception:
        tell(node)
        raise
    finally:
        state.evaluating = outer
    if now().check_nan:
        for k, one in enumerate(answer):
            if one is not None and np.isnan(np.sum(raw(one))) and np.isnan(raw(one)).any():
                tell(node)
                raise RuntimeError(f"Function '{node.name()}' returned nan values in its {k}th output.")
    return answer


watched.append(evaluate)
