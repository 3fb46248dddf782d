"""Whether Python's other threads go on while a call runs."""
import threading
import time

import numpy as np


def goes_on_beside(call):
    """Whether another thread makes steps in each quarter of a call. A busy machine may need several calls."""
    for _ in range(10):
        steps, begun, done = [], threading.Event(), threading.Event()
        other = threading.Thread(target=_count, args=(steps, begun, done))
        other.start()
        begun.wait()
        started = time.perf_counter()
        call()
        ended = time.perf_counter()
        done.set()
        other.join()
        if min(np.histogram(steps, 4, (started, ended))[0]) > 1:
            return True
    return False


def _count(steps, begun, done):
    while not done.is_set():
        steps.append(time.perf_counter())
        begun.set()
        time.sleep(0.001)
