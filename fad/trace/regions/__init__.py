"""Branches and loops on traced values: a body is traced into a region, and what it changes is joined.

    branch      both sides of a test                       branch_aliases   which arrays may be one behind it
    roll        a loop as one region                       carried     what it carries, found by trials
    unroll      a loop iteration by iteration              recursion   functions that call themselves
    recall      what a trial showed of inner loops
    widening    first iterations in the types of the rest  joins       what follows, in each type of a join
    identity    which container a name stands for          may_alias   what iterations hand on that may be one
    optional    None on some paths
    handlers    try and with                               growth      integers beyond 64 bits
"""
