"""Fourth floor: the backend. A Func is interpreted (NumPy), or lowered to loops, printed as Python, compiled and kept.

    lower      equations to steps with iteration spaces        phases, fuse, lanes     steps to nests of loops
    reuse      which variables share an array                  homes                   what of an array is stored
    emit       nests to text                                   compile, cache          text to machine code
    runner     the tier of a call                              program, fastcall       one traced function, its calls
"""
