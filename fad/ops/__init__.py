"""Second floor: the op table. One op has one record. The ops that any program may meet (core.py) come with the package;
importing table.py loads all."""
from . import core as core
