"""The demonstration of ``python -m fad``: a Gaussian mixture fitted to the Palmer penguins by maximum likelihood.

Two measurements of each bird, bill depth and flipper length, fall into two clouds. The mixture finds them without being
told the species. Everything below ``def`` and above `main` is what a user of fad would write: plain NumPy.
"""

import tempfile
import time
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

import fad
from fad.data import PENGUIN_SPECIES, penguins

BILL_DEPTH, FLIPPER_LENGTH = 1, 2
PARAMETERS = (
    "share of the first",
    *(f"{what}, {which}" for which in ("first", "second") for what in (
        "bill depth, mm", "flipper, mm", "sd of bill depth", "sd of flipper", "correlation")),
)


def log_normal(part, X):
    """Log density of a bivariate normal at each row of X.

    ``part`` is the mean, then the Cholesky factor of the precision: the logs of its diagonal, the entry below.
    """
    z = X - part[:2]
    u = np.exp(part[2]) * z[:, 0]
    v = np.exp(part[3]) * z[:, 1] + part[4] * z[:, 0]
    return part[2] + part[3] - np.log(2 * np.pi) - 0.5 * (u * u + v * v)


def loss(theta, X):
    """Negative log likelihood of a mixture of two normals; ``theta`` is the logit of the share, then the two parts."""
    first = log_normal(theta[1:6], X) - np.logaddexp(0.0, -theta[0])
    second = log_normal(theta[6:11], X) - np.logaddexp(0.0, theta[0])
    return -np.sum(np.logaddexp(first, second))


def natural(theta, centre, scale):
    """The parameters a reader asks for, in millimetres: share, then means, deviations and correlation of each part."""
    def part(p):
        mean = centre + scale * p[:2]
        below = np.sqrt(np.exp(2 * p[2]) + p[4] ** 2)
        return [mean[0], mean[1], scale[0] * np.exp(-p[2]), scale[1] * below * np.exp(-p[2] - p[3]), -p[4] / below]

    return np.array([1 / (1 + np.exp(-theta[0])), *part(theta[1:6]), *part(theta[6:11])])


def start(X):
    """The starting point of the fit: the birds cut at the mean flipper, a round normal for each half."""
    long = X[:, 1] > 0
    parts = [np.concatenate([X[half].mean(axis=0), [0.5, 0.5, 0.0]]) for half in (~long, long)]
    return np.concatenate([[np.log((~long).sum() / long.sum())], *parts])


def standard_errors(theta, X, centre, scale):
    """Standard errors of the natural parameters: the inverse Hessian, carried over by the delta method."""
    covariance = np.linalg.inv(fad.hessian(loss)(theta, X))
    J = fad.jacobian(natural)(theta, centre, scale)
    return np.sqrt(np.diag(J @ covariance @ J.T))


def seconds(f, *args, least=0.05):
    """Seconds a call takes, once it is compiled: the mean of as many calls as make up `least` seconds."""
    f(*args)
    calls, start = 0, time.perf_counter()
    while time.perf_counter() - start < least:
        f(*args)
        calls += 1
    return (time.perf_counter() - start) / calls


def differences(f, theta, X):
    """A gradient or Jacobian by forward differences, as an optimiser without derivatives makes it."""
    here, h = f(theta, X), np.sqrt(np.finfo(float).eps)
    return np.array([(f(theta + h * e, X) - here) / h for e in np.eye(len(theta))])


def title(text):
    """Print a heading."""
    print(f"\n{text}\n{'-' * len(text)}")


def tell_fit(fit, errors, estimates):
    """Print the estimates with their standard errors."""
    title("The fit: maximum likelihood, BFGS on fad's gradient")
    print(f"negative log likelihood {fit.fun:.6f} after {fit.nit} steps, {fit.nfev} calls; "
          f"largest entry of the gradient {np.abs(fit.jac).max():.1e}\n")
    for name, value, error in zip(PARAMETERS, estimates, errors, strict=True):
        print(f"  {name:<26}{value:10.3f}  ± {error:.3f}")


def tell_species(theta, X, species):
    """Print how the two parts, which know nothing of species, divide the three species."""
    first = log_normal(theta[1:6], X) + theta[0] > log_normal(theta[6:11], X)
    counts = [(name, int(first[species == k].sum()), int((~first[species == k]).sum()))
              for k, name in enumerate(PENGUIN_SPECIES)]
    print("\n  species      first  second")
    for name, a, b in counts:
        print(f"  {name:<11}{a:7d}{b:8d}")


def tell_times(g, theta, X):
    """Print the time of the compiled derivatives beside that of finite differences."""
    title("The time")
    h, compiled = fad.jit(fad.hessian(loss), compile="now"), fad.jit(loss, compile="now")
    gradient, hessian = seconds(g, theta, X), seconds(h, theta, X)
    rows = [
        ("gradient: fad, value and gradient", gradient, gradient),
        ("gradient: differences of the NumPy loss", seconds(differences, loss, theta, X), gradient),
        ("gradient: differences of fad's compiled loss", seconds(differences, compiled, theta, X), gradient),
        ("Hessian: fad", hessian, hessian),
        ("Hessian: differences of fad's gradient", seconds(differences, lambda t, X: g(t, X)[1], theta, X), hessian),
    ]
    for what, taken, ours in rows:
        print(f"  {what:<46}{taken * 1e6:10.1f} µs  {taken / ours:7.1f} x")


def picture(theta, X, mm, centre, scale):
    """Save the birds and the two parts of the fit as a picture, if matplotlib is there; return its path."""
    try:
        import matplotlib
    except ImportError:
        return None
    matplotlib.use("agg")
    import matplotlib.pyplot as plt
    depth, flipper = (np.linspace(X[:, k].min() - 0.3, X[:, k].max() + 0.3, 120) for k in (0, 1))
    grid = np.stack(np.meshgrid(depth, flipper), axis=-1)
    figure, axes = plt.subplots(figsize=(6, 4.5))
    axes.plot(mm[:, 0], mm[:, 1], ".", color="grey")
    for part, colour in ((theta[1:6], "tab:blue"), (theta[6:11], "tab:orange")):
        density = np.exp(log_normal(part, grid.reshape(-1, 2))).reshape(grid.shape[:2])
        axes.contour(*np.moveaxis(grid * scale + centre, -1, 0), density, levels=5, colors=colour)
    axes.set(xlabel="bill depth (mm)", ylabel="flipper length (mm)", title="Two parts, fitted without the species")
    path = Path(tempfile.gettempdir()) / "fad-penguins.png"
    figure.savefig(path, dpi=120, bbox_inches="tight")
    return path


def main(source=False):
    """Fit, certify, print the times, and the source if that is wanted; return 0 if both derivatives hold."""
    measured, species = penguins()
    mm = measured[:, [BILL_DEPTH, FLIPPER_LENGTH]]
    centre, scale = mm.mean(axis=0), mm.std(axis=0)
    X = (mm - centre) / scale
    print(f"{len(X)} penguins of the Palmer Archipelago (Gorman, Williams and Fraser 2014; CC0), "
          "two measurements each.")

    g = fad.jit(fad.value_and_grad(loss), compile="now")
    fit = minimize(g, start(X), args=(X,), jac=True, method="BFGS", options={"gtol": 1e-6})
    tell_fit(fit, standard_errors(fit.x, X, centre, scale), natural(fit.x, centre, scale))
    tell_species(fit.x, X, species)

    title("The certificate of the gradient")
    first = fad.certify(loss, fit.x + 0.01, X)
    print(first)
    title("The certificate of the Hessian")
    second = fad.certify(fad.grad(loss), fit.x + 0.01, X)
    print(second)

    if source:
        title("The gradient's source, as Numba compiles it")
        print(fad.source(g, fit.x, X))
    tell_times(g, fit.x, X)
    saved = picture(fit.x, X, mm, centre, scale)
    hint = "" if source else "\nThe gradient as Python: python -m fad --source"
    print(*[f"\nA picture of the fit: {saved}"] * bool(saved), hint, sep="")
    return 0 if first.ok and second.ok else 1
