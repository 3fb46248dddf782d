"""fad.autograd.gradcheck: derivatives against differences. (The attribute of fad.autograd is the function.)"""
from ..eager.engine.gradcheck import GradcheckError as GradcheckError
from ..eager.engine.gradcheck import get_analytical_jacobian as get_analytical_jacobian
from ..eager.engine.gradcheck import get_numerical_jacobian as get_numerical_jacobian
from ..eager.engine.gradcheck import gradcheck as gradcheck
from ..eager.engine.gradcheck import gradgradcheck as gradgradcheck
