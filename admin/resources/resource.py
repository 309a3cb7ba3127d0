"""A resource of the back office: its list, its page, its actions. What is not given here is read from the schema."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from graphql import GraphQLObjectType, get_named_type

from admin.graph.labels import action_label, label_of, split
from admin.graph.schema_types import access_of, input_of, mutations, object_type, queries, result_of
from admin.resources.consequences import CONSEQUENCES
from schema.core.permission import RequiredAccess

KEYS = "id", "uuid", "code"
"""Fields of inputs that name the object to change, the best first."""
States = Mapping[str, frozenset[Any]]
"""The values that an object may have at a path, for several paths."""
UNSET: frozenset[Any] = frozenset({None})
"""For a path that has no value yet."""
TRUE, FALSE = frozenset({True}), frozenset({False})
"""For a path that tells whether something is so."""
PREFILLED = frozenset(
    {"changeSiteDomain", "extendGiftCard", "extendNetworkGiftCard", "extendNetworkVoucher", "extendVoucher"}
)
"""Changes of a value that are no updates."""
CREATES = frozenset({"create", "import", "invite", "issue", "publish"})
"""First words of changes that make something new."""
DANGEROUS = frozenset(
    {"cancel", "delete", "discard", "erase", "revoke", "remove", "retire", "archive", "reject", "decline"}
)
"""First words of changes that take something away."""


@dataclass(frozen=True)
class Action:
    """A change that a button leads to: a mutation, and the fields of its input that the object gives, by their paths.

    A path of the object around a child begins with `^`.
    """

    mutation: str
    bound: Mapping[str, str] = field(default_factory=dict)
    named: str = ""
    only: tuple[str, ...] = ()
    """The fields of its form, which the form of the whole input leaves out then; all if empty."""
    part: str = ""
    """What the name in addresses has besides that of the mutation, of a form with a part of the fields."""
    when: States = field(default_factory=dict)
    """In which states it is possible; empty if it always is, or if only the API knows."""
    link_fields: tuple[str, ...] = ()
    """Fields, besides the tenant, with which links may fill the form of something new."""
    as_read: tuple[str, ...] = ()
    """Fields of its input with a value of the object as its form has told it: what has changed since is refused."""
    leads_home: bool = False
    """Whether it leads to the first page, instead of what has changed."""
    is_of_account: bool = False
    """Whether it is about the user's own account, whose page it belongs to."""

    def is_possible(self, values: Mapping[str, Any]) -> bool:
        """Whether the state of an object allows it."""
        return all(_value_at(values, path) in states for path, states in self.when.items())

    @property
    def slug(self) -> str:
        """The name in addresses: `mark-order-ready`."""
        return "-".join([*split(self.mutation), *([self.part] if self.part else [])])

    @property
    def access(self) -> RequiredAccess:
        """What it requires of its caller."""
        return access_of(mutations()[self.mutation])

    @property
    def is_update(self) -> bool:
        """Whether it changes only what is sent, so that its form has the present values."""
        return self.mutation.startswith("update")

    @property
    def is_prefilled(self) -> bool:
        """Whether its form begins with the present values of the object."""
        return self.is_update or self.mutation in PREFILLED

    @property
    def is_creation(self) -> bool:
        """Whether it makes a new object."""
        return split(self.mutation)[0] in CREATES

    @property
    def is_dangerous(self) -> bool:
        """Whether it takes something away."""
        return split(self.mutation)[0] in DANGEROUS

    @property
    def consequence(self) -> str:
        """What it leads to, of one that moves money or cannot be undone; empty for others."""
        return CONSEQUENCES.get(self.mutation, "")


def states(**of: str) -> States:
    """The states at paths, with `__` for the dots and spaces between the states."""
    return {path.replace("__", "."): frozenset(values.split()) for path, values in of.items()}


def _value_at(values: Mapping[str, Any], path: str) -> Any:
    found: Any = values
    for name in path.split("."):
        found = found.get(name) if found else None
    return found


@dataclass(frozen=True)
class Report:
    """What a query tells about an object, or about what is typed: a field of `Query`, and the arguments that the object
    gives, by their paths.
    """

    query: str
    named: str
    bound: Mapping[str, str] = field(default_factory=dict)

    @property
    def slug(self) -> str:
        """The name in addresses: `payout-preview`."""
        return "-".join(split(self.query))

    @property
    def access(self) -> RequiredAccess:
        """What it requires of its caller."""
        return access_of(queries()[self.query])


@dataclass(frozen=True)
class RelatedList:
    """A list with the objects that have the same value as an object, by the field of its filter."""

    query: str
    named: str
    shared: str
    """The field of the object, and of the filter of the list."""

    @property
    def access(self) -> RequiredAccess:
        """What the list requires of its caller."""
        return access_of(queries()[self.query])

    def url(self, values: Mapping[str, Any]) -> str:
        """The address of the list with its filter, below the back office; empty if the object has no such value."""
        value = values[self.shared]
        return f"{'-'.join(split(self.query))}/?{urlencode({self.shared: value})}" if value else ""


@dataclass(frozen=True)
class Child:
    """Objects that are listed on the page of another: its field with them, and their own actions."""

    field: str
    actions: tuple[Action, ...]


@dataclass(frozen=True)
class Resource:
    """Objects of one type with a list and pages."""

    query: str
    """The field of `Query` with the list."""
    columns: tuple[str, ...]
    """Paths of the values in the list, the first leads to the object."""
    title: tuple[str, ...]
    """Paths of the values that name an object."""
    find: str = ""
    """The field of `Query` that finds one; by default the type's name."""
    key: str = "id"
    """The field that an object is found by, and its name in addresses."""
    more: tuple[Action, ...] = ()
    """Actions that the schema does not tell to be of this type."""
    more_new: tuple[Action, ...] = ()
    """Further changes above the list."""
    elsewhere: frozenset[str] = frozenset()
    """Mutations that answer this type, but start from another resource."""
    when: Mapping[str, States] = field(default_factory=dict)
    """In which states own changes are possible, by mutation: see `Action.when`."""
    reports: tuple[Report, ...] = ()
    """Reports about an object."""
    list_reports: tuple[Report, ...] = ()
    """Reports above the list."""
    related: tuple[RelatedList, ...] = ()
    """Lists that the page of an object leads to."""
    children: tuple[Child, ...] = ()
    left_out: frozenset[str] = frozenset()
    """Fields that its page does without."""
    search: tuple[str, ...] = ()
    """Fields of the filter that the search of all resources tries."""
    is_of_network: bool = False
    """Whether others lead users of a partner to objects that only the marketplace may look up."""
    is_read_by_others: bool = False
    """Whether users of a partner see objects of others, which they may not change."""
    asked_by: str = ""
    """The field with the id of the user who has asked for an object, which others decide about; empty if anybody may."""
    waits: States = field(default_factory=dict)
    """In which states an object changes by itself, so that its page is loaded again; empty for never."""
    progress: tuple[str, ...] = ()
    """The fields that say how much of it is done, and of how much; none if it takes no time."""
    file: str = ""
    """The field with the address of the file that an object is; empty if it is none. The page has a button for it."""
    sheets: str = ""
    """What can be printed of many objects, a sheet for each; empty if nothing."""
    picture: str = ""
    """Path of the address of its picture, which choices show; empty if it has none."""

    @cached_property
    def type(self) -> GraphQLObjectType:
        """The type of the objects."""
        connection = get_named_type(queries()[self.query].type)
        assert isinstance(connection, GraphQLObjectType)
        return object_type(connection.name.removesuffix("Connection"))

    @cached_property
    def finds(self) -> str:
        """The field of `Query` that finds one."""
        return self.find or self.type.name[0].lower() + self.type.name[1:]

    @cached_property
    def slug(self) -> str:
        """The name in addresses: `gift-cards`."""
        return "-".join(split(self.query))

    @property
    def label(self) -> str:
        """The name of the list: "Gift cards"."""
        return label_of(self.query)

    @property
    def access(self) -> RequiredAccess:
        """What the list requires of its caller."""
        return access_of(queries()[self.query])

    @cached_property
    def actions(self) -> tuple[Action, ...]:
        """All changes of one object: updates first, dangerous ones last."""
        own = [
            Action(name, {key: key}, when=self.when.get(name, {}))
            for name in self._own_mutations()
            if (key := self._key_in(name))
        ]
        found = (*own, *self.more)
        return tuple(sorted(found, key=lambda it: (not it.is_update, it.is_dangerous, found.index(it))))

    @cached_property
    def new(self) -> tuple[Action, ...]:
        """All changes that make a new one; last those that enter what exists elsewhere."""
        own = [Action(name) for name in self._own_mutations() if not self._key_in(name)]
        return (*sorted(own, key=lambda it: split(it.mutation)[0] == "import"), *self.more_new)

    def changes_by_itself(self, values: Mapping[str, Any]) -> bool:
        """Whether an object changes by itself in its present state."""
        return bool(self.waits) and all(_value_at(values, path) in states for path, states in self.waits.items())

    def action_name(self, action: Action) -> str:
        """The label of the button of an action."""
        return action.named or action_label(action.mutation, self.type.name)

    @property
    def all_actions(self) -> tuple[Action, ...]:
        """The actions of an object, of its children, and above the list."""
        return (*self.actions, *(action for child in self.children for action in child.actions), *self.new)

    def find_any_action(self, slug: str) -> Action | None:
        """The first of all actions with a name in addresses."""
        return next((it for it in self.all_actions if it.slug == slug), None)

    def _own_mutations(self) -> list[str]:
        taken = {each.mutation for each in (*self.more, *self.more_new) if not each.only} | self.elsewhere
        return [
            name
            for name in mutations()
            if name not in taken and (result := result_of(name)) is not None and result[1] is self.type
        ]

    def _key_in(self, mutation: str) -> str:
        """The field of an input that names the object; empty if the input makes a new one."""
        if split(mutation)[0] in CREATES:
            return ""
        return next((key for key in KEYS if key in input_of(mutation).fields and key in self.type.fields), "")


@dataclass(frozen=True)
class ResourceSection:
    """Resources that belong together in the menu."""

    name: str
    resources: tuple[Resource, ...]
