"""Derivatives through solvers: roots, fits, integrals, trajectories, by the implicit function theorem.

    implicit, solved, solvers                 a solution's derivative from its equations; SciPy's solvers
    optimize, constrained, fits               fad.scipy.optimize; minimisers and fits within functions
    integrals, trajectories, trajectory_events   quad, odeint, solve_ivp
    riccati, schur, sparse_solves             equations and factors of matrices
"""
