"""Second floor: the op table. One op has one record. core.py holds the ops that fad loads; importing table.py loads
all."""
