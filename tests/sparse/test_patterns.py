"""Patterns of any kind are found by sweeps of bit sets, coloured, printed and drawn."""
import xml.etree.ElementTree

import numpy as np
import pytest
import scipy.sparse

from fad.sparse.colouring import FEW, colour_columns, colour_symmetric, count_of, is_read_in_column
from fad.sparse.pattern import Pattern
from fad.sparse.probing import find_pattern


def matrices():
    rng = np.random.default_rng(0)
    for n in (1, 2, 63, 64, 65, 300, 1000):
        yield scipy.sparse.eye_array(n, dtype=bool)
        yield scipy.sparse.diags_array([np.ones(n), np.ones(max(0, n - 1)), np.ones(max(0, n - 1))], offsets=[0, 1, -1],
                                       shape=(n, n)).astype(bool)
        yield scipy.sparse.csr_array(rng.random((n + 3, n)) < 3 / n)
        yield scipy.sparse.csr_array(rng.random((5, n)) < 0.5)
    yield scipy.sparse.csr_array(np.ones((40, 200), bool))
    arrow = np.eye(130, dtype=bool)
    arrow[0], arrow[:, 0] = True, True
    yield scipy.sparse.csr_array(arrow)
    yield scipy.sparse.csr_array((7, 90), dtype=bool)


def sweep_of(matrix, count):
    """The sets of the rows, from those of the columns; count[0] grows with each sweep."""
    dense = matrix.toarray().astype(bool)

    def sweep(sets):
        count[0] += 1
        return np.bitwise_or.reduce(np.where(dense, sets, 0), axis=1)
    return sweep


def test_patterns_of_any_kind_are_found():
    for matrix in matrices():
        found = find_pattern(sweep_of(matrix, [0]), *matrix.shape)
        assert np.array_equal(found.toarray(), matrix.toarray().astype(bool))
        assert found.has_canonical_format


def test_a_banded_matrix_takes_few_sweeps():
    n, count = 2000, [0]
    find_pattern(sweep_of(scipy.sparse.diags_array([np.ones(n), np.ones(n - 1)], offsets=[0, 1]), count), n, n)
    assert count[0] <= 4


def test_columns_of_one_colour_share_no_row():
    for matrix in matrices():
        colours = colour_columns(scipy.sparse.csr_array(matrix))
        for c in range(count_of(colours)):
            assert matrix.toarray()[:, colours == c].sum(axis=1).max(initial=0) <= 1


def test_entries_of_symmetric_matrices_stand_alone():
    for matrix in matrices():
        if matrix.shape[0] == matrix.shape[1]:
            dense = (matrix + matrix.T).toarray().astype(bool)
            colours = colour_symmetric(scipy.sparse.csr_array(dense))
            rows, columns = np.nonzero(dense)
            mirrored = is_read_in_column(rows, columns, colours)
            read, seeded = np.where(mirrored, columns, rows), np.where(mirrored, rows, columns)
            for i, j in zip(read, seeded):
                assert dense[i, colours == colours[j]].sum() == 1


def test_colours_of_known_matrices():
    n = 60
    tridiagonal = scipy.sparse.diags_array([np.ones(n), np.ones(n - 1), np.ones(n - 1)],
                                           offsets=[0, 1, -1]).tocsr().astype(bool)
    arrow = scipy.sparse.csr_array(np.eye(n, dtype=bool) + (np.arange(n) == 0) + (np.arange(n) == 0)[:, None])
    assert count_of(colour_columns(tridiagonal)) == 3
    assert count_of(colour_columns(arrow)) == n and count_of(colour_symmetric(arrow)) == 2


def test_large_patterns_are_coloured_by_machine_code_in_the_same_way(monkeypatch):
    rng = np.random.default_rng(2)
    matrix = scipy.sparse.csr_array(rng.random((300, 300)) < 0.02)
    both = scipy.sparse.csr_array((matrix + matrix.T).astype(bool))
    plain = colour_columns(matrix), colour_symmetric(both)
    monkeypatch.setattr("fad.sparse.colouring.FEW", 0)
    assert FEW > 0
    for a, b in zip(plain, (colour_columns(matrix), colour_symmetric(both))):
        np.testing.assert_array_equal(a, b)


def test_a_pattern_shows_itself(tmp_path):
    pattern = Pattern(np.tril(np.ones((3, 3))))
    assert repr(pattern) == "3 x 3, 6 places (67 %)"
    assert str(pattern).splitlines()[1:] == ["•··", "••·", "•••"]
    assert len(str(Pattern(scipy.sparse.eye_array(5000))).splitlines()) == 41
    path = tmp_path / "pattern.svg"
    text = pattern.draw(path)
    assert path.read_text(encoding="utf-8") == text
    squares = [e for e in xml.etree.ElementTree.fromstring(text) if e.tag.endswith("rect")]
    assert len(squares) == 7 and pattern._repr_svg_() == text


def test_patterns_are_compared_by_their_places():
    a = np.array([[1.0, 0.0], [2.0, 3.0]])
    assert Pattern(a) == Pattern(scipy.sparse.csc_array(a)) and Pattern(a) != Pattern(a.T)
    assert not Pattern(a).is_symmetric and Pattern(a + a.T).is_symmetric
    assert Pattern(a).nnz == 3 and Pattern(a).shape == (2, 2) and Pattern(a).tocsr().dtype == bool
    with pytest.raises(TypeError):
        hash(Pattern(a))
