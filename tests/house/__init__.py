"""The house around the code: floors, sizes, words, documentation, import time."""
