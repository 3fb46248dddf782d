"""The benchmark's programs are right in fad, and the page of measured times has its tables. Nothing is timed here."""
import numpy as np
import pytest

import fad

from . import peers, report
from .calls import ROWS
from .programs import PROGRAMS

TEXT = report.PAGE.read_text(encoding="utf-8")


def flat(answer):
    return np.concatenate([np.ravel(leaf) for leaf in peers.leaves(answer)])


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_are_right(name):
    """A directional derivative is that of central differences."""
    program = PROGRAMS[name]
    args = program.arguments(small=True)
    answer = peers.in_fad(program, args, fad, compile="never")()
    if program.what == "rows":
        return np.testing.assert_allclose(answer[0], fad.jacobian(program.f)(*(x[0] for x in args)), rtol=1e-10)
    if program.what == "call":
        return np.testing.assert_allclose(answer, blocks_by_differences(*args), rtol=1e-5, atol=1e-5)
    chosen = program.argnums if isinstance(program.argnums, tuple) else (program.argnums,)
    rng = np.random.default_rng(1)
    directions = peers.mapped(lambda x: rng.standard_normal(np.shape(x)), tuple(args[k] for k in chosen))

    def moved(h):
        new = list(args)
        for k, d in zip(chosen, directions):
            new[k] = {n: v + h * d[n] for n, v in args[k].items()} if isinstance(d, dict) else args[k] + h * d
        return program.f(*new)
    slope = (moved(1e-6) - moved(-1e-6)) / 2e-6
    if program.what == "gradient":
        np.testing.assert_allclose(answer[0], program.f(*args), rtol=1e-12)
        found = flat(answer[1]) @ flat(directions)
    else:
        found = answer @ directions[0]
    np.testing.assert_allclose(found, slope, rtol=1e-6, atol=1e-6)


def blocks_by_differences(cameras, points, weights, observed, seen):
    residual = PROGRAMS["bundle adjustment by vmap, 10,000 blocks"].f
    z = np.concatenate((cameras[observed[:, 0]], points[observed[:, 1]], weights[:, None]), axis=1)
    return np.stack([np.stack([(residual(row + h, s) - residual(row - h, s)) / 2e-6 for h in 1e-6 * np.eye(15)], axis=1)
                     for row, s in zip(z, seen)])


def test_there_are_programs_enough():
    assert len(PROGRAMS) >= 27
    assert all(set(p.texts) | set(p.left_out) <= set(report.OTHERS) and not set(p.texts) & set(p.left_out)
               for p in PROGRAMS.values())


@pytest.mark.parametrize("name", report.SECTIONS)
def test_the_page_has_each_section_once(name):
    assert len(report.marked(name).findall(TEXT)) == 1


@pytest.mark.parametrize("name, rows",
                         [("libraries", PROGRAMS), ("first calls", PROGRAMS), ("calls", ROWS),
                          ("by hand", report.BY_HAND.values()),
                                        ("primal", [name.replace("_", " ") for name in report.plain.cases()])])
def test_the_tables_have_the_rows_of_the_programs(name, rows):
    section = report.marked(name).search(TEXT)[0]
    found = [line.split(" | ")[0].removeprefix("| ") for line in section.splitlines() if line.startswith("| ")]
    missing = set(rows) - set(found)
    more = set(found) - set(rows) - {"program", "arguments", "---",
                                     "Gaussian mixture, 1,000 points, d = 10, 25 components"}
    assert not missing and not more


def test_a_section_is_written_between_its_markers():
    page = "a\n<!-- measured: calls -->\nold\n<!-- end -->\nb\n"
    assert report.written(page, "calls", "| 1 | \\1 |") == "a\n<!-- measured: calls -->\n| 1 | \\1 |\n<!-- end -->\nb\n"


def test_a_section_keeps_its_table_without_a_library(monkeypatch, tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text("<!-- measured: libraries -->\nold\n<!-- end -->\n", encoding="utf-8")
    monkeypatch.setattr(report, "PAGE", page)
    monkeypatch.setattr(peers, "present", lambda: ["fad"])
    report.main(["libraries"])
    assert "\nold\n" in page.read_text(encoding="utf-8") and "JAX" in capsys.readouterr().err
