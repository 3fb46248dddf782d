"""Fourth floor: transforms of Funcs. jvp, vjp, vmap, linearize: Func to Func, closed under composition."""
from . import custom as custom
