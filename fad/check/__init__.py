"""Seventh floor: derivatives held against each other and against differences."""
