"""A state machine plays user: operations, views, changes in place, detach, no_grad, hooks, backward once and twice, in
any order.

The model beside it is naive: each array carries its whole Jacobian by the leaves as an array of its own, views are
NumPy's views of both, so that what shares memory shares derivatives. It knows no graph and no order; it knows which
memory was read where a product or a function may need it again, and so when a change in place may be refused.
"""
import numpy as np
import pytest

import fad

LEAF_SHAPE = (3, 4)
LEAVES = 2
SIZE = LEAVES * 12


class Memory:
    """What views and detached tensors share: how often it was changed, whether a recorded step may have saved it."""

    def __init__(self):
        self.version, self.saved, self.of_leaf = 0, False, False


class Family:
    """What a tensor and its views share: whether they require a gradient."""

    def __init__(self, requires: bool):
        self.requires = requires


class Naive:
    """Values v, Jacobian j (one axis more), and what they share with others."""

    def __init__(self, v, j, memory=None, family=None):
        self.v, self.j = v, j
        self.memory, self.family = memory or Memory(), family or Family(False)

    def view(self, take):
        return Naive(take(self.v), take(self.j), self.memory, self.family)


class Player:
    """A tensor program and the model of it, step by step."""

    def __init__(self, seed: int):
        self.rng = np.random.default_rng(seed)
        self.refusable = False
        self.pool = [self.leaf(k) for k in range(LEAVES)] + [self.constant()]
        self.leaves = self.pool[:LEAVES]

    # -- what there is to begin with ---------------------------------------------------------------

    def leaf(self, k: int):
        v, j = self.rng.standard_normal(LEAF_SHAPE), np.zeros((*LEAF_SHAPE, SIZE))
        j.reshape(12, SIZE)[np.arange(12), 12 * k + np.arange(12)] = 1.0
        memory, family = Memory(), Family(True)
        memory.of_leaf = True
        return fad.tensor(v, requires_grad=True), Naive(v.copy(), j, memory, family)

    def constant(self):
        v = self.rng.standard_normal(LEAF_SHAPE)
        return fad.tensor(v), Naive(v.copy(), np.zeros((*LEAF_SHAPE, SIZE)))

    def pick(self, shape=None):
        fitting = [p for p in self.pool if shape is None or p[1].v.shape == shape]
        return fitting[self.rng.integers(len(fitting))]

    # -- steps -------------------------------------------------------------------------------------

    def step(self):
        moves = [self.product, self.total, self.sine, self.exponential, self.slice, self.transposed, self.row,
                 self.scaled_in_place, self.added_in_place, self.item_set, self.masked, self.detached, self.silent,
                 self.silently_changed, self.hooked, self.sine_in_place]
        moves[self.rng.integers(len(moves))]()
        for t, n in self.pool:
            np.testing.assert_allclose(t.detach().numpy(), n.v, rtol=1e-10, atol=1e-12)
            assert t.requires_grad == n.family.requires and t._version == n.memory.version

    def made(self, t, v, j, *sources, saves=()):
        """A new tensor computed from others; `saves` are those whose values the step may keep."""
        recorded = any(n.family.requires for n in sources)
        result = Naive(v, j, family=Family(recorded))
        if recorded:
            for n in saves:
                (result if n is None else n).memory.saved = True
        self.pool.append((t, result))

    def product(self):
        (a, m) = self.pick()
        (b, n) = self.pick(m.v.shape)
        self.made(a * b, m.v * n.v, m.j * n.v[..., None] + n.j * m.v[..., None], m, n, saves=(m, n))

    def total(self):
        (a, m), c = self.pick(), float(self.rng.uniform(0.5, 1.5))
        (b, n) = self.pick(m.v.shape)
        self.made(a + b * c, m.v + n.v * c, m.j + n.j * c, m, n)

    def sine(self):
        a, n = self.pick()
        self.made(fad.sin(a), np.sin(n.v), n.j * np.cos(n.v)[..., None], n, saves=(n,))

    def exponential(self):
        a, n = self.pick()
        v = np.exp(np.sin(n.v))
        self.made(a.sin().exp(), v, n.j * (v * np.cos(n.v))[..., None], n, saves=(n, None))

    def slice(self):
        a, n = self.pick()
        if n.v.ndim and n.v.shape[0] > 1:
            k = int(self.rng.integers(n.v.shape[0] - 1))
            self.pool.append((a[k:], n.view(lambda x: x[k:])))

    def transposed(self):
        a, n = self.pick()
        if n.v.ndim == 2:
            self.pool.append((a.T, n.view(lambda x: x.swapaxes(0, 1))))

    def row(self):
        a, n = self.pick()
        if n.v.ndim == 2:
            k = int(self.rng.integers(n.v.shape[0]))
            self.pool.append((a[k], n.view(lambda x: x[k])))

    # -- in place ----------------------------------------------------------------------------------

    def changed(self, change, n: Naive, update, *sources) -> None:
        """A change of n's memory by tensors: refused for what leaves hold, else done, and recorded where one of them
        requires a gradient."""
        if n.memory.of_leaf and n.family.requires:
            with pytest.raises(RuntimeError, match="leaf Variable"):
                change()
            return
        self.refusable |= n.memory.saved
        change()
        update()
        n.memory.version += 1
        n.family.requires |= any(s.family.requires for s in sources)
        for s in sources:
            s.memory.saved |= n.family.requires

    def scaled_in_place(self):
        (a, n), c = self.pick(), float(self.rng.uniform(0.5, 1.5))

        def update():
            n.v *= c
            n.j *= c
        self.changed(lambda: a.mul_(c), n, update)

    def added_in_place(self):
        a, n = self.pick()
        b, m = self.pick(n.v.shape)
        if m.memory is n.memory:
            return

        def update():
            n.v += m.v
            n.j += m.j
        self.changed(lambda: a.add_(b), n, update, m)

    def sine_in_place(self):
        a, n = self.pick()

        def update():
            n.j *= np.cos(n.v)[..., None]
            n.v[...] = np.sin(n.v)
        self.changed(a.sin_, n, update)
        self.refusable |= n.family.requires                 # what it was is needed, and gone

    def item_set(self):
        a, n = self.pick()
        if n.v.ndim != 2:
            return
        k = int(self.rng.integers(n.v.shape[0]))
        b, m = self.pick(n.v.shape)
        if m.memory is n.memory:
            return

        def change():
            a[k] = b[k]

        def update():
            n.v[k], n.j[k] = m.v[k], m.j[k]
        self.changed(change, n, update, m)

    def masked(self):
        a, n = self.pick()
        mask = self.rng.random(n.v.shape) < 0.3

        def change():
            a[mask] = 0.25

        def update():
            n.v[mask], n.j[mask] = 0.25, 0.0
        self.changed(change, n, update)

    # -- outside the graph -------------------------------------------------------------------------

    def detached(self):
        a, n = self.pick()
        self.pool.append((a.detach(), Naive(n.v, np.zeros_like(n.j), n.memory, Family(False))))

    def silent(self):
        a, n = self.pick()
        with fad.no_grad():
            self.pool.append((a * 2.0, Naive(n.v * 2.0, np.zeros_like(n.j))))

    def silently_changed(self):
        a, n = self.pick()
        with fad.no_grad():
            a.add_(0.5)
        self.refusable |= n.memory.saved
        n.v += 0.5
        n.memory.version += 1

    def hooked(self):
        (a, n), c = self.pick(), float(self.rng.uniform(0.5, 1.5))
        t = a * 1.0
        if n.family.requires:
            t.register_hook(lambda g: g * c)
        self.made(t, n.v * 1.0, n.j * c, n)

    # -- the end -----------------------------------------------------------------------------------

    def finish(self) -> str:
        """backward once, or twice; the leaves' gradients are the model's."""
        chosen = [p for p in self.pool if self.rng.random() < 0.6] or self.pool[:1]
        loss, expected = fad.zeros(()), np.zeros(SIZE)
        for t, n in chosen:
            w = self.rng.standard_normal(n.v.shape)
            loss = loss + (t * fad.tensor(w)).sum()
            expected += np.tensordot(w, n.j, n.v.ndim)
        if not loss.requires_grad:
            return "constant"
        passes = int(self.rng.integers(1, 3))
        try:
            for k in range(passes):
                loss.backward(retain_graph=k < passes - 1)
        except RuntimeError as error:
            assert "modified by an inplace operation" in str(error) and self.refusable, error
            return "refused"
        for k, (t, _) in enumerate(self.leaves):
            got = np.zeros(LEAF_SHAPE) if t.grad is None else t.grad.numpy()
            np.testing.assert_allclose(got.ravel(), passes * expected[12 * k:12 * k + 12], rtol=1e-9, atol=1e-10)
        return "compared"


def play(seed: int, steps: int) -> str:
    player = Player(seed)
    for _ in range(steps):
        player.step()
    return player.finish()


@pytest.mark.parametrize("seed", range(0, 300, 10))
def test_player_against_naive_model(seed):
    for k in range(seed, seed + 10):
        play(k, 14)


def test_most_games_are_compared():
    ends = [play(seed, 8) for seed in range(1000, 1060)]
    assert ends.count("compared") > 30
