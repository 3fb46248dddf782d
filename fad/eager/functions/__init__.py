"""Functions and methods of tensors, under PyTorch's names; each is one entry of the registry.

    registry    the table of functions and methods         composite, composites   several ops, one node
    creation, drawing, conversion   new tensors            attributes      size, device, pickling, ...
    pointwise, reductions, products, linalg, formulas      arithmetic
    shapes, joining, indexing, gathering, selections       where elements lie
    sorting, ranges, storage                               order; numbers in steps; memory and strides
"""
