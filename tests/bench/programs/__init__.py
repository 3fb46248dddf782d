"""The programs of the benchmark, one record each, by family: `PROGRAMS` has them in the order of the tables."""
from . import grids, mixtures, networks, recurrences, statistics, vision
from .record import Program

FAMILIES = statistics, mixtures, networks, vision, recurrences, grids
PROGRAMS: dict[str, Program] = {p.name: p for family in FAMILIES for p in family.PROGRAMS}
