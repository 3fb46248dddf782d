"""From text to answers: compilation, the disk cache, tiers, and the call of a kernel.

    compile, kernel, cache, entry_folder, stored_code   machine code, in memory and on disk
    executable, runner, tiers   a program; interpreted at first, compiled when it is hot
    fastcall, kernel_arrays, prelude, delivery, callbacks   a call: arguments, calls of Python around the kernel
    export, ccall               programs as modules and as C functions
"""
