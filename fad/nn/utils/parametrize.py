"""fad.nn.utils.parametrize: parameters that are functions of others."""
from ...eager.nn.parametrize import ParametrizationList as ParametrizationList
from ...eager.nn.parametrize import cached as cached
from ...eager.nn.parametrize import is_parametrized as is_parametrized
from ...eager.nn.parametrize import register_parametrization as register_parametrization
from ...eager.nn.parametrize import remove_parametrizations as remove_parametrizations
from ...eager.nn.parametrize import transfer_parametrizations_and_params as transfer_parametrizations_and_params
from ...eager.nn.parametrize import type_before_parametrizations as type_before_parametrizations
