"""Tokens and permissions."""

from rest_compat.shapes.keys import Key, Nested
from rest_compat.shapes.shape import Shape
from rest_compat.shapes.writers import Writer
from schema.account.token import IssuedToken, Viewer
from schema.core.permission import Permission
from schema.partner.partner import User

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
