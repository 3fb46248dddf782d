"""Functions of the floors above that routines ask for: solved.py, trajectories.py, sparse_solves.py of api/solvers
put them here.
"""
from collections.abc import Callable

held: Callable              # a function that no derivative goes through
stopped: Callable           # a value that no derivative goes through
jacobian_at: Callable       # the matrix of derivatives of a function of a vector
solution: Callable          # a solution of equations, with the derivatives that these give it
by_lsoda: Callable          # the times and the solution of solve_ivp by LSODA
by_lsoda_until: Callable    # the same with events
solve_sparse: Callable      # the solution of a sparse system
