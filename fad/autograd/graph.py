"""fad.autograd.graph: nodes, and what may be done with them."""
from ..eager.graph import GradientEdge as GradientEdge
from ..eager.graph import _current_autograd_node as _current_autograd_node
from ..eager.graph import _current_graph_task_execution_order as _current_graph_task_execution_order
from ..eager.graph import _current_graph_task_id as _current_graph_task_id
from ..eager.graph import _will_engine_execute_node as _will_engine_execute_node
from ..eager.graph import allow_mutation_on_saved_tensors as allow_mutation_on_saved_tensors
from ..eager.graph import get_gradient_edge as get_gradient_edge
from ..eager.graph import increment_version as increment_version
from ..eager.graph import register_multi_grad_hook as register_multi_grad_hook
from ..eager.node import Node as Node
from ..eager.saved import disable_saved_tensors_hooks as disable_saved_tensors_hooks
from ..eager.saved import save_on_cpu as save_on_cpu
from ..eager.saved import saved_tensors_hooks as saved_tensors_hooks
