"""scipy.spatial.transform.Rotation of traced numbers (see routines/rotation.py)."""
from ...routines import rotation
from ..face import face

for _call in (rotation.from_quat, rotation.from_rotvec, rotation.from_euler, rotation.from_matrix, rotation.apply):
    face(f"scipy.spatial.transform.Rotation.{_call.__name__}", routine=True)(_call)
