"""A made-up API of things that are looked up, made and uploaded, with every error of the catalogue on demand."""

import datetime as dt
from collections.abc import Callable
from decimal import Decimal

import pydantic
import strawberry
from starlette.datastructures import UploadFile

from resolvers.core.caller import Caller, Role
from resolvers.core.operation import Call, operation
from rest_compat.http.body import Accepts
from rest_compat.http.route import Deprecation, RestRoute
from rest_compat.shapes.keys import number
from rest_compat.shapes.shape import ResourceShape
from schema.core.errors import (
    IdempotencyInProgress,
    InsufficientBalance,
    InvalidInput,
    NotFound,
    PaymentDeclined,
    Problem,
    ProviderFailed,
    ProviderTimedOut,
    TooManyRequests,
    Unavailable,
)
from schema.core.permission import Permission
from schema.core.text import TextInput
from schema.validation.numbers import MoneyAmount, WholeNumber
from tests.rest_compat.clients import services_with


@strawberry.type
class Thing:
    """Something that is made."""

    id: int
    name: str
    price: Decimal


class Details(pydantic.BaseModel):
    """Something inside."""

    title: TextInput
    size: WholeNumber = 1


class MakeThing(pydantic.BaseModel):
    """Something to make."""

    id: WholeNumber = 0
    label: str
    price: MoneyAmount = Decimal(1)
    name: strawberry.Maybe[TextInput]
    details: Details | None = None


class Picture(pydantic.BaseModel):
    """Something to upload."""

    model_config = {"arbitrary_types_allowed": True}
    name: str
    file: UploadFile


CREATED_THINGS: list[MakeThing] = []
ERRORS: dict[str, Callable[[], BaseException]] = {
    "missing": lambda: NotFound(thing="thing"),
    "declined": PaymentDeclined,
    "balance": InsufficientBalance,
    "running": IdempotencyInProgress,
    "provider": ProviderFailed,
    "time": ProviderTimedOut,
    "away": lambda: Unavailable(what="The cart store"),
    "often": lambda: TooManyRequests(30),
    "bug": lambda: ZeroDivisionError("secret SQL"),
    "field": lambda: InvalidInput.at(("lines", 1, "unitPrice"), "Too dear."),
    "whole": lambda: InvalidInput(Problem((), "INVALID", "They do not agree.")),
    "both": lambda: InvalidInput(
        Problem(("a",), "X", "One."), Problem(("a", "b"), "X", "Two."), Problem(("a",), "X", "3.")
    ),
    "list": lambda: InvalidInput(Problem(("a",), "X", "One."), Problem(("a", 2, "b"), "X", "Two.")),
}


FAILING = (PaymentDeclined, InsufficientBalance, ProviderFailed, ProviderTimedOut)


@operation(Permission.VIEW_ORDER, transaction=False, raises=FAILING)
async def thing(call: Call, code: str) -> Thing:
    """Look a thing up."""
    failure = ERRORS.get(code)
    if failure is not None:
        error = failure()
        raise error
    return Thing(id=1, name=code, price=Decimal("10.00"))


@operation(Permission.VIEW_ORDER, transaction=False)
async def thing_by_id(call: Call, id: int, size: int = 0) -> Thing:
    """Look a thing up by its id."""
    return Thing(id=id, name=str(size), price=Decimal(size))


@operation(Permission.VIEW_ORDER, transaction=False)
async def make_thing(call: Call, input: MakeThing) -> Thing:
    """Make a thing."""
    CREATED_THINGS.append(input)
    return Thing(id=input.id, name=input.label, price=input.price)


@operation(Permission.VIEW_ORDER, transaction=False)
async def upload(call: Call, input: Picture) -> Thing:
    """Upload a picture."""
    return Thing(id=len(await input.file.read()), name=input.name, price=Decimal(0))


THING = ResourceShape("Thing", Thing, {"id": "id", "title": "name", "price": number("price")})
ROUTES = [
    RestRoute("GET", "/api/things/{code}/", thing, THING),
    RestRoute("POST", "/api/things/make/", make_thing, THING, status=201, renamed={"title": "label"}),
    RestRoute("PATCH|PUT", "/api/numbered/{id}/", make_thing, THING, renamed={"title": "label"}),
    RestRoute("GET", "/api/numbered/{id}/", thing_by_id, THING),
    RestRoute(
        "GET", "/api/old/{code}/", thing, THING, deprecated=Deprecation(dt.date(2030, 1, 1), "/api/things/{code}/")
    ),
    RestRoute("POST", "/api/pictures/", upload, THING, accepts=Accepts.UPLOAD),
]
CALLER = Caller(Role.PARTNER, frozenset({Permission.VIEW_ORDER}), token_id=1, partner_id=1)
SERVICES = services_with()
