"""The provider's wire as data, read from `tests/data/provider_calls.toml` and `provider_codes.toml`.

Those tables are written from the provider's published documents, not from our code. The adapter and the sandbox are each
tested against them, so that the two cannot drift together unnoticed. Their limit: nobody has run them against the live
provider yet.
"""

import base64
import copy
import functools
import pathlib
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
Fields = Mapping[str, str]

_DATA = pathlib.Path(__file__).parents[4] / "data"
TABLE: Json = tomllib.loads((_DATA / "provider_calls.toml").read_text())
CODES: Json = tomllib.loads((_DATA / "provider_codes.toml").read_text())
ENUMS: Mapping[str, Sequence[str]] = TABLE["enums"]
ERROR_TYPES: Mapping[str, int] = TABLE["errors"]
"""The refusals' `Type` and the status each comes with. The spelling is the provider's."""

NOTIFICATION = ("EventType", "RessourceId", "Date")
"""The query of a hook's GET. The misspelt name is the provider's; the list of events writes `ResourceId`."""
RATE_LIMIT_HEADERS = ("x-ratelimit", "x-ratelimit-remaining", "x-ratelimit-reset")
"""On answers: values for 15 minutes, 30 minutes, an hour and a day, with commas."""
PAGE_HEADERS = ("X-Number-Of-Pages", "X-Number-Of-Items", "Link")
"""On lists."""
IDEMPOTENCY_KEY = "[A-Za-z0-9-]{16,36}"
"""What an `Idempotency-Key` may be, on every POST but the token's."""

_FILE = base64.b64encode(b"%PDF-1.4\n" + b"0" * 2000).decode()
_VALUES: Json = {
    "text": "Sample",
    "text_or_number": "Sample",
    "id": "id-1",
    "int": 2500,
    "date": 631_152_000,
    "moment": 1_740_581_497.0,
    "bool": True,
    "country": "FR",
    "currency": "EUR",
    "email": "ana@example.com",
    "url": "https://shop.example/back",
    "base64": _FILE,
    "iban": "FR7630004000031234567890143",
    "day": "2027-03-31",
    "list": [],
    "object": {},
    "money": {"Currency": "EUR", "Amount": 2500},
}
_PATTERNS = {
    "id": ".{1,128}",
    "country": "[A-Z]{2}",
    "currency": "[A-Z]{3}",
    "email": r"[^@\s]+@[^@\s]+",
    "url": r"https?://\S+",
    "base64": "[A-Za-z0-9+/]+=*",
    "day": "[0-9]{4}-[0-9]{2}-[0-9]{2}",
    "iban": "[A-Z]{2}[0-9]{2}[A-Z0-9]{10,30}",
}
_KINDS: Mapping[str, type | tuple[type, ...]] = {
    "int": int,
    "date": int,
    "moment": (int, float),
    "bool": bool,
    "list": list,
    "object": dict,
    "money": dict,
}
_WRONG: Mapping[str, Sequence[object]] = {
    "text": (7,),
    "id": (7,),
    "int": (12.5, "12", True),
    "date": ("1990-01-01", "now"),
    "bool": ("yes",),
    "country": ("fr", "FRA", 33),
    "currency": ("eur", "XXY"),
    "email": ("nobody",),
    "url": ("nowhere",),
    "enum": ("SOMETHING_ELSE",),
    "is": ("SOMETHING_ELSE",),
}
_SHAPES = {**TABLE["shapes"], "money": {"required": {"Currency": "currency", "Amount": "int"}}}


@dataclass(frozen=True)
class When:
    """A field that is required when another one says this."""

    field: str
    values: tuple[str, ...]
    required: str


@dataclass(frozen=True)
class WireCall:
    """One call of the table. Fields are named from the body's root with dots: `DebitedFunds.Amount`."""

    name: str
    method: str
    path: str
    statuses: tuple[int, ...] = (200,)
    returns: str = ""
    """The object that is answered, of the table's `objects`; empty when nothing is said of the answer."""
    many: bool = False
    """The answer is a bare array of such objects, in pages."""
    required: Fields = field(default_factory=dict)
    optional: Fields = field(default_factory=dict)
    sample: Json = field(default_factory=dict)
    without: tuple[str, ...] = ()
    """Optional fields that the full body leaves out."""
    together: tuple[str, ...] = ()
    """Optional fields that come all or none."""
    when: tuple[When, ...] = ()
    limits: Mapping[str, int] = field(default_factory=dict)
    patterns: Mapping[str, str] = field(default_factory=dict)
    any_case: tuple[str, ...] = ()
    """Fields whose names the provider reads in upper and lower case."""
    refused: Fields = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    query_besides: tuple[str, ...] = ()
    query_required: tuple[str, ...] = ()
    also_needed: tuple[str, ...] = ()
    """What must be there before, besides what is named."""
    unknown: str = "ressource_not_found"
    """The refusal for an address that names nothing."""

    @property
    def fields(self) -> Fields:
        """Every field that may be sent."""
        return {**self.required, **self.optional}

    @property
    def path_names(self) -> tuple[str, ...]:
        """What the path names: `("owner", "document")`."""
        return tuple(re.findall(r"\{(\w+)\}", self.path))

    def body(self, chosen: Mapping[str, object] | None = None, *, full: bool = True) -> Json:
        """A body that is taken: with every field, or with only what is required. `chosen` replaces values."""
        chosen = chosen or {}
        body: Json = {}
        names = self.fields if full else self.required
        for name, kind in names.items():
            if kind != "parent" and not self._left_out(name):
                put(body, name, chosen.get(name, self._sample(name, kind)))
        for rule in self.when:
            if at(body, rule.field) in rule.values:
                for name, kind in self._under(rule.required):
                    put(body, name, chosen.get(name, self._sample(name, kind)))
        return body

    def problems(self, body: Json) -> Iterator[str]:
        """What in a body is not as the table says."""
        yield from (f"{name} is missing" for name in self.required if at(body, name) is None)
        for rule in self.when:
            if at(body, rule.field) in rule.values and at(body, rule.required) is None:
                yield f"{rule.required} is missing"
        given = [name for name in self.together if at(body, name) is not None]
        if given and len(given) < len(self.together):
            yield f"{' and '.join(given)} without the other"
        for name, value in leaves(body):
            if not self._takes(name, value):
                yield f"{name} is {value!r}"

    def _takes(self, name: str, value: object) -> bool:
        if name not in self.fields:
            return any(name.startswith(f"{outer}.") for outer, kind in self.fields.items() if kind == "object")
        kind, text = self.fields[name], str(value)
        fits = len(text) <= self.limits.get(name, len(text)) and re.fullmatch(self.patterns.get(name, "(?s:.*)"), text)
        return kind != "parent" and not mismatch(kind, value) and bool(fits) and value != self.refused.get(name)

    def _left_out(self, name: str) -> bool:
        return any(name == out or name.startswith(f"{out}.") for out in self.without)

    def _under(self, name: str) -> Iterator[tuple[str, str]]:
        for other, kind in self.fields.items():
            if kind != "parent" and (other == name or other.startswith(f"{name}.")):
                yield other, kind

    def _sample(self, name: str, kind: str) -> object:
        found = at(self.sample, name)
        if found is None:
            found = TABLE["samples"].get(name.rpartition(".")[2])
        return copy.deepcopy(sample(kind) if found is None else found)


def sample(kind: str) -> Any:
    """A value of a type of the table."""
    name, _, argument = kind.removesuffix("?").partition(":")
    return argument if name == "is" else ENUMS[argument][0] if name == "enum" else copy.deepcopy(_VALUES[name])


def mismatch(kind: str, value: object) -> bool:
    """Whether a value is not of a type of the table."""
    if value is None:
        return not kind.endswith("?")
    name, _, argument = kind.removesuffix("?").partition(":")
    if name in _KINDS:
        if not isinstance(value, _KINDS[name]) or (isinstance(value, bool) and name != "bool"):
            return True
        inside = _SHAPES["money"]["required"] if name == "money" else {}
        each = value if argument and isinstance(value, list) else ()
        return any(problems_in(value, inside)) or any(problem for item in each for problem in problems(argument, item))
    if name == "enum":
        return value not in ENUMS[argument]
    if name == "is":
        return value != argument
    return not isinstance(value, str) or not re.fullmatch(_PATTERNS.get(name, ".*"), value, re.DOTALL)


def wrong_values(kind: str, name: str) -> Sequence[object]:
    """Values that a field of a type does not take. Only fees can be negative."""
    negative = (-1,) if kind == "int" and not name.startswith("Fees.") else ()
    return (*_WRONG.get(kind.partition(":")[0], ()), *negative)


def problems_in(body: object, fields: Fields) -> Iterator[str]:
    """What in an answer is missing or not of its type."""
    for name, kind in fields.items():
        try:
            value = functools.reduce(lambda inner, part: inner[part], name.split("."), body)  # type: ignore[index]
        except (KeyError, TypeError):
            yield f"{name} is missing"
        else:
            if mismatch(kind, value):
                yield f"{name} is {value!r}, not {kind}"


def problems(name: str, body: object) -> list[str]:
    """What is wrong with an answered object."""
    return list(problems_in(body, object_of(name)))


def object_of(name: str) -> Fields:
    """The fields of an answered object."""
    fields = dict(TABLE["objects"][name])
    outer = fields.pop("$of", None)
    return {**object_of(outer), **fields} if outer else fields


def answer(name: str, **chosen: object) -> Json:
    """An answer made of the table alone; null wherever that is honest."""
    body: Json = {}
    for field_name, kind in object_of(name).items():
        put(body, field_name, None if kind.endswith("?") else sample(kind))
    for field_name, value in chosen.items():
        put(body, field_name, value)
    return body


def at(body: object, name: str) -> Any:
    """The value of a dotted field; None when it is not there."""
    for part in name.split("."):
        body = body.get(part) if isinstance(body, Mapping) else None
    return body


def put(body: Json, name: str, value: object) -> None:
    """Set a dotted field."""
    *outer, last = name.split(".")
    functools.reduce(lambda inner, part: inner.setdefault(part, {}), outer, body)[last] = value


def without(body: Json, name: str) -> Json:
    """A body that lacks a dotted field."""
    changed = copy.deepcopy(body)
    *outer, last = name.split(".")
    del functools.reduce(lambda inner, part: inner[part], outer, changed)[last]
    return changed


def leaves(body: object, outer: str = "") -> Iterator[tuple[str, Any]]:
    """Every field of a body by its dotted name."""
    if isinstance(body, Mapping) and body:
        for name, value in body.items():
            yield from leaves(value, f"{outer}.{name}" if outer else name)
    elif outer:
        yield outer, body


def _flat(tree: Json, outer: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted names of a nested table of the file."""
    for part, value in tree.items():
        name = f"{outer}.{part}" if outer else part
        if isinstance(value, dict):
            yield from _flat(value, name)
        else:
            yield name, value


def _expanded(fields: Json, *, required: bool) -> tuple[Fields, Fields]:
    """Required and optional fields, shapes taken apart: of an optional shape nothing is required by itself."""
    needed: dict[str, str] = {}
    allowed: dict[str, str] = {}
    for name, kind in _flat(fields):
        here = needed if required else allowed
        if kind == "money" or kind.startswith("shape:"):
            shape = _SHAPES[kind.removeprefix("shape:")]
            here[name] = "parent"
            for part, inner in (("required", required), ("optional", False)):
                within = {f"{name}.{inside}": of for inside, of in shape.get(part, {}).items()}
                more_needed, more_allowed = _expanded(within, required=inner)
                needed |= more_needed
                allowed |= more_allowed
        else:
            here[name] = kind
    return needed, allowed


def _read(name: str, line: Json) -> WireCall:
    method, path = line["request"].split(" ")
    required, inside = _expanded(line.get("required", {}), required=True)
    status = line.get("status", 200)
    returns = line.get("returns", "")
    return WireCall(
        name,
        method,
        path,
        statuses=tuple(status) if isinstance(status, list) else (status,),
        returns=returns.strip("[]"),
        many=returns.startswith("["),
        required=required,
        optional={**inside, **_expanded(line.get("optional", {}), required=False)[1]},
        sample=line.get("sample", {}),
        when=tuple(When(rule["field"], tuple(rule["is"]), rule["required"]) for rule in line.get("when", ())),
        limits=line.get("limits", {}),
        patterns=line.get("patterns", {}),
        refused=dict(_flat(line.get("refused", {}))),
        query=line.get("query", {}),
        unknown=line.get("unknown", "ressource_not_found"),
        **{
            key: tuple(line.get(key, ()))
            for key in ("without", "together", "any_case", "query_besides", "query_required", "also_needed")
        },
    )


def results() -> Iterator[tuple[str, Sequence[str], bool]]:
    """Every result code, the reasons that may stand for it, and whether a payment with it is over."""
    for line in CODES["results"]:
        for code in line["codes"]:
            first, _, last = code.partition("-")
            numbers = range(int(first), int(last) + 1) if last else ()
            for each in (f"{number:06d}" for number in numbers) if last else (code,):
                yield each, line["reasons"], line.get("final", True)


CALLS = tuple(_read(name, line) for name, line in TABLE["calls"].items())
BY_NAME = {call.name: call for call in CALLS}
GOOD = tuple(call for call in CALLS if call.statuses[0] < 400)
"""The calls that work as the table writes them."""
NOT_MODELLED: Sequence[str] = TABLE["not_modelled"]["calls"]
EVENTS: Mapping[str, Sequence[str]] = CODES["events"]
"""Kinds of event by what they are about."""
