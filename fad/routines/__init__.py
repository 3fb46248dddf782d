"""Functions of SciPy whose steps depend on values, in plain NumPy: fad captures them like the user's own functions."""
