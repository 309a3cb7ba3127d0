"""Documents made at random for the example schema: aliases, fragments, conditions, both directions, relations at any depth."""

from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

LEAVES = {
    "Card": [
        "id",
        "uuid",
        "code",
        "status",
        "message",
        "nights",
        "gifted",
        "weight",
        "rate",
        "issuedOn",
        "createdAt",
        "expiresAt",
    ],
    "Issuer": ["id", "slug"],
    "Vault": ["note"],
    "Mood": ["word"],
    "Use": ["id", "label"],
    "Text": ["en", "fr", "es", "it", "de", "nl", "ca", "pt"],
    "Money": ["amount", "currency"],
    "PageInfo": ["hasNextPage", "hasPreviousPage", "startCursor", "endCursor"],
    "CardConnection": ["totalCount"],
    "CardEdge": ["cursor"],
    "Basket": ["id", "notes"],
    "BasketLine": ["label", "quantity", "addedOn", "tags"],
}
SLOW = {"Card": ["whisper", "echo", "echo(times: 1)"], "Issuer": ["loud"]}
"""Fields that Python works out, or that graphql-core must execute."""
OBJECTS = {
    "Card": {"title": "Text", "balance": "Money", "issuer": "Issuer", "uses": "Use"},
    "Issuer": {"name": "Text", "vault": "Vault", "mood": "Mood", "moods": "Mood"},
    "Use": {"issuer": "Issuer"},
    "CardConnection": {"nodes": "Card", "edges": "CardEdge", "pageInfo": "PageInfo"},
    "CardEdge": {"node": "Card"},
    "Basket": {"lines": "BasketLine", "gift": "BasketLine", "total": "Money"},
}
ORDERS = ["NEWEST", "OLDEST", "EXPIRING_FIRST", "EXPIRING_LAST", "STATUS", "RATE", "ID"]
CONDITIONS = ["", "", "", "", "@include(if: $yes)", "@skip(if: $no)", "@include(if: $no)", "@skip(if: true)"]


@dataclass
class Maker:
    """Draws one document. Each response name stands for one thing in the whole document, so that fields merge."""

    draw: Any
    depth: int
    slow: bool
    fragments: list[str] = field(default_factory=list)

    def selection(self, kind: str, depth: int) -> str:
        """A selection set of a type."""
        fields = [self.leaf(kind) for _ in range(self.draw(st.integers(1, 4)))]
        if depth > 0 and kind in OBJECTS:
            fields += [self.nested(kind, depth) for _ in range(self.draw(st.integers(0, 3)))]
        fields = [self.wrapped(kind, text) for text in fields]
        return "{ " + " ".join(["__typename", *self.draw(st.permutations(fields))]) + " }"

    def leaf(self, kind: str) -> str:
        """A field without a selection, aliased now and then."""
        names = LEAVES[kind] + (SLOW.get(kind, []) if self.slow else [])
        name = self.draw(st.sampled_from(names))
        plain = name.isalpha()
        aliased = not plain or self.draw(st.integers(0, 3)) == 0
        alias = f"{''.join(c for c in name if c.isalnum())}_" if aliased else ""
        return f"{alias}{': ' if alias else ''}{name} {self.draw(st.sampled_from(CONDITIONS))}"

    def nested(self, kind: str, depth: int) -> str:
        """A field with a selection."""
        name = self.draw(st.sampled_from(sorted(OBJECTS[kind])))
        alias = self.draw(st.sampled_from(["", f"{name}_: "]))
        condition = self.draw(st.sampled_from(CONDITIONS))
        return f"{alias}{name} {condition} {self.selection(OBJECTS[kind][name], depth - 1)}"

    def wrapped(self, kind: str, text: str) -> str:
        """The field itself, or within a fragment."""
        how = self.draw(st.integers(0, 7))
        condition = self.draw(st.sampled_from(CONDITIONS))
        if how == 0:
            return f"... on {kind} {condition} {{ {text} }}"
        if how == 1:
            name = f"F{len(self.fragments)}"
            self.fragments.append(f"fragment {name} on {kind} {{ {text} }}")
            return f"...{name} {condition}"
        return text

    def window(self) -> str:
        """The arguments of a list."""
        size = self.draw(st.sampled_from([1, 2, 7, 50]))
        words = [
            f"{self.draw(st.sampled_from(['first', 'last']))}: {size}",
            f"orderBy: {self.draw(st.sampled_from(ORDERS))}",
        ]
        cursor = self.draw(st.sampled_from(["", "", "after: $cursor", "before: $cursor", 'after: "junk"']))
        filtered = self.draw(st.sampled_from(["", "filter: { status: BLOCKED }", "filter: { ids: [1, 2, 9, 300] }"]))
        return ", ".join([*words, *filter(None, (cursor, filtered))])

    def root(self, number: int) -> str:
        """A field of the query."""
        what = self.draw(st.sampled_from(["cards", "cards", "card", "findCard", "recentCards", "basket"]))
        if what == "cards":
            return f"r{number}: cards({self.window()}) {self.selection('CardConnection', self.depth)}"
        if what == "basket":
            return f"r{number}: basket {self.selection('Basket', self.depth)}"
        arguments = {"card": "(id: 3)", "findCard": '(code: "C00004")', "recentCards": "(most: 3)"}
        return f"r{number}: {what}{arguments[what]} {self.selection('Card', self.depth)}"


@st.composite
def documents(draw: Any, slow: bool = True) -> str:
    """A valid document with the variables `$yes`, `$no` and `$cursor`."""
    maker = Maker(draw, depth=4, slow=slow)
    roots = " ".join(maker.root(n) for n in range(draw(st.integers(1, 3))))
    used = roots + " ".join(maker.fragments)
    variables = {"yes": "Boolean!", "no": "Boolean!", "cursor": "String"}
    declared = ", ".join(f"${name}: {kind}" for name, kind in variables.items() if f"${name}" in used)
    return f"query Q{f'({declared})' if declared else ''} {{ {roots} }} {' '.join(maker.fragments)}"
