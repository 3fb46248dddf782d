"""autograd.core: products with derivatives for functions of one argument, rules, vector spaces."""
from .extend import def_linear as def_linear
from .extend import defjvp as defjvp
from .extend import defjvp_argnum as defjvp_argnum
from .extend import defvjp as defvjp
from .extend import defvjp_argnum as defvjp_argnum
from .extend import defvjp_argnums as defvjp_argnums
from .extend import primitive as primitive
from .products import make_jvp as make_jvp
from .products import make_vjp as make_vjp
from .spaces import VSpace as VSpace
from .spaces import vspace as vspace
