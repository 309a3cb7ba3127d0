"""JSON schemas of requests and responses, generated from inputs and shapes; and sample values for them."""

import re
from collections.abc import Mapping
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from rest_compat.http.inputs import InputReader
from rest_compat.shapes.names import in_snake_case
from rest_compat.shapes.shape import InnerShape, ResourceShape
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
    """A description of GraphQL with the names of REST: `funnelUrl` becomes `funnel_url`."""
    return _CODE.sub(lambda code: in_snake_case(code[0]), description)


class _Schemas(GenerateJsonSchema):
    """Describes uploaded files as binary strings; they are the only values that are not JSON."""

    def is_instance_schema(self, schema: core_schema.IsInstanceSchema) -> JsonSchemaValue:  # noqa: ARG002
        return {"type": "string", "format": "binary"}


class Components:
    """The named schemas of the document, each defined once."""

    def __init__(self) -> None:
        self.schemas: Json = {}
        self._shapes: dict[str, ResourceShape] = {}

    def shape(self, shape: ResourceShape) -> Json:
        """A reference to the schema of a shape. Raises ValueError if two shapes have the same name."""
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
        """A reference to the schema of a page."""
        self.schemas.setdefault(f"{name}Page", schema)
        return {"$ref": f"#/components/schemas/{name}Page"}

    def _property(self, written: Mapping[str, Any] | InnerShape) -> Json:
        if isinstance(written, InnerShape):
            one = self.shape(written.shape)
            if written.many:
                return {"type": "array", "items": one}
            return {"anyOf": [one, {"type": "null"}]} if written.nullable else one
        shown = dict(written)
        if "description" in shown:
            shown["description"] = rest_words(shown["description"])
        return shown

    def example(self, shape: ResourceShape) -> Json:
        """An example of a shape."""
        shown: Json = {}
        for key, written in shape.properties.items():
            if key in shape.example:
                shown[key] = shape.example[key]
            elif isinstance(written, InnerShape):
                one = self.example(written.shape)
                shown[key] = [one] if written.many else one
            else:
                shown[key] = sample(written)
        return {key: shown[key] for key in shape.keys}

    def input(self, reader: InputReader, left_out: frozenset[str] = frozenset(), *, whole: bool = False) -> Json:
        """The schema of a request body without the keys `left_out`, which the path has. A `whole` one requires all
        required keys.
        """
        generated = reader.model.model_json_schema(
            ref_template="#/components/schemas/{model}", schema_generator=_Schemas, mode="validation"
        )
        for name, schema in generated.pop("$defs", {}).items():
            self.schemas.setdefault(name, _without_titles(schema))
        sent_schema = self._input_schema(reader, _without_titles(generated), left_out)
        required = [key for key in reader.required_keys if whole and key not in sent_schema["required"]]
        return {**sent_schema, "required": [*sent_schema["required"], *required]}

    def _input_schema(self, reader: InputReader, built: Json, left_out: frozenset[str]) -> Json:
        required, properties = set(built.get("required", ())), Json()
        needed: list[str] = []
        for field, schema in built["properties"].items():
            if field in reader.groups:
                inner, group_required = self._group(reader, field)
                properties |= inner
                needed += group_required
                continue
            key = reader.key_of(field)
            if key in left_out or field in reader.graphql_only:
                continue
            if field in reader.texts:
                text = {"type": ["string", "null"]} if field not in required else {"type": "string"}
                properties |= {f"{field}_{at}": text for at in LANGUAGES}
                continue
            nested = reader.nested.get(field)
            properties[key] = schema if nested is None else self._nested_schema(nested, schema)
        spread = {*reader.texts, *reader.groups}
        needed += [reader.key_of(field) for field in built.get("required", ()) if field not in spread]
        return {**built, "properties": properties, "required": [key for key in needed if key not in left_out]}

    def _group(self, reader: InputReader, name: str) -> tuple[Json, list[str]]:
        """The schemas of a group's keys, and the required ones among them."""
        group = reader.groups[name]
        group_schema = self.input(InputReader(group.model))
        keys = {field: key for (of, field), key in reader.grouped.items() if of == name}
        properties = {key: group_schema["properties"][field] for field, key in keys.items()}
        needed = [keys[field] for field in group_schema["required"] if field in keys] if group.required else []
        return properties, needed

    def _nested_schema(self, reader: InputReader, schema: Json) -> Json:
        inner = self.input(reader)
        return {**schema, "items": inner} if schema.get("type") == "array" else {"anyOf": [inner, {"type": "null"}]}

    def resolve(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """A schema; the target if it is a reference."""
        name = str(schema.get("$ref", "")).rpartition("/")[2]
        return self.schemas[name] if name else schema

    def sample(self, schema: Mapping[str, Any]) -> Any:
        """A value that fits a schema. Follows references."""
        schema = self.resolve(schema)
        if "examples" not in schema and "anyOf" in schema:
            return self.sample(schema["anyOf"][0])
        if "examples" not in schema and schema.get("type") == "object" and "properties" in schema:
            return {key: self.sample(inner) for key, inner in schema["properties"].items()}
        if "examples" not in schema and schema.get("type") == "array":
            return [self.sample(schema.get("items", {}))]
        return sample(schema)


def sample(schema: Mapping[str, Any]) -> Any:
    """A value that fits a schema without references."""
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


def _without_titles(schema: Any) -> Any:
    """Remove the titles that pydantic generates, and convert descriptions to the names of REST."""
    if isinstance(schema, list):
        return [_without_titles(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    cleaned = {
        key: _without_titles(inner) for key, inner in schema.items() if not (key == "title" and isinstance(inner, str))
    }
    if isinstance(cleaned.get("description"), str):
        cleaned["description"] = rest_words(cleaned["description"])
    return cleaned
