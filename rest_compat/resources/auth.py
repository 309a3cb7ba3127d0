"""Tokens and permissions."""

from rest_compat.keys import Key, Nested
from rest_compat.shapes import Shape
from rest_compat.writers import Writer
from schema.permission import Permission
from schema.tenancy import User
from schema.viewer import IssuedToken, Viewer

PERMISSION_NAME = Writer(
    "permission name",
    (Permission,),
    {"type": "string", "examples": ["permissions.use_voucher"]},
    "permissions.{}".format,
)

USER = Shape("User", User, {"id": "id", "first_name": "first_name", "username": "username", "email": "email"})
TOKEN = Shape("Token", IssuedToken, {"token": "token", "uuid": "uuid", "user": Nested("user", USER)})
PERMISSIONS = Shape("Permissions", Viewer, {"permissions": Key("permissions", PERMISSION_NAME)})
