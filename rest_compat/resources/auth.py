"""Tokens and permissions."""

from rest_compat.shapes.keys import FieldKey, same
from rest_compat.shapes.shape import Nested, ResourceShape
from rest_compat.shapes.writers import ValueWriter
from schema.account.token import IssuedToken, Viewer
from schema.account.user import User
from schema.core.permission import Permission

PERMISSION_NAME = ValueWriter(
    "permission name",
    (Permission,),
    {"type": "string", "examples": ["permissions.use_voucher"]},
    "permissions.{}".format,
)

USER = ResourceShape(
    "User",
    User,
    same("id", "first_name", "username", "email"),
    example={"id": 12, "first_name": "Ada", "username": "ada@shop.example", "email": "ada@shop.example"},
)
TOKEN = ResourceShape(
    "Token",
    IssuedToken,
    {**same("token", "uuid"), "user": Nested("user", USER)},
    example={"token": "coffret_kXp4…"},
)
PERMISSIONS = ResourceShape(
    "Permissions",
    Viewer,
    {"permissions": FieldKey("permissions", PERMISSION_NAME)},
    example={"permissions": ["permissions.use_voucher", "permissions.view_voucher"]},
)

LOG_IN = {"username": "ada@shop.example", "password": "correct horse battery staple"}
"""An example request for the documentation."""
