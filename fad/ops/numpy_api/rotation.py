"""scipy.spatial.transform.Rotation of traced numbers (see routines/rotation.py)."""
from ...routines import rotation
from ..face import face

for _call in (rotation.from_quat, rotation.from_rotvec, rotation.from_euler, rotation.from_matrix, rotation.from_mrp,
              rotation.apply):
    face(f"scipy.spatial.transform.Rotation.{_call.__name__}", routine=True)(_call)
face("scipy.spatial.transform.Slerp", routine=True)(rotation.slerp)
