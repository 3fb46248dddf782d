"""The backward pass that is running: which node is being evaluated, which will be, and in what order."""

from .node import Node, named
from .state import now, state


def _current_graph_task_id() -> int:
    """The number of the backward pass that is running in this thread; -1 if there is none."""
    return -1 if state.run is None else state.run.number


def _current_autograd_node() -> "Node | None":
    """The node that is being evaluated in this thread; None outside backward."""
    return None if state.run is None or state.run.node is None else named(state.run.node)


def _will_engine_execute_node(node: object) -> bool:
    """Whether the backward pass that is running evaluates a node."""
    if not isinstance(node, Node):
        raise RuntimeError(f"_will_engine_execute_node expects an grad_fn, but got {type(node).__name__}")
    run = state.run
    if run is None:
        raise RuntimeError("_get_should_execute_nodes should only be called during the backward pass")
    if not run.accumulate and any(not target.next for target, _ in run.wanted):
        raise RuntimeError("A leaf node was passed to _will_engine_execute_node but we are currently running "
                           "autograd.grad(). This is currently not supported.")
    return run.reaches(node)


def _current_graph_task_execution_order() -> list:
    """The nodes that the backward pass evaluates, in the order in which it does."""
    run = state.run
    if run is None:
        raise RuntimeError("_current_graph_task_execution_order should only be called during the backward pass")
    if now().multithreading:
        raise RuntimeError("_current_graph_task_execution_order expects the current backward to be executed with "
                           "multithreading disabled, e.g. by "
                           "running: with torch.autograd.set_multithreading_enabled(False):")
    return [named(node) for node in run.order()]
