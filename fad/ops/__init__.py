"""Second floor: the op table. One op, one record; core.py holds what is loaded with fad, importing table.py fills the table."""
