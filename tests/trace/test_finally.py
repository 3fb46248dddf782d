"""A `finally` that jumps: errors on their way and jumps in the try end there."""
import warnings

import numpy as np
import pytest

import fad


def goes_on(x):
    s = 0.0
    for v in x:
        try:
            s += v * v if v > 0.5 else v
        finally:
            continue                                        # noqa: B012
    return s


def returns_instead(x):
    try:
        return x[0] * 3.0
    finally:
        return x[1] * x[0]                                  # noqa: B012


def takes_a_return_back(x):
    s = 0.0
    for v in x:
        try:
            if v > 0.65:
                return 5.0 * v
            s += v
        finally:
            s += v * v
            continue                                        # noqa: B012
    return s


def breaks_instead(x):
    s = 0.0
    for v in x:
        try:
            if v > 0.65:
                return 5.0 * v
            if v > 0.4:
                continue
            s += v
        finally:
            s += v
            break                                           # noqa: B012
    return s


def ends_errors(x):
    s = 0.0
    for v in x:
        try:
            if v > 0.65:
                raise ValueError("too large")
            s += v * v
        finally:
            s += v
            continue                                        # noqa: B012
    return s


def after_a_handler(x):
    s = 0.0
    for v in x:
        try:
            s += v * {0: 1.0, 1: 2.0}[int(v * 4.0)]
        except IndexError:
            s += 9.0 * v
        finally:
            s += v
            continue                                        # noqa: B012
    return s


def jumps_on_one_way(x):
    s = 0.0
    for v in x:
        try:
            s += v * v
        finally:
            if v > 0.65:
                break                                       # noqa: B012
    return s


def takes_jumps_back_on_one_way(x):
    s = 0.0
    for v in (*x, x[0] * x[1]):
        try:
            if v > 0.5:
                return s + 5.0 * v
            if v > 0.25:
                continue
            s += v
        finally:
            s += v * v
            if s > 0.6:
                break                                       # noqa: B012
            if v > 0.65:
                continue                                    # noqa: B012
        s += 0.1 * v
    return s


def returns_on_one_way(x):
    s, w = 0.0, 0
    while w < 4:
        w += 1
        try:
            if x[0] > 0.5:
                break
            s += x[0] * w
        finally:
            for k in range(w):
                if s > 1.0:
                    return s * x[1] + k                     # noqa: B012
    return s + x[1] * w


def ends_errors_on_one_way(x):
    s = 0.0
    for v in x:
        try:
            if v > 0.65:
                raise ValueError("too large")
            s += v * v
        finally:
            if x[0] > 0.5:
                return s + 2.0 * v                          # noqa: B012
            s += v
    return s


def goes_on_after_errors(x):
    s = 0.0
    for v in x:
        try:
            if v > 0.55:
                raise ValueError("too large")
            s += v * v
        except ValueError:
            if v > 0.8:
                raise
            s += 3.0 * v
        finally:
            if v > 0.58:
                continue                                    # noqa: B012
            s += v
        s *= 1.5
    return s


POINTS = [np.array([0.3, 0.7]), np.array([0.6, 0.2]), np.array([0.9, 0.7]), np.array([0.45, 0.6])]


def check(f, **options):
    for x in POINTS:
        np.testing.assert_allclose(fad.jit(f, **options)(x), f(x))
        np.testing.assert_allclose(fad.grad(f, **options)(x), [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(2)],
                                   atol=1e-6)


@pytest.mark.parametrize("f", [goes_on, returns_instead, takes_a_return_back, breaks_instead, jumps_on_one_way,
                               takes_jumps_back_on_one_way, returns_on_one_way], ids=lambda f: f.__name__)
def test_a_finally_that_jumps_is_part_of_the_program(f):
    check(f, fallback=False)


@pytest.mark.parametrize("f", [ends_errors, after_a_handler, goes_on_after_errors], ids=lambda f: f.__name__)
def test_errors_that_a_finally_ends_go_to_the_tape(f):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fad.FallbackWarning)
        check(f)


@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
@pytest.mark.parametrize("compile", ["never", "now"])
def test_errors_end_where_a_finally_jumps_and_go_on_elsewhere(compile):
    f = fad.value_and_grad(ends_errors_on_one_way, compile=compile)
    for x, value, slope in (([0.9, 0.1], 1.8, [2.0, 0.0]), ([0.3, 0.6], 1.35, [1.6, 2.2])):
        found = f(np.array(x))
        np.testing.assert_allclose(found[0], value)
        np.testing.assert_allclose(found[1], slope)
    with pytest.raises(ValueError, match="too large"):
        f(np.array([0.3, 0.9]))
