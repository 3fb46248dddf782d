"""The fast part of the suite against the lowest and the highest versions that setup.cfg allows.

    python .ci/versions.py [3.11 ...] [--only lowest|highest]

runs it on each Python that setup.cfg names and this machine has. It says what it ran, and fails where a run does;
.ci/run calls it in a fresh checkout. The lowest versions are the bounds of `install_requires` themselves, the highest
what pip finds. The script needs the interpreters alone: it makes a virtual environment for each run in a temporary
folder.
"""
import argparse
import concurrent.futures
import configparser
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
LIMIT = 180                                                   # seconds for the tests of one run on two idle cores
FAST = """
    tests/api/test_malformed.py tests/api/test_transforms.py tests/eager/test_graph.py tests/eager/test_inplace.py
    tests/golden tests/house/test_import.py tests/kernels/test_numba_pipeline.py tests/kernels/test_powers.py
    tests/passes/test_pipeline.py tests/trace/test_draws.py tests/trace/test_text.py tests/trace/test_versions.py
    """.split()
TOOLS = ["pytest>=9", "pytest-xdist>=3", "hypothesis>=6"]
# Runs a command and prints the processor time it took: other programs of the machine do not count.
MEASURED = """import resource, subprocess, sys
code = subprocess.call(sys.argv[1:])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime)
sys.exit(code)"""


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
    pyenv = sorted(map(str, pathlib.Path.home().glob(f".pyenv/versions/{version}.*/bin/python")))
    candidates = [sys.executable, shutil.which(f"python{version}"), *pyenv]
    if shutil.which("uv"):
        candidates.append(_output(["uv", "python", "find", version]))
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    return next((c for c in candidates if c and _output([c, "-c", code]) == version), None)


def _output(command: list) -> str:
    """What a command prints; empty if it fails."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def installed(python: str, which: str, home: pathlib.Path) -> str:
    """Make an environment for this interpreter at home/python; why it failed, or nothing."""
    place = home / "python"
    subprocess.run([python, "-m", "venv", "--without-pip", place], check=True)
    wanted = [*requirements(which == "lowest"), *TOOLS]
    pip = [sys.executable, "-m", "pip", "--python", str(place / "bin" / "python"), "install", "-q"]
    ended = subprocess.run([*pip, "--disable-pip-version-check", "--only-binary=:all:", *wanted],
                           capture_output=True, text=True, check=False)
    return "FAILED to install: " + ended.stderr.strip().rpartition("\n")[2] if ended.returncode else ""


def run(home: pathlib.Path) -> str:
    """Run the fast part in the environment at home/python; how it ended."""
    own = str(home / "python" / "bin" / "python")
    known = _output([own, "-c", "import numba, numpy, scipy; "
                                "print(*[f'{m.__name__} {m.__version__}' for m in (numpy, numba, scipy)])"])
    environment = {**os.environ, "FAD_CACHE_DIR": str(home / "fad"), "NUMBA_CACHE_DIR": str(home / "numba"),
                   "PYTHONPATH": str(ROOT)}
    environment.pop("FAD_TEST_CACHES", None)
    tests = [own, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", *FAST]
    try:
        ended = subprocess.run([own, "-c", MEASURED, *tests], cwd=ROOT, env=environment, timeout=10 * LIMIT,
                               capture_output=True, text=True, check=False)
    except subprocess.TimeoutExpired:
        return f"FAILED: not done after {10 * LIMIT} s, {known}"
    output, _, seconds = ended.stdout.strip().rpartition("\n")
    said = output.rpartition("\n")[2]
    if ended.returncode:
        print(output[-6000:] + ended.stderr[-2000:])
        return f"FAILED: {said}, {known}"
    taken = float(seconds) / 2
    return f"{'FAILED: too long, ' if taken > LIMIT else ''}{said}, {taken:.0f} s on each of two cores, {known}"


def run_all(wanted: list) -> bool:
    """Run the fast part in each of these (version, interpreter, lowest or highest). Whether all passed.

    The next environment is made meanwhile.
    """
    passed = True
    with (tempfile.TemporaryDirectory(prefix="fad-versions-") as folder,
          concurrent.futures.ThreadPoolExecutor(1) as installer):
        homes = [pathlib.Path(folder, version, which) for version, _, which in wanted]
        made = [installer.submit(installed, *wanted[0][1:], homes[0])]
        for k, ((version, _, which), home) in enumerate(zip(wanted, homes)):
            failure = made[k].result()
            if k + 1 < len(wanted):
                made.append(installer.submit(installed, *wanted[k + 1][1:], homes[k + 1]))
            said = failure or run(home)
            shutil.rmtree(home)
            print(f"Python {version}, {which}: {said}", flush=True)
            passed &= "FAILED" not in said
    return passed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("versions", nargs="*", default=promised())
    parser.add_argument("--only", choices=("lowest", "highest"))
    asked = parser.parse_args()
    found = {version: interpreter(version) for version in asked.versions}
    for version in [version for version, python in found.items() if python is None]:
        print(f"Python {version}: NOT RUN, no such interpreter here: take it out of setup.cfg, or install it",
              flush=True)
    bounds = ("lowest", "highest") if asked.only is None else (asked.only,)
    passed = run_all([(version, python, which) for version, python in found.items() if python for which in bounds])
    return int(not passed or None in found.values())


if __name__ == "__main__":
    sys.exit(main())
