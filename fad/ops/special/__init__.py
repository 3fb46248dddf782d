"""The special functions of SciPy, family by family, each with its derivative."""
