"""Second floor: the op table. One op, one record; importing this package fills the table."""
