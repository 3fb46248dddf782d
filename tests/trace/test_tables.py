"""Tables of packages with arrays of their own (pandas), which functions read from outside: compiled, and never stale.

Each call is compared with Python's, between changes of the table in place and by another one.
"""
import gc
import os
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import fad

from .guards.test_guards import slopes
from .packages import installed, of_file

X = np.array([0.7, 1.3])
COLUMNS = """
import numpy as np

class Column:
    __array_priority__ = 10
    def __init__(self, values):
        self.own = values
    def __array__(self, dtype=None, copy=None):
        return self.own
    def __array_ufunc__(self, ufunc, method, *args, **kwargs):
        return Column(getattr(ufunc, method)(*[getattr(a, "own", a) for a in args], **kwargs))
    def __getitem__(self, k):
        return Column(self.own[k])
    def __len__(self):
        return len(self.own)
    def __iter__(self):
        return iter(self.own)
    def __gt__(self, least):
        return Column(self.own > least)
    @property
    def values(self):
        return self.own
    @property
    def item(self):
        return self.own.item
    def mean(self):
        return np.mean(self.own)
    def take(self):
        self.own = self.own[1:]
        return self.own[0]
    def draw(self):
        return np.random.normal()
    def longer(self, f):
        return Column(np.append(self.own, f(1.0)))
"""
OF_COLUMNS = {
    "its array": "np.sum(column.values * x[0]) * x[1]",
    "NumPy's array of it": "np.sum(np.asarray(column) * x[0]) * x[1]",
    "a ufunc": "np.log1p(column).values @ np.full(len(column), x[0]) * x[1]",
    "a number": "column.mean() * x[0] * x[1]",
    "a method of C": "column.item(1) * x[0] * x[1]",
    "its length": "len(column) * x[0] * x[1]",
    "its items": "sum([v * x[0] for v in column]) * x[1]",
    "a part": "column[1:].mean() * x[0] * x[1]",
    "a question": "x[0] * x[1] if (column > 2.0).values.any() else x[0]",
    "a class": "x[0] * x[1] if isinstance(column, type(holder.column)) else x[0]",
    "an attribute": "holder.column.mean() * x[0] * x[1]",
}
REFUSED = {"it changes": "column.take() * x[0] * x[1]", "it draws": "column.draw() * x[0] * x[1]",
           "it is given a function": "column.longer(lambda v: v).mean() * x[0] * x[1]",
           "it is left outside": "(kept.append(column[1:]), len(kept))[1] * x[0] * x[1]"}


def of_columns(folder, text):
    package = installed(folder, COLUMNS)
    module = of_file(folder, f"import numpy as np\nkept = []\ndef f(x): return {text}\n")
    module.column = package.Column(np.arange(4.0))
    module.holder = SimpleNamespace(column=package.Column(np.arange(3.0)))
    return module


@pytest.mark.parametrize("use", OF_COLUMNS)
def test_what_a_table_says_is_asked_at_each_call(use, tmp_path):
    module = of_columns(tmp_path, OF_COLUMNS[use])
    g = fad.value_and_grad(module.f, fallback=False, compile="never")
    for change in ("column.own = column.own + 1", "column.own[0] = 9.0", "column.own = column.own[:2]",
                   "holder.column.own[1] = 5.0", "column.own = np.arange(3)", "column = holder.column"):
        exec(change, vars(module))
        value, slope = g(X)
        assert np.isclose(value, module.f(X), rtol=1e-12), change
        np.testing.assert_allclose(slope, slopes(module.f, X), rtol=1e-6, err_msg=change)


def test_an_unchanged_table_keeps_its_program(tmp_path):
    module = of_columns(tmp_path, OF_COLUMNS["its array"])
    g = fad.value_and_grad(module.f, compile="never")
    for k in range(5):
        module.column.own[0] = k                              # other numbers are no other program
        g(X)
    assert g.traces == 1
    module.column.own = np.arange(7.0)
    assert np.isclose(g(X)[0], module.f(X)) and g.traces == 2
    module.column.own = np.arange(4.0)                        # the first program is for this length
    assert np.isclose(g(X)[0], module.f(X)) and g.traces == 2


@pytest.mark.parametrize("why", REFUSED)
def test_what_is_more_than_a_question_belongs_to_the_tape(why, tmp_path):
    module, other = (of_columns(tmp_path, REFUSED[why]) for _ in range(2))
    g = fad.value_and_grad(module.f)
    with pytest.warns(fad.FallbackWarning):
        for _ in range(2):
            np.random.seed(3)
            value = g(X)[0]
            np.random.seed(3)
            assert np.isclose(value, other.f(X))
    assert list(module.column) == list(other.column)
    assert [type(x).__name__ for x in module.kept] == [type(x).__name__ for x in other.kept]


def test_a_table_that_is_returned_is_pythons_own(tmp_path):
    module = of_columns(tmp_path, "(column.mean() * x[0] * x[1], column[1:])")
    g = fad.value_and_grad(module.f, has_aux=True)
    with pytest.warns(fad.FallbackWarning):
        (value, part), _ = g(X)
    assert type(part) is type(module.column) and np.isclose(value, module.f(X)[0])
    module.column.own[1] = 8.0
    assert list(g(X)[0][1]) == [8.0, 2.0, 3.0]


OF_PANDAS = {
    "columns": "np.sum((df['y'].values - x[0] * np.exp(-x[1] * df.t.to_numpy())) ** 2)",
    "rows by a condition": "np.sum(df.loc[df.g == 'a', 'y'].values * x[0]) * x[1]",
    "two columns": "np.sum(df[['t', 'w']].values @ x)",
    "numbers": "df.y.mean() * x[0] + df['w'].std() * x[1] + df.iloc[0]['y']",
    "groups": "sum([np.sum((d.y.values - x[0] * d.t.values) ** 2) * x[1] + len(k) for k, d in df.groupby('g')])",
    "shape": "df.shape[0] * x[0] + len(df.columns) * x[1]",
    "names": "sum([df[c].sum() for c in df.columns if c in 'tyq']) * x[0] * x[1]",
    "a column that may be there": "(df.q.sum() if hasattr(df, 'q') else 2.0) * x[0] + x[1]",
    "a question": "(0.0 if df.y.isna().any() else 1.0) * x[0] + x[1] ** 2",
    "its class": "x[0] * x[1] if type(df) is pd.DataFrame and isinstance(df.y, pd.Series) else x[0]",
    "a design": "np.sum(pd.get_dummies(df['g'], dtype=float).values[:, 0] * x[0]) * x[1]",
    "NumPy's functions": "np.mean(df.y) * x[0] + np.sum(np.log1p(df.w)) * x[1] + np.interp(0.5, df.t, df.w)",
    "operators": "((df.y - df.t) / df.w).values.sum() * x[0] * x[1]",
    "windows": "np.sum(df.y.rolling(3).mean().dropna().to_numpy() * x[0]) * x[1]",
    "a copy that is changed": "[d := df.copy(), d.shape[1], d.pop('y').sum() - d.shape[1]][2] * x[0] * x[1]",
    "an own array": "np.sum(df.y.values[weights > 0.5] * x[0]) * x[1]",
    "rows": "sum([(r.y - x[0] * r.t) ** 2 * x[1] for r in df.itertuples()])",
}
CHANGES = ("df.loc[0, 'y'] = 5.0", "df['y'] *= 2", "df = df[df.g != 'c'].reset_index(drop=True)",
           "df.loc[1, 'g'] = 'b'", "df.__init__(df.iloc[:-1])", "df['q'] = 7.0",
           "df['y'] = np.arange(len(df))", "df['y'] = df.y.astype(float)", "df.loc[2, 'y'] = np.nan",
           "df.columns = [*df.columns[:-1], 'z']", "pass")


@pytest.mark.parametrize("use", OF_PANDAS)
def test_a_table_of_pandas_is_asked_at_each_call(use, tmp_path):
    pd = pytest.importorskip("pandas")
    module = of_file(tmp_path, f"import numpy as np\nimport pandas as pd\ndef f(x): return {OF_PANDAS[use]}\n")
    rng = np.random.default_rng(3)
    module.df = pd.DataFrame({"t": np.linspace(0, 2, 9), "y": rng.normal(size=9), "w": rng.uniform(0.5, 1, 9),
                              "g": list("aabbccaab")})
    g = fad.value_and_grad(module.f, fallback=False, compile="never")
    for change in ("pass", *CHANGES):
        exec(change, vars(module))
        module.weights = np.linspace(0, 1, len(module.df))
        assert np.isclose(g(X)[0], module.f(X), rtol=1e-12, equal_nan=True), change


@pytest.mark.parametrize("change", ["df['y'] *= 2", "df.insert(0, f'k{len(df.columns)}', 1.0)", "df.y = df.y * 2",
                                    "for k in range(2): df.insert(0, f'k{len(df.columns)}', x[0] > 0)",
                                    "limit = 0.7; df = outer.query('t > @limit')",
                                    "call = 0.7; df = outer.query(expr='t > @call')"])
def test_who_changes_a_table_runs_on_the_tape(change, tmp_path):
    pd = pytest.importorskip("pandas")
    module = of_file(tmp_path, "import numpy as np\nimport pandas as pd\ndef f(x):\n"
                     f"    {'df = outer' if 'query' not in change else 'pass'}\n    {change}\n"
                     "    return np.sum(df.y.values * x[0]) * x[1] + df.shape[1]\n")

    def table():
        return pd.DataFrame({"t": np.linspace(0, 2, 5), "y": np.arange(5.0)})
    results = []
    for call in (fad.value_and_grad(module.f), lambda x: (module.f(x),)):
        module.outer = table()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fad.FallbackWarning)
            try:
                results.append(([call(X)[0] for _ in range(2)], module.outer))
            except pd.errors.UndefinedVariableError:
                assert "query" in change                      # pandas looks for it in the frame of fad
                return
    np.testing.assert_allclose(results[0][0], results[1][0], rtol=1e-12)
    pd.testing.assert_frame_equal(results[0][1], results[1][1])


@pytest.mark.parametrize("effect", ["df.to_csv(path, mode='a')", "df.info(buf=open(path, 'a'))",
                                    "df.y.to_csv(path, mode='a')"])
def test_what_a_table_writes_is_written_once_a_call(effect, tmp_path):
    pd = pytest.importorskip("pandas")
    module = of_file(tmp_path, f"import numpy as np\ndef f(x):\n    {effect}\n    return np.sum(df.y.values * x[0])\n")
    module.df = pd.DataFrame({"y": np.arange(5.0)})
    sizes = []
    for call in (module.f, fad.value_and_grad(module.f)):
        module.path = str(tmp_path / f"{len(sizes)}.txt")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(3):
                call(X)
        gc.collect()
        sizes.append(os.stat(module.path).st_size)
    assert sizes[0] == sizes[1] > 0


@pytest.mark.parametrize("made", ["pd.Series({'a': 1.5})['a']", "np.sum(pd.DataFrame({'k': [1.0, 2.0]}).k.values)",
                                  "np.sum(df.merge(pd.DataFrame({'g': [0, 1], 'k': [1.0, 2.0]}), on='g').k.values)",
                                  "pd.Series(df.g.values)[1]"])
def test_a_table_that_the_function_makes(made, tmp_path):
    """On the tape fad asked an object for __func__ before it was made: its own __getattr__ asked itself for ever."""
    pd = pytest.importorskip("pandas")
    module = of_file(tmp_path, f"import numpy as np\nimport pandas as pd\ndef f(x): return {made} * x[0]\n")
    module.df = pd.DataFrame({"g": [0, 1]})
    g = fad.grad(module.f, fallback=False)
    for _ in range(2):
        assert np.isclose(g(X)[0], module.f(X) / X[0]) and np.isclose(g.on_tape((X,), {})[0], module.f(X) / X[0])
        module.df.loc[1, "g"] = 0
