"""Python's objects as a trace finds them: what can change, and how it is read and put back.

    containers     lists, dicts, sets, objects, variables    opaque_state   what has no fields: bytes, context variables
    draws          generators of random numbers              originals      what a stand-in stands for
"""
