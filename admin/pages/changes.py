"""What an address asks to change: the action, the object, the fields of the input that it gives."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from graphql import GraphQLObjectType, get_named_type, is_non_null_type

from admin.core.paths import ACCOUNT_PATH, ROOT
from admin.core.request import AdminRequest
from admin.core.titles import url_of
from admin.core.values import value_at
from admin.forms.current import WritingStyle, selection, typed_values
from admin.graph.labels import split
from admin.graph.schema_types import input_of
from admin.graph.selections import value_selection
from admin.pages.details import child_url
from admin.pages.resolving import read_object, resource_of
from admin.resources.consequences import PATHS
from admin.resources.resource import KEYS, Action, Child, Resource
from funnel.core.messages import N_
from resolvers.core.caller import Role
from schema.core.errors import NotFound

TENANTS = frozenset({"partnerUuid", "marketplaceUuid"})
ACCOUNT = N_("Your account")
AROUND = "^"
"""Begins a path of the object around a child."""


@dataclass(frozen=True)
class Change:
    """An action that was asked for: on an object, on a child of one, or above a list."""

    resource: Resource
    action: Action
    object: Mapping[str, Any] | None = None
    """The object with its key, its title and what its form needs; None above a list."""
    child: Child | None = None
    target: Mapping[str, Any] = field(default_factory=dict)
    """The object or the child that changes, with its present values."""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """The fields of the input that the object gives."""
    way_back: str = ""
    """Where it leads back to, if that is not the page of the resource: the account."""

    @property
    def back_url(self) -> str:
        """The page that the action belongs to."""
        if self.way_back:
            return self.way_back
        return url_of(self.resource, self.object) if self.object is not None else f"{ROOT}{self.resource.slug}/"

    @property
    def back_label(self) -> str:
        """The name of that page, if it is not the page of an object."""
        return ACCOUNT if self.way_back else self.resource.label

    @property
    def url(self) -> str:
        """The address of the form."""
        if self.object is None:
            return f"{ROOT}{self.resource.slug}/new/{self.action.slug}/"
        own = url_of(self.resource, self.object)
        around = child_url(own, self.child, self.target) if self.child is not None else own
        return f"{around}{self.action.slug}/"

    @property
    def target_type(self) -> GraphQLObjectType:
        """The type of what changes."""
        return self.resource.type if self.child is None else type_of_child(self.resource, self.child)

    @property
    def confirmed_paths(self) -> Sequence[str]:
        """The values of the object that its form tells before the change."""
        return tuple(dict.fromkeys((*self.resource.columns, *PATHS.get(self.action.mutation, ()))))

    @property
    def partner_uuid(self) -> str | None:
        """The partner of the object, if it has one."""
        found = value_at(self.object, "partner.uuid") if self.object is not None else None
        return found or (self.object or {}).get("uuid" if self.resource.type.name == "Partner" else "")

    @property
    def language(self) -> str:
        """The language of the partner whose object it is; empty if it is unknown."""
        of_object = self.object or {}
        found = value_at(of_object, "partner.language") or of_object.get("language")
        return str(found or "")

    def hidden_fields(self, request: AdminRequest) -> frozenset[str]:
        """The fields of the input that the form does not have: given, or with only one possible value."""
        fields = input_of(self.action.mutation).fields
        hidden = {*self.fixed, *self.action.as_read} | self._fields_elsewhere()
        if hidden & set(KEYS):
            hidden |= {key for key in KEYS if key in fields}
        if self.action.is_update:
            hidden |= TENANTS & fields.keys()
        if request.is_partner:
            hidden |= TENANTS & fields.keys()
        elif request.required_caller.role is Role.MARKETPLACE:
            hidden |= {"marketplaceUuid"} & fields.keys()
        return frozenset(hidden)

    @property
    def read_values(self) -> Mapping[str, Any]:
        """The values of the object that the form sends as it has told them."""
        return {name: value_at(self.target, name) for name in self.action.as_read}

    def _fields_elsewhere(self) -> set[str]:
        """The fields that another form of the same mutation has."""
        if self.action.only:
            return {name for name in input_of(self.action.mutation).fields if name not in self.action.only}
        siblings = (it for it in self.resource.actions if it.mutation == self.action.mutation)
        return {name for it in siblings for name in it.only}

    def present_values(self, request: AdminRequest) -> dict[str, str]:
        """The values that the form begins with: of a field that it does not have it would seem that it was emptied."""
        if not self.target or not self.action.is_prefilled:
            return {}
        kind, hidden = input_of(self.action.mutation), self.hidden_fields(request)
        style = WritingStyle(request.reader.time_zone, request.reader.formats.decimal_mark)
        values = typed_values(kind, self.target_type, self.target, style)
        return {name: value for name, value in values if name.partition(".")[0] not in hidden}


def type_of_child(resource: Resource, child: Child) -> GraphQLObjectType:
    """The type of the children of an object."""
    named = get_named_type(resource.type.fields[child.field].type)
    assert isinstance(named, GraphQLObjectType)
    return named


async def find_change(request: AdminRequest) -> Change:
    """The change that the address names. Raises NotFound, and Forbidden without the permission."""
    resource, path = resource_of(request), request.http_request.path_params
    if "key" not in path:
        action = next((it for it in resource.new if it.slug == path["action"]), None)
        return await _of_own_partner(request, _allowed(request, Change(resource, _require(action))))
    if "child" not in path:
        change = _allowed(request, Change(resource, _require(_by_slug(resource.actions, path["action"]))))
        values = await read_object(request, resource, _selection(change))
        return _with_fixed(replace(change, object=values, target=values))
    child = next((it for it in resource.children if "-".join(split(it.field)) == path["child"]), None)
    if child is None:
        raise NotFound(thing="page")
    change = _allowed(request, Change(resource, _require(_by_slug(child.actions, path["action"])), child=child))
    values = await read_object(request, resource, _selection(change))
    target = next((it for it in values[child.field] or () if str(it["id"]) == path["child_key"]), None)
    if target is None:
        raise NotFound(thing="page")
    return _with_fixed(replace(change, object=values, target=target))


async def _of_own_partner(request: AdminRequest, change: Change) -> Change:
    """The change with the partner of its user, if the input needs one: the form does not ask for it."""
    field = input_of(change.action.mutation).fields.get("partnerUuid")
    if not request.is_partner or field is None or not is_non_null_type(field.type):
        return change
    me = (await request.run("query { me { partner { uuid } } }")).only("me")
    return replace(change, fixed={**change.fixed, "partnerUuid": me["partner"]["uuid"]})


def _by_slug(actions: tuple[Action, ...], slug: str) -> Action | None:
    return next((it for it in actions if it.slug == slug), None)


def _require(action: Action | None) -> Action:
    if action is None:
        raise NotFound(thing="page")
    return action


def _allowed(request: AdminRequest, change: Change) -> Change:
    request.context.require(change.action.access)
    is_elsewhere = change.action.is_of_account or not request.may(change.resource.access)
    return replace(change, way_back=ACCOUNT_PATH) if is_elsewhere else change


def _selection(change: Change) -> str:
    """What the form needs of the object: its name, what it gives to the input, its present values."""
    resource, bound = change.resource, change.action.bound.values()
    around = [path.removeprefix(AROUND) for path in bound if change.child is None or path.startswith(AROUND)]
    own = [path for path in (*bound, *change.action.as_read) if not path.startswith(AROUND)]
    told = () if change.action.is_update else change.confirmed_paths
    paths = dict.fromkeys((resource.key, *resource.title, *around, *change.action.as_read, *told))
    parts = [value_selection(resource.type, path) for path in paths]
    if "partner" in resource.type.fields:
        parts.append("partner { uuid language }")
    elif "language" in resource.type.fields:
        parts.append("language")
    present = selection(input_of(change.action.mutation), change.target_type) if change.action.is_prefilled else ""
    if change.child is None:
        parts.append(present)
    else:
        keys = " ".join(value_selection(change.target_type, path) for path in ("id", *own))
        parts.append(f"{change.child.field} {{ {keys} {present} }}")
    return " ".join(parts)


def _with_fixed(change: Change) -> Change:
    fixed = {
        name: value_at(change.object, path.removeprefix(AROUND))
        if path.startswith(AROUND)
        else value_at(change.target, path)
        for name, path in change.action.bound.items()
    }
    return replace(change, fixed=fixed)
