"""Two ways to ask for a change: the operations themselves, and GraphQL."""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args, get_origin, get_type_hints

from pydantic import ValidationError

from resolvers.core.operation import Operation
from schema.core.errors import AppError
from schema.core.inputs import RejectedInput
from tests.fixtures.tenants import Tenants


@dataclass(frozen=True)
class Outcome:
    """What became of a change: its result as a resource or JSON, or what was wrong, each with its place and code."""

    result: Any = None
    wrong: frozenset[tuple[str, str]] = frozenset()

    @property
    def done(self) -> bool:
        """Whether nothing was wrong."""
        return not self.wrong


def _wrong(at: str, code: str) -> tuple[str, str]:
    """A mistake; where a row was not found is left out, since GraphQL alone tells the field that named it."""
    return "" if code == "NOT_FOUND" else at, code


def mistake(description: str) -> set[tuple[str, str]]:
    """One mistake as `wrong` has it, out of `price OUT_OF_RANGE`; a place alone is one that is `INVALID`."""
    at, _, code = description.partition(" ")
    return {(at, code or "INVALID")}


class Direct:
    """Calls the operation; an input that does not validate is handed on as any transport does."""

    def __init__(self, tenants: Tenants) -> None:
        self.tenants = tenants

    async def change(self, who: str | None, operation: Operation[Any, Any], **values: Any) -> Outcome:
        """Run it."""
        model, plain = get_type_hints(operation.function)["input"], _plain(values)
        try:
            given = model.model_validate(plain)
        except ValidationError as error:
            given = RejectedInput.of(model, error, plain)
        try:
            return Outcome(await operation(await self.tenants.context(who), given))
        except AppError as error:
            return Outcome(wrong=frozenset(_wrong(_snake(p.path), p.code) for p in error.problems))

    async def wrong(self, who: str | None, operation: Operation[Any, Any], **values: Any) -> set[str]:
        """The fields that are told to be wrong."""
        return {at for at, _ in (await self.change(who, operation, **values)).wrong}


class OverGraphQL:
    """Asks over GraphQL; `result` is the id of what was made or changed."""

    def __init__(self, tenants: Tenants) -> None:
        self.tenants = tenants

    async def change(self, who: str | None, operation: Operation[Any, Any], **values: Any) -> Outcome:
        """Run it."""
        field_name, result = _camel(operation.name), _camel(arguments_result(operation))
        body = await self._run_mutation(who, operation, f"{result} {{ id }}", values)
        if body.get("errors"):
            assert all(error["extensions"]["code"] != "INTERNAL_ERROR" for error in body["errors"]), body
            return Outcome(wrong=frozenset(("", error["extensions"]["code"]) for error in body["errors"]))
        payload = body["data"][field_name]
        wrong = frozenset(_wrong(_uncamelled(error["field"]), error["code"]) for error in payload["userErrors"])
        assert (payload[result] is None) is bool(wrong), body
        return Outcome(payload[result], wrong)

    async def wrong(self, who: str | None, operation: Operation[Any, Any], **values: Any) -> set[str]:
        """The fields that are told to be wrong, whatever the operation answers."""
        body = await self._run_mutation(who, operation, "", values)
        assert "errors" not in body, body
        return {_uncamelled(error["field"]) for error in body["data"][_camel(operation.name)]["userErrors"]}

    async def _run_mutation(
        self, who: str | None, operation: Operation[Any, Any], result: str, values: Mapping[str, Any]
    ) -> Any:
        field_name = _camel(operation.name)
        kind = f"{field_name[:1].upper()}{field_name[1:]}Input"
        wanted = f"{result} userErrors {{ field code message }}"
        query = f"mutation($input: {kind}!) {{ {field_name}(input: $input) {{ {wanted} }} }}"
        return await self.tenants.graphql(who, query, input=_camelled(values))


Transport = Direct | OverGraphQL


def arguments_result(operation: Operation[Any, Any]) -> str:
    """The name of what an operation answers: `product_variant`, or `invoices` of a list."""
    returned: Any = operation.function.__annotations__["return"]
    is_list = get_origin(returned) is list
    name = (get_args(returned)[0] if is_list else returned).__name__
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_") + ("s" if is_list else "")


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def _camelled(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {_camel(key): _camelled(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_camelled(inner) for inner in value]
    return value.name if isinstance(value, enum.Enum) else value


def _uncamelled(path: list[str]) -> str:
    return ".".join("".join(f"_{c.lower()}" if c.isupper() else c for c in step) for step in path)


def _snake(path: Sequence[str | int]) -> str:
    return ".".join(str(step) for step in path)


def _plain(value: Any) -> Any:
    """Members of closed sets as what they are stored as."""
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return value.value if isinstance(value, enum.Enum) else value
