"""The backend: the text it writes runs as Python and as machine code, and both agree with the interpreter."""
