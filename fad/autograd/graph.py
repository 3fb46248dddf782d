"""fad.autograd.graph: nodes, and what may be done with them."""
from ..eager.engine.graph_api import GradientEdge as GradientEdge
from ..eager.engine.graph_api import _current_autograd_node as _current_autograd_node
from ..eager.engine.graph_api import _current_graph_task_execution_order as _current_graph_task_execution_order
from ..eager.engine.graph_api import _current_graph_task_id as _current_graph_task_id
from ..eager.engine.graph_api import _will_engine_execute_node as _will_engine_execute_node
from ..eager.engine.graph_api import allow_mutation_on_saved_tensors as allow_mutation_on_saved_tensors
from ..eager.engine.graph_api import get_gradient_edge as get_gradient_edge
from ..eager.engine.graph_api import increment_version as increment_version
from ..eager.engine.graph_api import register_multi_grad_hook as register_multi_grad_hook
from ..eager.graph.node import Node as Node
from ..eager.graph.saved import disable_saved_tensors_hooks as disable_saved_tensors_hooks
from ..eager.graph.saved import save_on_cpu as save_on_cpu
from ..eager.graph.saved import saved_tensors_hooks as saved_tensors_hooks
