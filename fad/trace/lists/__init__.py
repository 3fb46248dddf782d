"""Lists of captured code: Python's own, or in rows, one array for each leaf of an element.

    items       Python's own list                          rows        the list in rows
    elements    types of elements, and their arrays        appending   room for what a loop appends
    export      lists as others see them
    reorder     elements in an order that data decides     distributions   draws with traced parameters
"""
