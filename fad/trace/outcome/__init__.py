"""The effects of a traced call.

    delivery    stores that each call of the program makes
    leaks       what is refused, since no program could leave it
    sharing     arguments that share memory
"""
