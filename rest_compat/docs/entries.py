"""Operations as the pages show them: tables of keys, and examples, from the OpenAPI description."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rest_compat.docs.samples import curl, pretty
from rest_compat.http.route import RestRoute
from rest_compat.openapi.reference import Reference
from rest_compat.openapi.schemas import Json
from schema.validation.languages import LANGUAGES


@dataclass(frozen=True)
class KeyRow:
    """A row of a table: a key or a parameter. A translated text has one name per language."""

    names: tuple[str, ...]
    kind: str
    required: str
    """`required`, `required by PUT`, or empty."""
    description: str


@dataclass(frozen=True)
class ExampleResponse:
    """A successful response or an error, with an example."""

    status: str
    meaning: str
    example: str


@dataclass(frozen=True)
class OperationEntry:
    """One route with all its methods. The first method is the documented one."""

    reference: Reference
    methods: Sequence[str]
    path: str
    text: str
    deprecated: bool
    public: bool
    parameters: Sequence[KeyRow]
    request: Sequence[KeyRow]
    media_types: Sequence[str]
    example: Any
    answer: Sequence[KeyRow]
    successes: Sequence[ExampleResponse]
    errors: Sequence[ExampleResponse]
    path_example: str

    @property
    def id(self) -> str:
        """The anchor on the page."""
        return self.reference.id

    @property
    def title(self) -> str:
        return self.reference.title

    def request_to(self, base: str) -> str:
        """The request as a curl command."""
        query = f"?{self.reference.query}" if self.reference.query else ""
        form = list(self.media_types) == ["multipart/form-data"]
        return curl(self.methods[0], f"{base}{self.path_example}{query}", self.example, public=self.public, form=form)

    @cached_property
    def search_text(self) -> str:
        """The text that a search matches, case-folded."""
        keys = [name for row in (*self.parameters, *self.request, *self.answer) for name in row.names]
        about = (self.id, self.title, *self.methods, self.path, self.text, self.reference.field, *keys)
        return " ".join(about).casefold()

    def matches(self, asked: str) -> bool:
        """Whether the text contains all words of a search."""
        return all(word in self.search_text for word in asked.casefold().split())


def entry_of(document: Json, route: RestRoute, reference: Reference) -> OperationEntry:
    """The entry of a route, from the OpenAPI document."""
    described = [document["paths"][route.path][verb.lower()] for verb in route.verbs]
    operation = described[0]
    body = operation.get("requestBody", {}).get("content", {})
    responses = {status: _resolve(document, response) for status, response in operation["responses"].items()}
    good = {status: response for status, response in responses.items() if status < "300"}
    answer = _first(next(iter(good.values()))["content"])["schema"]
    parameters = operation["parameters"]
    return OperationEntry(
        reference=reference,
        methods=route.verbs,
        path=route.path,
        text=operation["description"],
        deprecated=operation.get("deprecated", False),
        public=operation.get("security") == [],
        parameters=[_row(document, p["name"], p["schema"], p) for p in parameters],
        request=_request(document, route.verbs, described),
        media_types=list(body),
        example=_first(body).get("example"),
        answer=[*_merge_languages([*_rows(document, answer)])],
        successes=[_example_response(status, response) for status, response in good.items()],
        errors=[_example_response(status, response) for status, response in responses.items() if status >= "300"],
        path_example=_example_path(route.path, [p for p in parameters if p["in"] == "path"]),
    )


def _request(document: Json, verbs: Sequence[str], described: Sequence[Json]) -> list[KeyRow]:
    """The keys of the body. Keys that only PUT requires are marked so."""
    of_verb = []
    for operation in described:
        content = operation.get("requestBody", {}).get("content", {})
        of_verb.append(list(_rows(document, _first(content).get("schema", {}))))
    required = [{row.names for row in rows if row.required} for rows in of_verb]
    everywhere, anywhere = set.intersection(*required), set.union(*required)
    by = next((verb for verb, names in zip(verbs, required, strict=True) if names - everywhere), "")
    notes = {**dict.fromkeys(anywhere, f"required by {by}"), **dict.fromkeys(everywhere, "required")}
    longest = max(of_verb, key=len)
    return [
        *_merge_languages([KeyRow(row.names, row.kind, notes.get(row.names, ""), row.description) for row in longest])
    ]


def _first(contents: Mapping[str, Json]) -> Json:
    """The content of the first media type; empty if there is no body."""
    return next(iter(contents.values()), Json())


def _example_response(status: str, response: Json) -> ExampleResponse:
    (kind, content), *_ = response["content"].items()
    example = pretty(content["example"]) if "example" in content else f"({kind})"
    return ExampleResponse(status, response["description"], example)


EXAMPLES: Mapping[str, str] = {"code": "7K3M-9QWX-2PLR", "partner_uuid": "dd783a87-8351-4578-ad2a-16c698e86acb"}


def _example_path(path: str, parameters: Sequence[Json]) -> str:
    """The path with example values for its parameters."""
    for parameter in parameters:
        name = parameter["name"]
        number = parameter["schema"].get("type") == "integer"
        known = "1" if number else EXAMPLES.get(name, "0b0d2cf4-6f0f-4c3c-9a51-3f4f0c6a7c11")
        path = path.replace(f"{{{name}}}", known)
    return path


# ---- schemas as tables


def _resolve(document: Json, thing: Mapping[str, Any]) -> Json:
    """The target of a `$ref`, or the object itself."""
    target: Any = thing
    while "$ref" in target:
        kind, name = target["$ref"].split("/")[-2:]
        target = document["components"][kind][name]
    return dict(target)


def _rows(document: Json, schema: Mapping[str, Any], before: str = "") -> Iterator[KeyRow]:
    """The keys of an object and of the objects in it: `items[].product_id`."""
    schema = _resolve(document, schema)
    if schema.get("type") == "array":
        yield from _rows(document, schema["items"], f"{before}[]")
        return
    for key, inner in schema.get("properties", {}).items():
        name = f"{before}.{key}" if before else key
        yield _row(document, name, inner, {"required": key in schema.get("required", ())})
        yield from _rows(document, _object_in(document, inner), name)


def _merge_languages(rows: Sequence[KeyRow]) -> Iterator[KeyRow]:
    """Merge the rows of a translated text into one row."""
    at = 0
    while at < len(rows):
        name = rows[at].names[0].removesuffix(f"_{LANGUAGES[0]}")
        family = [f"{name}_{language}" for language in LANGUAGES]
        candidates = rows[at : at + len(family)]
        if [row.names[0] for row in candidates] == family:
            yield KeyRow(tuple(family), candidates[0].kind, candidates[0].required, candidates[0].description)
            at += len(family)
        else:
            yield rows[at]
            at += 1


def _object_in(document: Json, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    resolved = _resolve(document, schema)
    alternatives = [_resolve(document, s) for s in resolved.get("anyOf", ())]
    return next((a for a in alternatives if "properties" in a), resolved)


def _row(document: Json, name: str, schema: Mapping[str, Any], about: Mapping[str, Any]) -> KeyRow:
    resolved = _resolve(document, schema)
    description = about.get("description") or schema.get("description") or resolved.get("description", "")
    return KeyRow((name,), _kind(document, schema), "required" if about.get("required") else "", description)


def _kind(document: Json, schema: Mapping[str, Any]) -> str:
    """The type of a value as text."""
    resolved = _resolve(document, schema)
    if "anyOf" in resolved:
        return " or ".join(dict.fromkeys(_kind(document, inner) for inner in resolved["anyOf"]))
    if "const" in resolved:
        return f'"{resolved["const"]}"'
    if "enum" in resolved:
        return " | ".join("null" if value is None else str(value) for value in resolved["enum"])
    kinds = resolved.get("type", "any")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds == ["array"]:
        return f"array of {_kind(document, resolved.get('items', {}))}"
    known = resolved.get("format") or resolved.get("pattern")
    return " or ".join(f"string ({known})" if kind == "string" and known else kind for kind in kinds)
