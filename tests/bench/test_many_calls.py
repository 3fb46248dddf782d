"""Programs that call one function many times: what is compiled grows with the function, not with its calls, and runs as
fast. The table is many_calls.py's."""
import fad

from .many_calls import compiled, markov
from .timing import medians


def test_more_texts_cost_a_few_lines_each():
    lines = [fad.source(fad.value_and_grad(f), *args).count("\n") for f, args in (markov(16), markov(32))]
    assert lines[1] - lines[0] <= 16 * 25                    # as they are, each adds 140


def test_what_is_outlined_runs_as_fast():
    whole, outlined = compiled("HMM, 4 texts", True), compiled("HMM, 4 texts", False)
    assert outlined[2] < whole[2]
    ratios = []
    while len(ratios) < 3 and not (ratios and min(ratios) <= 1.2):
        one, other = medians([whole[0], outlined[0]], rounds=9, budget=0.3)
        ratios.append(other / one)
    assert min(ratios) <= 1.2
