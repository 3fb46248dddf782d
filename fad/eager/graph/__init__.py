"""The graph: nodes, what they save, and how an operation is recorded.

    record      runs an op and makes its node              node, op_node   nodes; nodes that are ops of the table
    fast        the hot path of elementwise ops            saved, plan     saved tensors; which ones a rule reads
    inplace     changes in place, version counters         node_attributes, saved_names   what nodes show
    views, view_kinds   views and their history
    single_node one node in place of several               draw, printing  pictures of graphs, texts of tensors
"""
