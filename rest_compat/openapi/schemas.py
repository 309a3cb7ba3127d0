"""JSON schemas of what is sent and answered, from the inputs and shapes themselves; and values to show for them."""

import re
from collections.abc import Mapping
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from rest_compat.http.inputs import InputReader
from rest_compat.shapes.names import in_snake_case
from rest_compat.shapes.shape import Inner, Shape
from schema.validation.languages import LANGUAGES

Json = dict[str, Any]

SAMPLES: Mapping[str, Any] = {
    "uuid": "0b0d2cf4-6f0f-4c3c-9a51-3f4f0c6a7c11",
    "date": "2030-12-31",
    "date-time": "2030-12-31T12:00:00.000000Z",
    "binary": "(the file)",
}

_CODE = re.compile(r"`[a-z][A-Za-z0-9.]*`")


def rest_words(description: str) -> str:
    """A description written for the graph, with the names of REST: `funnelUrl` is `funnel_url` here."""
    return _CODE.sub(lambda code: in_snake_case(code[0]), description)


class _Schemas(GenerateJsonSchema):
    """Uploaded files are the only objects that are not data."""

    def is_instance_schema(self, schema: core_schema.IsInstanceSchema) -> JsonSchemaValue:  # noqa: ARG002
        return {"type": "string", "format": "binary"}


class Components:
    """The named schemas of the document, each there once."""

    def __init__(self) -> None:
        self.schemas: Json = {}
        self._shapes: dict[str, Shape] = {}

    def shape(self, shape: Shape) -> Json:
        """A reference to what a shape writes."""
        known = self._shapes.setdefault(shape.name, shape)
        if known is not shape:
            raise ValueError(f"Two shapes are named {shape.name}.")
        if shape.name not in self.schemas:
            schema: Json = {"type": "object", "properties": {}, "required": list(shape.keys)}
            self.schemas[shape.name] = schema
            for key, written in shape.properties.items():
                schema["properties"][key] = self._property(written)
            schema["examples"] = [self.example(shape)]
        return {"$ref": f"#/components/schemas/{shape.name}"}

    def page(self, name: str, schema: Json) -> Json:
        """A reference to a page of what a shape writes."""
        self.schemas.setdefault(f"{name}Page", schema)
        return {"$ref": f"#/components/schemas/{name}Page"}

    def _property(self, written: Mapping[str, Any] | Inner) -> Json:
        if isinstance(written, Inner):
            one = self.shape(written.shape)
            if written.many:
                return {"type": "array", "items": one}
            return {"anyOf": [one, {"type": "null"}]} if written.nullable else one
        shown = dict(written)
        if "description" in shown:
            shown["description"] = rest_words(shown["description"])
        return shown

    def example(self, shape: Shape) -> Json:
        """One of what a shape writes."""
        shown: Json = {}
        for key, written in shape.properties.items():
            if key in shape.example:
                shown[key] = shape.example[key]
            elif isinstance(written, Inner):
                one = self.example(written.shape)
                shown[key] = [one] if written.many else one
            else:
                shown[key] = sample(written)
        return {key: shown[key] for key in shape.keys}

    def input(self, reader: InputReader, left_out: frozenset[str] = frozenset(), *, whole: bool = False) -> Json:
        """The schema of what an input is sent as, without what the path gives; what is `whole` has all keys wanted."""
        made = reader.model.model_json_schema(
            ref_template="#/components/schemas/{model}", schema_generator=_Schemas, mode="validation"
        )
        for name, schema in made.pop("$defs", {}).items():
            self.schemas.setdefault(name, _untitled(schema))
        sent = self._as_sent(reader, _untitled(made), left_out)
        wanted = [key for key in reader.wanted if whole and key not in sent["required"]]
        return {**sent, "required": [*sent["required"], *wanted]}

    def _as_sent(self, reader: InputReader, made: Json, left_out: frozenset[str]) -> Json:
        required, properties = set(made.get("required", ())), Json()
        needed: list[str] = []
        for field, schema in made["properties"].items():
            if field in reader.groups:
                inner, wanted = self._group(reader, field)
                properties |= inner
                needed += wanted
                continue
            key = reader.key_of(field)
            if key in left_out or field in reader.keyless:
                continue
            if field in reader.texts:
                text = {"type": ["string", "null"]} if field not in required else {"type": "string"}
                properties |= {f"{field}_{at}": text for at in LANGUAGES}
                continue
            nested = reader.nested.get(field)
            properties[key] = schema if nested is None else self._nested(nested, schema)
        spread = {*reader.texts, *reader.groups}
        needed += [reader.key_of(field) for field in made.get("required", ()) if field not in spread]
        return {**made, "properties": properties, "required": [key for key in needed if key not in left_out]}

    def _group(self, reader: InputReader, name: str) -> tuple[Json, list[str]]:
        """The keys of a group: their schemas, and those that are required."""
        group = reader.groups[name]
        made = self.input(InputReader(group.model))
        keys = {field: key for (of, field), key in reader.grouped.items() if of == name}
        properties = {key: made["properties"][field] for field, key in keys.items()}
        needed = [keys[field] for field in made["required"] if field in keys] if group.required else []
        return properties, needed

    def _nested(self, reader: InputReader, schema: Json) -> Json:
        inner = self.input(reader)
        return {**schema, "items": inner} if schema.get("type") == "array" else {"anyOf": [inner, {"type": "null"}]}

    def resolved(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """A schema, found where it is a reference."""
        name = str(schema.get("$ref", "")).rpartition("/")[2]
        return self.schemas[name] if name else schema

    def sample(self, schema: Mapping[str, Any]) -> Any:
        """A value that fits a schema, references followed."""
        schema = self.resolved(schema)
        if "examples" not in schema and "anyOf" in schema:
            return self.sample(schema["anyOf"][0])
        if "examples" not in schema and schema.get("type") == "object" and "properties" in schema:
            return {key: self.sample(inner) for key, inner in schema["properties"].items()}
        if "examples" not in schema and schema.get("type") == "array":
            return [self.sample(schema.get("items", {}))]
        return sample(schema)


def sample(schema: Mapping[str, Any]) -> Any:
    """A value that fits a simple schema."""
    if "examples" in schema:
        return schema["examples"][0]
    if schema.get("enum"):
        return schema["enum"][0]
    if "anyOf" in schema:
        return sample(schema["anyOf"][0])
    kind = schema.get("type", "string")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "string":
        return SAMPLES.get(schema.get("format", ""), "text")
    if kind == "array":
        return [sample(schema.get("items", {}))]
    return {"integer": max(1, schema.get("minimum", 1)), "number": 10.0, "boolean": True, "object": {}, "null": None}[
        kind
    ]


def _untitled(schema: Any) -> Any:
    """Without the titles that pydantic makes of names, and with descriptions in the words of REST."""
    if isinstance(schema, list):
        return [_untitled(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: _untitled(inner) for key, inner in schema.items() if not (key == "title" and isinstance(inner, str))}
    if isinstance(made.get("description"), str):
        made["description"] = rest_words(made["description"])
    return made
