"""NumPy's own tests, with each call repeated under fad.jit (see shadow.py)."""
import subprocess
import sys

MODULES = ["numpy.lib.tests.test_twodim_base", "numpy.lib.tests.test_histograms"]


def test_calls_in_numpys_own_tests_have_its_results():
    done = subprocess.run([sys.executable, "-m", "tests.fuzz.shadow", *MODULES], stdout=subprocess.PIPE, text=True)
    last = done.stdout.splitlines()[-1]
    assert last.endswith("compared, 0 different") and int(last.split()[0]) > 400, done.stdout[-3000:]
