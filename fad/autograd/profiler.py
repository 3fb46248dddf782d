"""fad.autograd.profiler: where the time goes."""
from ..eager.events import EventList as EventList
from ..eager.events import FunctionEvent as FunctionEvent
from ..eager.events import FunctionEventAvg as FunctionEventAvg
from ..eager.profiler import emit_itt as emit_itt
from ..eager.profiler import emit_nvtx as emit_nvtx
from ..eager.profiler import load_nvprof as load_nvprof
from ..eager.profiler import profile as profile
from ..eager.profiler import record_function as record_function
