"""OpenAPI schemas of documented values that may be missing."""

from rest_compat.shapes.writers import Schema


def is_string(schema: Schema) -> bool:
    return schema.get("type") == "string" or any(is_string(one) for one in schema.get("anyOf", ()))


def or_empty(schema: Schema) -> Schema:
    """The schema of a string that may be empty, which no date, UUID or enum allows by itself."""
    if "enum" in schema:
        return {**schema, "enum": list(dict.fromkeys([*schema["enum"], ""]))}
    if "format" in schema:
        alone = {name: value for name, value in schema.items() if name != "description"}
        description = {"description": schema["description"]} if "description" in schema else {}
        return {"anyOf": [alone, {"type": "string", "const": ""}], **description}
    pattern = schema.get("pattern", "^$")
    return schema if pattern.startswith("^$") else {**schema, "pattern": f"^$|{pattern}"}


def or_null(schema: Schema) -> Schema:
    if "enum" in schema:
        schema = {**schema, "enum": list(dict.fromkeys([*schema["enum"], None]))}
    return {**schema, "type": [*_types(schema), "null"]}


def _types(schema: Schema) -> list[str]:
    types = schema["type"]
    return [types] if isinstance(types, str) else [t for t in types if t != "null"]
