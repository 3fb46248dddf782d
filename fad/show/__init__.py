"""Seventh floor: looking at programs: the IR, the generated source."""
