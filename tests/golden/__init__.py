"""Generated code, held as files: a change of the compiler shows as a difference that one can review."""
