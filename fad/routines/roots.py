"""scipy.optimize's root finders of a function of one number, step by step as SciPy goes (scipy/optimize/Zeros).

newton: Newton's method, or secants where no slope is given; brentq, brenth: R. P. Brent, Algorithms for Minimization
Without Derivatives, 1973, chapters 3 and 4; bisect; ridder: C. Ridders, IEEE Trans. Circuits Syst. 26 (1979) 979.

The function is part of the program around, so that the loop is compiled with it. The root has the derivatives of
f(x) = 0, and the iterations have none.
"""
from collections.abc import Callable
from typing import Any

import numpy as np

from ..util.array import AnyArray, ArrayOrNumber
from . import above
from .stepping import ONE

PRECISION = 4 * np.finfo(float).eps


def find(method: Any, f: Any, a: object, b: object, args: Any = (), xtol: Any = 2e-12, rtol: Any = PRECISION,
         maxiter: int = 100, disp: bool = True) -> tuple:
    """The root, the number of iterations and that of calls."""
    args = args if isinstance(args, tuple) else (args,)
    if xtol <= 0:
        raise ValueError(f"xtol too small ({xtol:g} <= 0)")
    if rtol < PRECISION:
        raise ValueError(f"rtol too small ({rtol:g} < {PRECISION:g})")

    def number(x: AnyArray) -> AnyArray:
        return np.reshape(f(x, *args), ()) * ONE
    held = above.held(number, 0.5)

    def checked(x: AnyArray) -> AnyArray:
        y = held(x)
        if np.isnan(y):
            raise ValueError("the function value is NaN; solver cannot continue")
        return y
    xa, xb = above.stopped(ONE * a), above.stopped(ONE * b)
    fa, fb = checked(xa), checked(xb)
    x, iterations, calls, is_found = xb, 0, 2, True
    if fa == 0:
        x = xa
    elif fb != 0:
        if (fa < 0) == (fb < 0):
            raise ValueError("f(a) and f(b) must have different signs")
        x, iterations, calls, is_found = method(checked, xa, xb, fa, fb, xtol, rtol, maxiter)
    if not is_found:
        raise RuntimeError(f"Failed to converge after {maxiter} iterations")
    return above.solution(number, x), iterations, calls


def newton(f: Callable, x0: ArrayOrNumber, fprime: Any = None, args: tuple = (), tol: float = 1.48e-8,
           maxiter: int = 50, rtol: float = 0.0, disp: bool = True) -> AnyArray:
    """The root that Newton's iteration finds from a number, or secants."""
    args = tuple(args)
    if tol <= 0:
        raise ValueError(f"tol too small ({tol:g} <= 0)")
    if maxiter < 1:
        raise ValueError("maxiter must be greater than 0")

    def number(x: AnyArray) -> AnyArray:
        return np.reshape(f(x, *args), ()) * ONE
    start, held = above.stopped(ONE * x0), above.held(number, 0.5)
    if fprime is None:
        x, is_found = _by_secants(held, start, tol, maxiter, rtol)
    else:
        slope = above.held(lambda x: np.reshape(fprime(x, *args), ()) * ONE, 0.5)
        x, is_found = _by_slopes(held, slope, start, tol, maxiter, rtol)
    if not is_found:
        raise RuntimeError(f"Failed to converge within {maxiter} iterations, or the slope was zero")
    return above.solution(number, x)


def _by_slopes(f: Callable, slope: Callable, x: AnyArray, tol: float, maxiter: int, rtol: float) -> tuple:
    iterations, is_found, is_flat = 0, False, False
    while iterations < maxiter and not is_found and not is_flat:
        iterations += 1
        y = f(x)
        if y == 0:
            is_found = True
        else:
            s = slope(x)
            if s == 0:
                is_flat = True
            else:
                new = x - y / s
                is_found = bool(abs(new - x) <= tol + rtol * abs(x))
                x = new
    return x, is_found


def _by_secants(f: Callable, p0: AnyArray, tol: float, maxiter: int, rtol: float) -> tuple:
    p1 = p0 * (1 + 1e-4)
    p1 = p1 + np.where(p1 >= 0, 1e-4, -1e-4)
    q0, q1 = f(p0), f(p1)
    if abs(q1) < abs(q0):
        p0, p1, q0, q1 = p1, p0, q1, q0
    x, iterations, is_found, is_flat = p1, 0, False, False
    while iterations < maxiter and not is_found and not is_flat:
        iterations += 1
        if q1 == q0:
            is_flat, is_found = bool(p1 != p0), bool(p1 == p0)
            x = (p1 + p0) / 2.0
        else:
            if abs(q1) > abs(q0):
                x = (-q0 / q1 * p1 + p0) / (1 - q0 / q1)
            else:
                x = (-q1 / q0 * p0 + p1) / (1 - q1 / q0)
            is_found = bool(abs(x - p1) <= tol + rtol * abs(p1))
            if not is_found:
                p0, q0, p1 = p1, q1, x
                q1 = f(p1)
    return x, is_found


def brent(extrapolated: Callable) -> Any:
    """Brent's method, which extrapolates in one way or the other."""
    def method(f: Callable, xpre: AnyArray, xcur: AnyArray, fpre: AnyArray, fcur: AnyArray, xtol: object,
               rtol: AnyArray, maxiter: int) -> tuple:
        xblk, fblk, spre, scur = xpre, fpre, xcur - xpre, xcur - xpre
        iterations, calls, is_found = 0, 2, False
        while iterations < maxiter and not is_found:
            iterations += 1
            if fpre != 0 and fcur != 0 and (fpre < 0) != (fcur < 0):
                xblk, fblk, spre, scur = xpre, fpre, xcur - xpre, xcur - xpre
            if abs(fblk) < abs(fcur):
                xpre, xcur, xblk = xcur, xblk, xcur
                fpre, fcur, fblk = fcur, fblk, fcur
            delta, half = (xtol + rtol * abs(xcur)) / 2, (xblk - xcur) / 2
            if fcur == 0 or abs(half) < delta:
                is_found = True
            else:
                before, step = half, half                     # a bisection, unless a short step is good
                if abs(spre) > delta and abs(fcur) < abs(fpre):
                    if xpre == xblk:
                        tried = -fcur * (xcur - xpre) / (fcur - fpre)
                    else:
                        dpre, dblk = (fpre - fcur) / (xpre - xcur), (fblk - fcur) / (xblk - xcur)
                        tried = extrapolated(fpre, fcur, fblk, dpre, dblk)
                    if 2 * abs(tried) < min(abs(spre), 3 * abs(half) - delta):
                        before, step = scur, tried
                spre, scur, xpre, fpre = before, step, xcur, fcur
                if abs(scur) > delta:
                    xcur = xcur + scur
                elif half > 0:
                    xcur = xcur + delta
                else:
                    xcur = xcur - delta
                fcur, calls = f(xcur), calls + 1
        return xcur, iterations, calls, is_found
    return method


def _parabola(fpre: AnyArray, fcur: AnyArray, fblk: AnyArray, dpre: AnyArray, dblk: AnyArray) -> AnyArray:
    return -fcur * (fblk * dblk - fpre * dpre) / (dblk * dpre * (fblk - fpre))


def _hyperbola(fpre: AnyArray, fcur: AnyArray, fblk: AnyArray, dpre: AnyArray, dblk: AnyArray) -> AnyArray:
    return -fcur * (fblk - fpre) / (fblk * dpre - fpre * dblk)


def bisect(f: Callable, xa: AnyArray, xb: AnyArray, fa: AnyArray, fb: AnyArray, xtol: object, rtol: AnyArray,
           maxiter: int) -> tuple:
    width, x, iterations, is_found = xb - xa, xa, 0, False
    while iterations < maxiter and not is_found:
        iterations += 1
        width = width * 0.5
        x = xa + width
        y = f(x)
        if (y < 0) == (fa < 0):
            xa = x
        is_found = bool(y == 0 or abs(width) < xtol + rtol * abs(x))
    return x, iterations, iterations + 2, is_found


def ridder(f: Callable, xa: AnyArray, xb: AnyArray, fa: AnyArray, fb: AnyArray, xtol: object, rtol: AnyArray,
           maxiter: int) -> tuple:
    x, iterations, is_found = xb, 0, False
    tolerance = xtol + rtol * min(abs(xa), abs(xb))
    while iterations < maxiter and not is_found:
        iterations += 1
        half = 0.5 * (xb - xa)
        middle = xa + half
        at_middle = f(middle)
        step = np.sign(fb - fa) * half * at_middle / np.sqrt(at_middle * at_middle - fa * fb)
        x = middle - np.sign(step) * min(abs(step), abs(half) - 0.5 * tolerance)
        y = f(x)
        if (y < 0) != (at_middle < 0):
            xa, fa, xb, fb = x, y, middle, at_middle
        elif (y < 0) != (fa < 0):
            xb, fb = x, y
        else:
            xa, fa = x, y
        tolerance = xtol + rtol * x
        is_found = bool(y == 0 or abs(xb - xa) < tolerance)
    return x, iterations, 2 * iterations + 2, is_found


METHODS = {"brentq": brent(_parabola), "brenth": brent(_hyperbola), "bisect": bisect, "ridder": ridder}
