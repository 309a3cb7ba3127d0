"""The choices of references: the objects that a field may lead to, by their names and pictures."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from graphql import GraphQLInputObjectType

from admin.core.request import AdminRequest
from admin.core.titles import title_of
from admin.core.values import value_at
from admin.forms.form_fields import Choices, Picker
from admin.forms.kinds import InputField, Kind, fields_of
from admin.forms.typed import chosen_in
from admin.graph.schema_types import access_of, list_filter_of, mutations, queries
from admin.graph.selections import value_selection
from admin.resources.resource import Resource
from funnel.core.messages import N_

MOST = 100
"""Choices that are all shown. With more of them there is a search, or the reference is typed."""
MOST_FOUND = 24
"""Choices that are shown beside a search."""
MOST_CHOSEN = 100
DEEPEST = 4
SEARCHED = "nameContains"
"""The field of a filter that a search of choices uses, if the resource names none."""
PRESENT = N_("The present picture")
OFFERED: Mapping[tuple[str, str], Mapping[str, object]] = {
    ("IssueGiftCardInput", "designId"): {"isOfPartner": True, "isActive": True},
    ("CreateNetworkGiftCardInput", "designId"): {"isOfPartner": False, "isActive": True},
}
"""Filters of the choices of fields that take only some objects of a list, by input and field."""


def references_in(kind: GraphQLInputObjectType, level: int = 0) -> Iterator[InputField]:
    """The references in an input type at any depth."""
    for each in fields_of(kind):
        if each.kind in (Kind.REFERENCE, Kind.REFERENCES) and each.target is not None:
            yield each
        elif each.kind in (Kind.GROUP, Kind.ROWS) and level < DEEPEST:
            yield from references_in(each.input, level + 1)


async def choices_of(
    request: AdminRequest, kind: GraphQLInputObjectType, hidden: frozenset[str]
) -> Mapping[str, Choices]:
    """The choices of all references that are few enough to be all shown."""
    found = await _load(request, kind, _shown_references(request, kind, hidden), Lists())
    return {name: picker.choices for name, picker in found.items() if not picker.is_searched}


@dataclass(frozen=True)
class Lists:
    """What the choices of a form depend on."""

    form: Mapping[str, str] = field(default_factory=dict)
    """The values of the form: what is chosen is always among the choices."""
    searches: Mapping[str, str] = field(default_factory=dict)
    """What is searched, by the name of the reference without the names around it."""
    partner_uuid: str | None = None
    """Choices are the objects of this partner, where lists tell them apart."""
    can_upload: bool = False
    """Whether the partner of new pictures is known."""


async def pickers_of(
    request: AdminRequest, kind: GraphQLInputObjectType, hidden: frozenset[str], lists: Lists
) -> Mapping[str, Picker]:
    """The choices of all references of a form, by the names of the references without the names around them."""
    references = _shown_references(request, kind, hidden)
    found = await _load(request, kind, references, lists)
    for name, absent in (await _load_chosen(request, references, lists.form, found)).items():
        found[name].add(absent)
    return {name: picker for name, picker in found.items() if not picker.is_searched or picker.has_search}


def _shown_references(
    request: AdminRequest, kind: GraphQLInputObjectType, hidden: frozenset[str]
) -> Mapping[str, InputField]:
    return {
        each.name: each
        for each in references_in(kind)
        if each.name not in hidden and each.target is not None and request.may(each.target.access)
    }


async def _load(
    request: AdminRequest, kind: GraphQLInputObjectType, references: Mapping[str, InputField], lists: Lists
) -> dict[str, Picker]:
    """The first choices of each reference."""
    if not references:
        return {}
    parts, declared, variables = [], [], dict[str, object]()
    for name, of in references.items():
        to = _target(of)
        offered = OFFERED.get((kind.name, name), {})
        variables[name] = {**_filter(to, lists.partner_uuid, lists.searches.get(name, "")), **offered}
        declared.append(f"${name}: {list_filter_of(to.query).name}")
        parts.append(
            f"{name}: {to.query}(first: {MOST}, filter: ${name}) "
            f"{{ nodes {{ {_selection(of)} }} pageInfo {{ hasNextPage }} }}"
        )
    answer = await request.run(f"query({', '.join(declared)}) {{ {' '.join(parts)} }}", variables)
    answer.check()
    return {
        name: _picker(request, of, page, lists.searches.get(name, ""), can_upload=lists.can_upload)
        for name, of in references.items()
        if (page := answer.data.get(name))
    }


def _filter(to: Resource, partner_uuid: str | None, search: str) -> dict[str, object]:
    fields = list_filter_of(to.query).fields
    filter: dict[str, object] = {}
    if partner_uuid is not None and "partnerUuid" in fields:
        filter["partnerUuid"] = partner_uuid
    if "archived" in fields:
        filter["archived"] = False
    if search and (name := _search_field(to)):
        filter[name] = search
    return filter


def _search_field(to: Resource) -> str:
    """The field of the filter that a search uses; empty if there is none."""
    fields = list_filter_of(to.query).fields
    names = [name for name in (SEARCHED, *to.search) if name in fields and str(fields[name].type) == "String"]
    return names[0] if names else ""


def _picker(request: AdminRequest, of: InputField, page: Mapping[str, Any], search: str, *, can_upload: bool) -> Picker:
    to, nodes = _target(of), page["nodes"]
    has_more = page["pageInfo"]["hasNextPage"]
    shown = nodes[:MOST_FOUND] if has_more else nodes
    picker = Picker(
        is_searched=has_more or bool(search),
        has_search=bool(_search_field(to)),
        has_more=has_more,
        has_pictures=bool(to.picture),
        search=search,
        can_upload=can_upload and to.type.name == "Media" and request.may(access_of(mutations()["createMedia"])),
    )
    picker.add([_choice(request, of, row) for row in shown])
    return picker


async def _load_chosen(
    request: AdminRequest, references: Mapping[str, InputField], form: Mapping[str, str], pickers: Mapping[str, Picker]
) -> Mapping[str, Sequence[tuple[str, str, str]]]:
    """What is chosen and not among the first choices: value, name and picture."""
    absent = {name: _chosen(form, references[name]) - picker.values for name, picker in pickers.items()}
    asked: dict[str, tuple[str, str]] = {}
    parts, choices = [], dict[str, list[tuple[str, str, str]]]()
    for name, values in absent.items():
        of = references[name]
        for value in sorted(values)[:MOST_CHOSEN]:
            if (literal := _literal(of, value)) is not None:
                alias = f"c{len(asked)}"
                asked[alias] = name, value
                parts.append(f"{alias}: {_target(of).finds}({of.key}: {literal}) {{ {_selection(of)} }}")
            elif of.key not in ("id", "uuid"):
                choices.setdefault(name, []).append((value, request.translate(PRESENT), value))
    if parts:
        answer = await request.run(f"{{ {' '.join(parts)} }}")
        for alias, (name, _value) in asked.items():
            if row := answer.data.get(alias):
                choices.setdefault(name, []).append(_choice(request, references[name], row))
    return choices


def _literal(of: InputField, value: str) -> str | None:
    """A key in a document; None if it is none that an object can be found by."""
    if of.key not in queries()[_target(of).finds].args:
        return None
    if of.key == "id":
        return value if value.isascii() and value.isdecimal() and int(value) < 2**31 else None
    try:
        return f'"{UUID(value)}"' if of.key == "uuid" else None
    except ValueError:
        return None


def _chosen(form: Mapping[str, str], of: InputField) -> set[str]:
    """What is chosen for a reference, in whatever groups and rows it is."""
    found: set[str] = set()
    for key, text in form.items():
        around, _, last = key.rpartition(".")
        if key.startswith("_"):
            continue
        if last == of.name:
            found |= set(chosen_in({of.name: text}, of.name))
        elif of.kind is Kind.REFERENCES and around.rpartition(".")[2] == of.name:
            found |= set(chosen_in({f"{of.name}.{last}": text}, of.name))
    return found


def _choice(request: AdminRequest, of: InputField, row: Mapping[str, Any]) -> tuple[str, str, str]:
    """The value of a choice, its name and the address of its picture. Pictures and addresses are on every host."""
    to = _target(of)
    value, picture = str(value_at(row, of.key)), _picture(to, row)
    is_address = of.key not in ("id", "uuid")
    return _path(value) if is_address else value, title_of(to, row, request.reader), _path(picture)


def _picture(to: Resource, row: Mapping[str, Any]) -> str:
    """The address of the picture of an object, the first of several; empty if it has none."""
    found: Any = row
    for name in to.picture.split(".") if to.picture else ():
        found = found.get(name) if found else None
        found = next(iter(found), None) if isinstance(found, list) else found
    return found if isinstance(found, str) else ""


def _path(url: str) -> str:
    return urlsplit(url).path


def _selection(of: InputField) -> str:
    to = _target(of)
    paths = dict.fromkeys((of.key, *to.title, *([to.picture] if to.picture else ())))
    return " ".join(value_selection(to.type, path) for path in paths)


def _target(of: InputField) -> Resource:
    assert of.target is not None
    return of.target
