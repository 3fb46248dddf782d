"""First floor: the intermediate representation. Types, graph, ops as records, the builder, the checker, the printer."""
