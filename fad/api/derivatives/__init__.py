"""The transforms: gradients, products, Jacobians, vmap, and derivatives that users define.

    derivative, pullback, products            grad, jit, ...; pullbacks; jvp, vjp, hvp, linearize
    jacobian, jacobian_blocks, dependence     Jacobians and Hessians, and the way that costs least
    custom, custom_rules, tangent_rules, closure_conversion   custom_vjp, custom_jvp, checkpoint
    vmap, control                             batches; scan, cond, while_loop, ...
    functional, chunks                        fad.functional; sums over chunks of data
"""
