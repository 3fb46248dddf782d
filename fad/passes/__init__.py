"""Third floor: passes. Each pass is a name, a sentence and a pure function from Func to Func."""
