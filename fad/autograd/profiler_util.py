"""fad.autograd.profiler_util: what a profile consists of."""
from ..eager.engine.events import EventList as EventList
from ..eager.engine.events import FunctionEvent as FunctionEvent
from ..eager.engine.events import FunctionEventAvg as FunctionEventAvg
from ..eager.engine.events import Interval as Interval
from ..eager.engine.events import _format_time as _format_time
