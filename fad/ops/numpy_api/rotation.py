"""scipy.spatial.transform.Rotation of traced numbers (see routines/rotation.py)."""
from ...routines import rotation
from ..override import override

for _call in (rotation.from_quat, rotation.from_rotvec, rotation.from_euler, rotation.from_matrix, rotation.from_mrp,
              rotation.apply):
    override(f"scipy.spatial.transform.Rotation.{_call.__name__}", routine=True)(_call)
override("scipy.spatial.transform.Slerp", routine=True)(rotation.slerp)
