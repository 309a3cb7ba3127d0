"""The fields of a form as its template draws them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graphql import GraphQLEnumType, GraphQLInputObjectType

from admin.forms.kinds import InputField, Kind, fields_of
from admin.forms.typed import REMOVED, YES, chosen_in, count_of
from admin.graph.labels import label_of, value_label
from funnel.core.languages import NAMES
from schema.validation.languages import LANGUAGES

LANGUAGE = "language"
COUNTRIES = frozenset({"country", "countryCode", "countryOfResidence", "nationality"})
"""Names of texts that are codes of languages and of countries."""
Choices = Sequence[tuple[str, str]]
"""Values with their labels."""
SEARCH, SEARCHED, UPLOAD = "_search.", "_searched.", "_upload."
"""Begin the names of what is searched among the choices of a field, of what was searched before, of a new picture for it."""


@dataclass(slots=True)
class Picker:
    """The choices of a reference that are shown."""

    is_searched: bool = False
    """Whether there are others: too many to show all, or what does not match the search."""
    has_search: bool = False
    """Whether the list of the API can be searched by name."""
    has_more: bool = False
    """Whether more match than are shown."""
    has_pictures: bool = False
    search: str = ""
    can_upload: bool = False
    choices: list[tuple[str, str]] = field(default_factory=list)
    pictures: dict[str, str] = field(default_factory=dict)
    """Addresses of pictures by value; empty for a choice without one."""

    @property
    def is_needed(self) -> bool:
        """Whether choices are more than a plain list."""
        return self.has_pictures or self.is_searched or self.can_upload

    @property
    def values(self) -> set[str]:
        """The values of all choices."""
        return {value for value, _ in self.choices}

    def add(self, choices: Sequence[tuple[str, str, str]]) -> None:
        """Add choices: value, name, address of the picture."""
        for value, name, picture in choices:
            self.choices.append((value, name))
            self.pictures[value] = picture


@dataclass(frozen=True, slots=True)
class FormField:
    """A field of a form: its name, how it is typed, what stands in it and what is wrong with it."""

    name: str
    kind: Kind
    label: str
    help: str = ""
    value: str = ""
    is_required: bool = False
    choices: Choices = ()
    checked: frozenset[str] = frozenset()
    children: Sequence["FormField"] = ()
    rows: Sequence[Sequence["FormField"]] = ()
    picker: Picker | None = None
    """How references are chosen."""
    missing: Sequence[str] = ()
    """Languages that have no text."""
    error: str = ""

    @property
    def id(self) -> str:
        """The id of its element."""
        return "f-" + self.name.replace(".", "-")


@dataclass(frozen=True)
class FormBuilder:
    """Builds the fields of a form from its values, the problems by name, and the choices of references by name."""

    form: Mapping[str, str]
    problems: Mapping[str, str] = field(default_factory=dict)
    choices: Mapping[str, Choices] = field(default_factory=dict)
    """Of references, by the name of the field without the names around it; a reference without choices is typed."""
    has_defaults: bool = False
    """Whether fields that the values do not name have their defaults: of a form that was not sent yet."""
    pickers: Mapping[str, Picker] = field(default_factory=dict)
    """The choices of references with their pictures and their search, likewise."""
    main_language: str = ""
    """The language that comes first of each text."""
    countries: Choices = ()
    """Countries by their names; they are typed without these."""

    def build(self, kind: GraphQLInputObjectType, hidden: frozenset[str], prefix: str = "") -> list[FormField]:
        """The fields of an input type but for the hidden ones."""
        return [self.field(each, prefix + each.name) for each in fields_of(kind) if each.name not in hidden]

    def field(self, of: InputField, name: str) -> FormField:
        """One field."""
        options: dict[str, Any] = {
            "name": name,
            "kind": of.kind,
            "label": label_of(of.name),
            "help": of.help,
            "is_required": of.is_needed,
            "error": self.problems.get(name, ""),
        }
        match of.kind:
            case Kind.GROUP:
                return FormField(**options, children=self.build(of.input, frozenset(), f"{name}."))
            case Kind.ROWS:
                return FormField(**options, value=str(count_of(self.form, name)), rows=self._rows(of, name))
            case Kind.TRANSLATED:
                return FormField(**options, **self._translated(of, name))
            case Kind.CHECKBOXES | Kind.REFERENCES:
                return self._many(of, name, options)
        return self._single(of, name, options)

    def _single(self, of: InputField, name: str, options: dict[str, Any]) -> FormField:
        value = self.form.get(name, _default(of) if self.has_defaults else "")
        if of.kind is Kind.SELECT:
            return FormField(**options, value=value, choices=_members(of))
        if of.kind is Kind.REFERENCE:
            choices, picker = self._choices(of)
            if value and value not in dict(choices) and (choices or picker):
                choices.append((value, f"#{value}"))
            if not choices and picker is None:
                options["kind"] = Kind.TEXT
            return FormField(**options, value=value, choices=_chosen_first(choices, [value]), picker=picker)
        if known_choices := self._known_choices(of):
            known = [*known_choices, *([(value, value)] if value and value not in dict(known_choices) else [])]
            return FormField(**options | {"kind": Kind.SELECT}, value=value, choices=known)
        return FormField(**options, value=value)

    def _known_choices(self, of: InputField) -> Choices:
        """The choices of a text that has one of a known list: of languages or countries."""
        if of.kind is not Kind.TEXT:
            return ()
        if of.name == LANGUAGE:
            return [*NAMES.items()]
        return self.countries if of.name in COUNTRIES else ()

    def _many(self, of: InputField, name: str, options: dict[str, Any]) -> FormField:
        prefix = f"{name}."
        checked = [
            key.removeprefix(prefix) for key, value in self.form.items() if key.startswith(prefix) and value == YES
        ]
        if of.kind is Kind.CHECKBOXES:
            return FormField(**options, choices=_members(of), checked=frozenset(checked))
        choices, picker = self._choices(of)
        if not choices and picker is None:
            return FormField(**options | {"kind": Kind.LINES}, value="\n".join(chosen_in(self.form, name)))
        known = {value for value, _ in choices}
        choices += [(value, f"#{value}") for value in sorted(set(checked) - known)]
        if picker is not None:
            choices = _chosen_first(choices, checked)
        return FormField(**options, choices=choices, checked=frozenset(checked), picker=picker)

    def _choices(self, of: InputField) -> tuple[list[tuple[str, str]], Picker | None]:
        """The choices of a reference, and how they are shown; a plain list needs no picker."""
        picker = self.pickers.get(of.name)
        if picker is None:
            return list(self.choices.get(of.name, ())), None
        return list(picker.choices), picker if picker.is_needed else None

    def _translated(self, of: InputField, name: str) -> dict[str, Any]:
        languages = sorted(LANGUAGES, key=lambda language: language != self.main_language)
        texts = {language: self.form.get(f"{name}.{language}", "") for language in languages}
        kind = Kind.LONG if of.is_long or any("\n" in text for text in texts.values()) else Kind.TEXT
        children = [
            FormField(
                f"{name}.{language}", kind, language, value=text, error=self.problems.get(f"{name}.{language}", "")
            )
            for language, text in texts.items()
        ]
        missing = [language for language, text in texts.items() if not text]
        return {"children": children, "missing": missing if len(missing) < len(texts) else ()}

    def _rows(self, of: InputField, name: str) -> list[list[FormField]]:
        rows = []
        for number in range(count_of(self.form, name)):
            prefix = f"{name}.{number}."
            if self.form.get(prefix + REMOVED) != YES:
                rows.append(self.build(of.input, frozenset(), prefix))
        return rows


def wrong_fields(fields: Sequence[FormField], parent: str = "") -> Iterator[tuple[str, str, str]]:
    """What is wrong with fields at any depth: the id of the element, the label, the message. Texts have one label."""
    for each in fields:
        label = parent or each.label
        if each.error:
            yield each.id, label, each.error
        yield from wrong_fields(each.children, label if each.kind is Kind.TRANSLATED else "")
        for row in each.rows:
            yield from wrong_fields(row)


def _chosen_first(choices: Choices, chosen: Sequence[str]) -> list[tuple[str, str]]:
    """The choices in their order, after those that are chosen in the order in which they are."""
    order = {value: number for number, value in enumerate(chosen) if value}
    return sorted(choices, key=lambda choice: order.get(choice[0], len(order)))


def _members(of: InputField) -> Choices:
    assert isinstance(of.type, GraphQLEnumType)
    return [(name, value_label(name)) for name in of.type.values]


def _default(of: InputField) -> str:
    if of.default is None:
        return ""
    if of.kind is Kind.BOOLEAN:
        return YES if of.default else ""
    if of.kind is Kind.SELECT:
        return str(getattr(of.default, "name", of.default))
    return str(of.default)
