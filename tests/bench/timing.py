"""Times that share the machine's noise."""
import math
import time

import numpy as np


def yardstick():
    """Plain Python that takes a microsecond on a quiet machine: bounds of Python's work are counted in it."""
    found = []
    for k in range(55):
        found.append(k + 1)
    return found


def pace():
    """The processor seconds for what a quiet machine does in a second: bounds of work are counted in it."""
    return 1e6 * minima([yardstick], rounds=5, budget=0.001)[0]


def medians(runs, rounds=9, budget=0.5):
    """Median seconds of each thunk, measured in turn, round by round."""
    repeats = []
    for run in runs:
        run()
        start = time.perf_counter()
        run()
        repeats.append(max(1, min(2000, int(budget / rounds / max(time.perf_counter() - start, 1e-7)))))
    times = [[] for _ in runs]
    for _ in range(rounds):
        for run, repeat, kept in zip(runs, repeats, times):
            start = time.perf_counter()
            for _ in range(repeat):
                run()
            kept.append((time.perf_counter() - start) / repeat)
    return [float(np.median(t)) for t in times]


def minima(runs, rounds=25, budget=0.004):
    """Least seconds of the thread for each thunk, measured in turn, round by round: what other processes cost is left
    out."""
    repeats, best = [], [math.inf] * len(runs)
    for run in runs:
        run()
        start = time.thread_time()
        run()
        repeats.append(max(1, int(budget / max(time.thread_time() - start, 1e-7))))
    for _ in range(rounds):
        for k, (run, repeat) in enumerate(zip(runs, repeats)):
            start = time.thread_time()
            for _ in range(repeat):
                run()
            best[k] = min(best[k], (time.thread_time() - start) / repeat)
    return best
