"""The loop IR: equations become steps with iteration spaces, and steps become few passes over few arrays.

    lowering, lower, lower_arrays, lower_control, views   equations become steps
    loop_ir, indexmap, conflicts      steps, affine subscripts, the dependence test
    fuse, pass_partitioning, fission, loop_reversal       which steps share loops
    shifted_fusion, shift_choice, shifted_loop, register_rotation   loops that read each other at shifted places
    simd_blocking, array_contraction, privatisation, buffer_reuse   blocks, and arrays that shrink or share memory
    products, reductions, numbers     BLAS; sums and scans; literals in their dtype
"""
