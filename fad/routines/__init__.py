"""Functions of SciPy's whose steps depend on values, written in plain NumPy: they are captured as the user's own functions are."""
