"""Fifth floor: the functional API. jit, grad and its kin, products, Jacobians, vmap, custom rules, implicit functions.
"""
