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

USER = Shape(
    "User",
    User,
    {"id": "id", "first_name": "first_name", "username": "username", "email": "email"},
    example={"id": 12, "first_name": "Ada", "username": "ada@shop.example", "email": "ada@shop.example"},
)
TOKEN = Shape(
    "Token",
    IssuedToken,
    {"token": "token", "uuid": "uuid", "user": Nested("user", USER)},
    example={"token": "coffret_kXp4…"},
)
PERMISSIONS = Shape(
    "Permissions",
    Viewer,
    {"permissions": Key("permissions", PERMISSION_NAME)},
    example={"permissions": ["permissions.use_voucher", "permissions.view_voucher"]},
)

LOG_IN = {"username": "ada@shop.example", "password": "correct horse battery staple"}
"""A request to show."""
