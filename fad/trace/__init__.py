"""Fourth floor: from a Python function to a Func, by running it once on tracers."""
