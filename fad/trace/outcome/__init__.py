"""The effects of a traced call.

    delivery    stores that each call of the program makes
    left_inside values that stay inside the program, in objects that were there before
    leaks       what is refused, since no program could leave it
    sharing     arguments that share memory
"""
