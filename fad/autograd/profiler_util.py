"""fad.autograd.profiler_util: what a profile consists of."""
from ..eager.events import EventList as EventList
from ..eager.events import FunctionEvent as FunctionEvent
from ..eager.events import FunctionEventAvg as FunctionEventAvg
from ..eager.events import Interval as Interval
from ..eager.events import _format_time as _format_time
