"""Floor 6: the eager Tensor, a tape of the same op records with the same derivative rules."""
