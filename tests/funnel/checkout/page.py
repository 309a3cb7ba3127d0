"""A page as a browser without scripts understands it: elements, labels, forms and what pressing a button sends."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = frozenset({"br", "hr", "img", "input", "link", "meta"})


@dataclass(eq=False)
class Element:
    """An element and what it holds."""

    tag: str
    attributes: dict[str, str]
    parent: "Element | None" = None
    content: "list[Element | str]" = field(default_factory=list)

    def __iter__(self) -> "Iterator[Element]":
        """Every element below, in the order of the page."""
        for inner in self.content:
            if isinstance(inner, Element):
                yield inner
                yield from inner

    def all(self, tag: str = "", **attributes: str) -> "list[Element]":
        """The elements below with this tag and these attributes (`_` stands for `-`; `class_` holds one of the classes)."""
        return [element for element in self if element.matches(tag, attributes)]

    def one(self, tag: str = "", **attributes: str) -> "Element":
        """The only such element."""
        found = self.all(tag, **attributes)
        assert len(found) == 1, f"{len(found)} of {tag} {attributes}"
        return found[0]

    def matches(self, tag: str, attributes: Mapping[str, str]) -> bool:
        """Whether this is such an element."""
        if tag and self.tag != tag:
            return False
        for name, value in attributes.items():
            if name == "class_":
                if value not in self.attributes.get("class", "").split():
                    return False
            elif self.attributes.get(name.rstrip("_").replace("_", "-")) != value:
                return False
        return True

    @property
    def text(self) -> str:
        """What can be read in it, with single blanks."""
        parts = (inner if isinstance(inner, str) else inner.text for inner in self.content)
        return " ".join(" ".join(parts).replace("\xa0", " ").replace("\u202f", " ").split())

    def inside(self, tag: str) -> "Element | None":
        """The nearest element of this tag around it."""
        around = self.parent
        while around is not None and around.tag != tag:
            around = around.parent
        return around


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = Element("", {})
        self.at = self.root

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"an attribute twice: {names}"
        element = Element(tag, {name: value or "" for name, value in attrs}, self.at)
        self.at.content.append(element)
        if tag not in VOID:
            self.at = element

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.at.tag == tag, f"</{tag}> closes <{self.at.tag}>"
        assert self.at.parent is not None
        self.at = self.at.parent

    def handle_data(self, data: str) -> None:
        self.at.content.append(data)


def parsed(html: str) -> Element:
    """The root of a page. Fails on elements that are not closed in order."""
    builder = _Builder()
    builder.feed(html)
    builder.close()
    assert builder.at is builder.root, f"<{builder.at.tag}> is not closed"
    return builder.root


def fields_of(form: Element, root: Element) -> dict[str, str]:
    """What a form sends as it stands, without its buttons."""
    sent: dict[str, str] = {}
    for element in root:
        owner = element.attributes.get("form")
        if element.inside("form") is not form and (owner is None or owner != form.attributes.get("id")):
            continue
        name = element.attributes.get("name")
        if name is None or "disabled" in element.attributes:
            continue
        marked = element.attributes.get("type") not in ("radio", "checkbox") or "checked" in element.attributes
        if element.tag == "input" and marked:
            sent[name] = element.attributes.get("value", "")
        if element.tag == "textarea":
            sent[name] = "".join(part for part in element.content if isinstance(part, str)).removeprefix("\n")
        if element.tag == "select":
            options = element.all("option")
            chosen = next((o for o in options if "selected" in o.attributes), options[0])
            sent[name] = chosen.attributes["value"]
    return sent
