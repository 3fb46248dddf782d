"""Ground floor: errors, configuration, trees of arrays, the user's source lines. Imports nothing of fad."""
