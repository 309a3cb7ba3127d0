"""Two ways to ask for the same: REST and GraphQL. Answers are put into the same words, so that a test is written once."""

import datetime as dt
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar
from uuid import UUID

import httpx
import pytest

from schema.core.errors import AppError
from schema.core.permission import Permission
from tests.fixtures.tenants import Tenants

NO_TOKEN = "nobody"
BAD_TOKEN = "somebody with a bad token"
EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
MILLISECOND = dt.timedelta(milliseconds=1)


@dataclass(frozen=True)
class Answer:
    """What came of a request, whatever carried it.

    `status` is that of the catalogue of errors, 200 for a success. `wrong` says what was wrong and where: `items.0.quantity`,
    or nothing where GraphQL's types already refused it.
    """

    status: int
    result: Any = None
    code: str = ""
    wrong: Mapping[str, str] = field(default_factory=dict)
    replayed: bool = False
    message: str = ""

    @property
    def done(self) -> bool:
        """Whether it was done."""
        return self.status == httpx.codes.OK

    @property
    def fields(self) -> set[str]:
        """Where something was wrong."""
        return set(self.wrong)


def _statuses(kind: type[AppError] = AppError) -> Iterator[tuple[str, int]]:
    for sub in kind.__subclasses__():
        yield sub.code(), sub.status
        yield from _statuses(sub)


STATUS = {"BAD_USER_INPUT": 400, "BAD_REQUEST": 400, **dict(_statuses())}


class Transport(ABC):
    """A way to ask. Carts and answers have the documented keys; attribute values are by id."""

    name: ClassVar[str]

    def __init__(self, tenants: Tenants) -> None:
        self.tenants = tenants

    def headers(self, who: str, key: str | None = None) -> dict[str, str]:
        """The credential of somebody, and an idempotency key."""
        token = {BAD_TOKEN: "coffret_thisIsNoToken"}.get(who) or self.tenants.tokens.get(who)
        named = {} if who == NO_TOKEN else {"Authorization": f"Token {token}"}
        return {**named, **({} if key is None else {"Idempotency-Key": key}), "Content-Type": "application/json"}

    @abstractmethod
    async def obtain_token(self, username: str, password: str, who: str = NO_TOKEN) -> Answer:
        """Log in."""

    @abstractmethod
    async def permissions(self, who: str) -> Answer:
        """What somebody may do, by the documented names."""

    @abstractmethod
    async def save_cart(self, who: str, cart: Mapping[str, Any], key: str | None = None) -> Answer:
        """Create or replace a cart."""

    @abstractmethod
    async def read_cart(self, who: str, id: str) -> Answer:
        """Read a cart."""


class OverRest(Transport):
    """As older shops ask."""

    name = "rest"

    async def obtain_token(self, username: str, password: str, who: str = NO_TOKEN) -> Answer:
        sent = {"username": username, "password": password}
        return self.to_answer(
            await self.tenants.client.post("/api-token-auth/", content=json.dumps(sent), headers=self.headers(who))
        )

    async def permissions(self, who: str) -> Answer:
        return self.to_answer(await self.tenants.client.get("/api/permissions/", headers=self.headers(who)))

    async def save_cart(self, who: str, cart: Mapping[str, Any], key: str | None = None) -> Answer:
        headers = self.headers(who, key)
        answer = await self.tenants.client.post("/api/v2/ecommerce/cart/", content=json.dumps(cart), headers=headers)
        if answer.is_success:
            assert answer.status_code == (200 if cart.get("id") else 201)
        return self.to_answer(answer)

    async def read_cart(self, who: str, id: str) -> Answer:
        return self.to_answer(await self.tenants.client.get(f"/api/v2/ecommerce/cart/{id}/", headers=self.headers(who)))

    def to_answer(self, response: httpx.Response) -> Answer:
        """A response in the words of both."""
        body = response.json()
        if response.is_success:
            return Answer(200, body, replayed=response.headers.get("Idempotent-Replayed") == "true")
        if response.status_code == httpx.codes.BAD_REQUEST and "detail" not in body:
            wrong = dict(_messages(body))
            return Answer(400, wrong=wrong, message=" ".join(wrong.values()))
        return Answer(response.status_code, code=body.get("code", "").upper(), message=body["detail"])


def _messages(body: Any, *at: str) -> Iterator[tuple[str, str]]:
    """Where messages stand in a body of errors, and what they say."""
    if isinstance(body, dict):
        for name, inner in body.items():
            yield from _messages(inner, *at, *([] if name == "non_field_errors" else [name]))
    elif all(isinstance(inner, str) for inner in body):
        yield ".".join(at), " ".join(body)
    else:
        for position, inner in enumerate(body):
            yield from _messages(inner, *at, str(position)) if inner else ()


CART = (
    "id items { productId quantity variantId attributeValues { attributeId value } } returnUrl funnelUrl lastModified"
)


class OverGraphQL(Transport):
    """As new clients ask."""

    name = "graphql"

    async def obtain_token(self, username: str, password: str, who: str = NO_TOKEN) -> Answer:
        query = """mutation ($input: ObtainTokenInput!) { obtainToken(input: $input) {
            issuedToken { token uuid user { id firstName username email } } userErrors { field code message } } }"""
        answer = await self.changed(query, who, {"username": username, "password": password})
        return answer if not answer.done else Answer(200, _rest_names(answer.result))

    async def permissions(self, who: str) -> Answer:
        answer = await self.ask_graphql("{ me { permissions } }", who, {})
        if not answer.done:
            return answer
        named = [f"permissions.{Permission[name].value}" for name in answer.result["permissions"]]
        return Answer(200, {"permissions": named})

    async def save_cart(self, who: str, cart: Mapping[str, Any], key: str | None = None) -> Answer:
        query = f"""mutation ($input: SaveEcommerceCartInput!) {{ saveEcommerceCart(input: $input) {{
            ecommerceCart {{ {CART} }} userErrors {{ field code message }} }} }}"""
        answer = await self.changed(query, who, _graphql_cart(cart), key)
        return answer if not answer.done else Answer(200, _cart(answer.result), replayed=answer.replayed)

    async def read_cart(self, who: str, id: str) -> Answer:
        answer = await self.ask_graphql(
            f"query ($id: UUID!) {{ ecommerceCart(id: $id) {{ {CART} }} }}", who, {"id": id}
        )
        if not answer.done:
            return answer
        if answer.result is None:
            return Answer(404, message="Cart not found")  # a look-up answers null for what is not there
        return Answer(200, _cart(answer.result))

    async def ask_graphql(self, query: str, who: str, variables: Mapping[str, Any], key: str | None = None) -> Answer:
        """The answer of a document with one field."""
        said = json.dumps({"query": query, "variables": variables})
        return self.to_answer(await self.tenants.client.post("/graphql/", content=said, headers=self.headers(who, key)))

    def to_answer(self, response: httpx.Response) -> Answer:
        """The answer of a document with one field."""
        body = response.json()
        if errors := body.get("errors"):
            code = errors[0]["extensions"]["code"]
            assert code != "INTERNAL_ERROR", body
            return Answer(STATUS[code], code=code, message=errors[0]["message"])
        (result,) = body["data"].values()
        return Answer(200, result, replayed=response.headers.get("Idempotent-Replayed") == "true")

    async def changed(self, query: str, who: str, input: Mapping[str, Any], key: str | None = None) -> Answer:
        """The answer of a mutation, what was wrong taken out of its payload."""
        return self.payload(await self.ask_graphql(query, who, {"input": input}, key))

    def payload(self, answer: Answer) -> Answer:
        """The answer of a mutation, what was wrong taken out of its payload."""
        if not answer.done:
            return answer
        wrong = answer.result.pop("userErrors")
        (result,) = answer.result.values()
        assert (result is None) is bool(wrong)
        if not wrong:
            return Answer(200, result, replayed=answer.replayed)
        code = wrong[0]["code"]
        told = {".".join(map(_snake, error["field"])): error["message"] for error in wrong}
        return Answer(STATUS.get(code, 400), code=code, wrong=told, message=" ".join(told.values()))


TRANSPORTS: Sequence[type[Transport]] = (OverRest, OverGraphQL)
ONLY_REST = pytest.mark.parametrize("transport", [OverRest], indirect=True, ids=["rest"])
"""For what is said, or can be sent, over REST alone."""


def _graphql_cart(cart: Mapping[str, Any]) -> dict[str, Any]:
    """A cart of REST as GraphQL takes it."""
    sent = {_camel(name): value for name, value in cart.items()}
    if isinstance(sent.get("items"), list):
        sent["items"] = [
            {_camel(name): _choices(value) if name == "attribute_values" else value for name, value in item.items()}
            for item in sent["items"]
        ]
    return sent


def _choices(values: Any) -> Any:
    if not isinstance(values, Mapping):
        return values
    return [{"attributeId": int(id) if id.isdigit() else id, "value": value} for id, value in values.items()]


def _cart(cart: Mapping[str, Any]) -> dict[str, Any]:
    """A cart of GraphQL as REST answers it."""
    made: dict[str, Any] = _rest_names(cart)
    for item in made["items"]:
        item["attribute_values"] = {str(c["attribute_id"]): c["value"] for c in item["attribute_values"]}
    made["return_url"] = made["return_url"] or ""
    made["last_modified"] = (dt.datetime.fromisoformat(made["last_modified"]) - EPOCH) // MILLISECOND
    return made


def _rest_names(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {_snake(name): _rest_names(inner) for name, inner in value.items()}
    return [_rest_names(inner) for inner in value] if isinstance(value, list) else value


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def _snake(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name)


def is_uuid(text: str) -> bool:
    """Whether a text is a UUID, written as one is."""
    return str(UUID(text)) == text
