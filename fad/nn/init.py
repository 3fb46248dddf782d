"""fad.nn.init: first values of parameters."""
from ..eager.nn.init import calculate_gain as calculate_gain
from ..eager.nn.init import constant_ as constant_
from ..eager.nn.init import eye_ as eye_
from ..eager.nn.init import kaiming_normal_ as kaiming_normal_
from ..eager.nn.init import kaiming_uniform_ as kaiming_uniform_
from ..eager.nn.init import normal_ as normal_
from ..eager.nn.init import ones_ as ones_
from ..eager.nn.init import orthogonal_ as orthogonal_
from ..eager.nn.init import trunc_normal_ as trunc_normal_
from ..eager.nn.init import uniform_ as uniform_
from ..eager.nn.init import xavier_normal_ as xavier_normal_
from ..eager.nn.init import xavier_uniform_ as xavier_uniform_
from ..eager.nn.init import zeros_ as zeros_
