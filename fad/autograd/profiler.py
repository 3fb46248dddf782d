"""fad.autograd.profiler: where the time goes."""
from ..eager.engine.events import EventList as EventList
from ..eager.engine.events import FunctionEvent as FunctionEvent
from ..eager.engine.events import FunctionEventAvg as FunctionEventAvg
from ..eager.engine.profiler import emit_itt as emit_itt
from ..eager.engine.profiler import emit_nvtx as emit_nvtx
from ..eager.engine.profiler import load_nvprof as load_nvprof
from ..eager.engine.profiler import profile as profile
from ..eager.engine.profiler import record_function as record_function
