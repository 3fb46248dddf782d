"""fad.nn.utils.parametrizations: weights divided by their norms."""
from ...eager.nn.normed import parametrized_spectral_norm as spectral_norm
from ...eager.nn.normed import parametrized_weight_norm as weight_norm

__all__ = ["spectral_norm", "weight_norm"]
