"""Third floor: passes. Each is a name, a sentence and a pure function from Func to Func."""
