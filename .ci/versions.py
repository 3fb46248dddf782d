"""The fast part of the suite against the lowest and the highest versions that setup.cfg allows, on each Python that it names and this machine has.

    python .ci/versions.py [3.11 ...] [--only lowest|highest]      run by .ci/run in a fresh checkout; says what was run, and fails where a run does

The lowest versions are the bounds of `install_requires` themselves, the highest what pip finds. Needs nothing but the interpreters: a virtual
environment is made for each run, in a temporary folder.
"""
import argparse
import configparser
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
LIMIT = 180                                                   # seconds that the tests of one run may take on two cores that have nothing else to do
FAST = """tests/kernels/test_powers.py tests/kernels/test_numba_pipeline.py tests/api/test_malformed.py tests/api/test_transforms.py tests/trace/test_versions.py
          tests/trace/test_draws.py tests/trace/test_text.py tests/golden tests/passes/test_pipeline.py tests/eager/test_graph.py tests/eager/test_inplace.py
          tests/house/test_import.py""".split()
TOOLS = ["pytest>=9", "pytest-xdist>=3", "hypothesis>=6"]


def settings() -> configparser.ConfigParser:
    """setup.cfg."""
    found = configparser.ConfigParser()
    found.read(ROOT / "setup.cfg", encoding="utf-8")
    return found


def promised() -> list:
    """The versions of Python that the classifiers name."""
    return re.findall(r"Python :: (3\.\d+)", settings()["metadata"]["classifiers"])


def requirements(lowest: bool) -> list:
    """What pip is asked for."""
    bounds = settings()["options"]["install_requires"].split("\n")
    return [bound.strip().replace(">=", "==", 1) if lowest else bound.strip() for bound in bounds if bound.strip()]


def interpreter(version: str) -> "str | None":
    """A Python of this version: this one, one on the path, one of pyenv's, one of uv's; None if there is none."""
    candidates = [sys.executable, shutil.which(f"python{version}"), *sorted(map(str, pathlib.Path.home().glob(f".pyenv/versions/{version}.*/bin/python")))]
    if shutil.which("uv"):
        candidates.append(_output(["uv", "python", "find", version]))
    return next((c for c in candidates if c and _output([c, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]) == version), None)


def _computed() -> float:
    """Seconds that processes started here have computed: another measure than the clock's on a machine that does other things too."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _output(command: list) -> str:
    """What a command prints; empty if it fails."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def run(python: str, which: str, home: pathlib.Path) -> str:
    """Run the fast part under this interpreter; how it ended."""
    place = home / "python"
    subprocess.run([python, "-m", "venv", place], check=True)
    own = str(place / "bin" / "python")
    pip = [own, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--only-binary=:all:", *requirements(which == "lowest"), *TOOLS]
    installed = subprocess.run(pip, capture_output=True, text=True, check=False)
    if installed.returncode:
        return "FAILED to install: " + installed.stderr.strip().rpartition("\n")[2]
    known = _output([own, "-c", "import numba, numpy, scipy; print('numpy', numpy.__version__, 'numba', numba.__version__, 'scipy', scipy.__version__)"])
    environment = {**os.environ, "FAD_CACHE_DIR": str(home / "fad"), "NUMBA_CACHE_DIR": str(home / "numba"), "PYTHONPATH": str(ROOT)}
    environment.pop("FAD_TEST_CACHES", None)
    begun = _computed()
    try:
        ended = subprocess.run([own, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", *FAST], cwd=ROOT, env=environment, timeout=10 * LIMIT,
                               capture_output=True, text=True, check=False)
    except subprocess.TimeoutExpired:
        return f"FAILED: not done after {10 * LIMIT} s, {known}"
    said = ended.stdout.strip().rpartition("\n")[2]
    if ended.returncode:
        print(ended.stdout[-6000:] + ended.stderr[-2000:])
        return f"FAILED: {said}, {known}"
    taken = (_computed() - begun) / 2
    return f"{'FAILED: too long, ' if taken > LIMIT else ''}{said}, {taken:.0f} s on each of two cores, {known}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("versions", nargs="*", default=promised())
    parser.add_argument("--only", choices=("lowest", "highest"))
    asked = parser.parse_args()
    failed = False
    for version in asked.versions:
        python = interpreter(version)
        if python is None:
            print(f"Python {version}: NOT RUN, no such interpreter here: take it out of setup.cfg, or install it", flush=True)
            failed = True
            continue
        for which in ("lowest", "highest") if asked.only is None else (asked.only,):
            with tempfile.TemporaryDirectory(prefix="fad-versions-") as home:
                said = run(python, which, pathlib.Path(home))
            print(f"Python {version}, {which}: {said}", flush=True)
            failed |= "FAILED" in said
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
