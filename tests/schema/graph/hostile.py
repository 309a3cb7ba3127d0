"""Documents made to do harm, small enough to be read, large in what they ask for."""

import json
from dataclasses import dataclass

KEY = {"Idempotency-Key": "a key"}
SHOUT = 'shout(input: {label: "a", quantity: 1}) { text }'
CARD = "id uuid code status message nights gifted weight rate issuedOn createdAt expiresAt"


def several(count: int, pattern: str, between: str = " ") -> str:
    """A text so many times, with its number for `#` and the next for `+`."""
    return between.join(pattern.replace("#", str(n)).replace("+", str(n + 1)) for n in range(count))


def twice(levels: int, on: str, last: str) -> str:
    """Fragments that each spread the next one twice."""
    return several(levels, f"fragment F# on {on} {{ ...F+ ...F+ }}") + f" fragment F{levels} on {on} {{ {last} }}"


def crossing(levels: int, on: str, last: str) -> str:
    """Pairs of fragments, each of which spreads the next pair in its own order."""
    pairs = several(levels, f"fragment F# on {on} {{ ...F+ ...G+ }} fragment G# on {on} {{ ...G+ ...F+ }}")
    return f"{pairs} fragment F{levels} on {on} {{ {last} }} fragment G{levels} on {on} {{ {last} }}"


def nested(count: int, opening: str, inner: str, closing: str) -> str:
    """Something within something."""
    return opening * count + inner + closing * count


@dataclass(frozen=True)
class Hostile:
    """A request, and the code of the error that it is answered with; None: it is answered."""

    code: str | None
    query: str
    variables: str = "{}"


TOO_COSTLY, TOO_DEEP, TOO_MANY = "COST_LIMIT_EXCEEDED", "DEPTH_LIMIT_EXCEEDED", "TOKENS_LIMIT_EXCEEDED"
INTRICATE, AGAIN, INVALID = "COMPLEXITY_LIMIT_EXCEEDED", "REPEATED_FIELDS_LIMIT_EXCEEDED", "GRAPHQL_VALIDATION_FAILED"
WRONG, TOO_MANY_VALUES = "BAD_USER_INPUT", "VARIABLES_LIMIT_EXCEEDED"
ALL = several(28, "...A#")

FRAGMENTS = {
    "a mutation of fragments that double": Hostile(TOO_COSTLY, f"mutation {{ ...F0 }} {twice(120, 'Mutation', SHOUT)}"),
    "a mutation of fragments that cross": Hostile(
        TOO_COSTLY, f"mutation {{ ...F0 ...G0 }} {crossing(30, 'Mutation', SHOUT)}"
    ),
    "fragments that cross too often": Hostile(INTRICATE, f"{{ ...F0 ...G0 }} {crossing(64, 'Query', '__typename')}"),
    "fragments that double over an embedded value": Hostile(
        TOO_COSTLY, f"{{ cards {{ nodes {{ title {{ ...F0 }} }} }} }} {twice(120, 'Text', 'en')}"
    ),
    "embedded values under many names": Hostile(
        TOO_COSTLY,
        f"{{ cards(first: 100) {{ nodes {{ {several(50, 'm#: issuer { name { ...T } }')} }} }} }} "
        f"fragment T on Text {{ {several(50, 't#: en')} }}",
    ),
    "every page size of one fragment": Hostile(
        TOO_COSTLY,
        f"{{ {several(90, 'a#: cards(first: +) { ...F0 }')} }} {twice(60, 'CardConnection', 'nodes { id }')}",
    ),
    "the same in many fragments": Hostile(
        INTRICATE,
        f"{{ {several(60, '...F#')} }} {several(60, 'fragment F# on Query { cards { nodes { id code status } } }')}",
    ),
    "the same deep in many fragments": Hostile(
        INTRICATE,
        f"{{ {several(60, '...F#')} }} "
        + several(
            60, "fragment F# on Query { cards { nodes { issuer { name { en } } uses { issuer { name { en } } } } } }"
        ),
    ),
    "fragments in a long chain": Hostile(
        INTRICATE,
        f"{{ ...F0 }} {several(220, 'fragment F# on Query { ...F+ }')} fragment F220 on Query {{ __typename }}",
    ),
    "fragments in a chain of many operations": Hostile(
        "OPERATION_RESOLUTION_FAILURE",
        several(100, "query Q# { ...F0 }")
        + several(120, "fragment F# on Query { ...F+ }")
        + "fragment F120 on Query { __typename }",
    ),
    "a fragment within itself": Hostile(INVALID, "{ ...A } fragment A on Query { ...A }"),
    "fragments in a large circle": Hostile(
        INTRICATE, f"{{ ...F0 }} {several(200, 'fragment F# on Query { ...F+ }')} fragment F200 on Query {{ ...F0 }}"
    ),
    "all fragments within all": Hostile(
        INVALID, f"{{ ...A0 }} {several(28, 'fragment A# on Query { __typename @ }').replace('@', ALL)}"
    ),
    "one fragment many times": Hostile(INVALID, f"{{ ...F }} {'fragment F on Query { ...F } ' * 220}"),
}
SHAPES = {
    "aliases": Hostile("ALIASES_LIMIT_EXCEEDED", f"{{ {several(101, 'a#: __typename')} }}"),
    "aliases of a list": Hostile(TOO_COSTLY, f"{{ {several(100, 'a#: cards(first: 100) { nodes { id } }')} }}"),
    "fields again": Hostile(AGAIN, f"{{ {'__typename ' * 200} }}"),
    "fields again with long values": Hostile(None, "{ " + f'greeting(name: "{"a" * 450}") ' * 100 + "}"),
    "levels of fragments": Hostile(TOO_DEEP, nested(400, "{ ... ", "{ __typename }", "}")),
    "levels of lists": Hostile(
        TOO_DEEP, f"{{ cards(filter: {{ ids: {nested(900, '[', '1', ']')} }}) {{ totalCount }} }}"
    ),
    "some levels of lists": Hostile(
        INVALID, f"{{ cards(filter: {{ ids: {nested(150, '[', '1', ']')} }}) {{ totalCount }} }}"
    ),
    "levels of objects": Hostile(TOO_DEEP, f"{{ cards(filter: {nested(600, '{ a: ', '1', '}')}) {{ totalCount }} }}"),
    "levels of list types": Hostile(TOO_DEEP, f"query ($a: {nested(900, '[', 'Int', ']')}) {{ __typename }}"),
    "directives": Hostile(TOO_MANY, f"{{ __typename {'@skip(if: false) ' * 400} }}"),
    "some directives": Hostile(INVALID, f"{{ __typename {'@skip(if: false) ' * 280} }}"),
    "unknown directives": Hostile(INVALID, f"{{ __typename {'@a ' * 900} }}"),
    "conditions": Hostile(
        None,
        f"query ({several(100, '$v#: Boolean = true')}) {{ {several(100, '__typename @skip(if: $v#)')} }}",
    ),
    "tokens": Hostile(TOO_MANY, "{" + " a" * 2_000 + " }"),
    "comments": Hostile(None, "{ __typename }" + "#\n" * 24_000),
    "space": Hostile(None, "{ __typename }" + "," * 49_000),
    "characters": Hostile(TOO_MANY, "{ __typename }" + "," * 400_000),
    "arguments": Hostile(INVALID, f"{{ cards({'first: 1 ' * 600}) {{ totalCount }} }}"),
    "fields of an input": Hostile(INVALID, f"{{ cards(filter: {{ {several(380, 'ids#: 1')} }}) {{ totalCount }} }}"),
    "names that are nearly right": Hostile(INVALID, f"{{ {several(1900, 'recentCard#')} }}"),
    "a long name": Hostile(INVALID, f"{{ {'recentCards' * 4_000} }}"),
    "operations of one name": Hostile(INVALID, "query Q { __typename } " * 390),
}
LITERALS = {
    "a huge number": Hostile(INVALID, f"{{ cards(first: {'9' * 44_000}) {{ totalCount }} }}"),
    "a huge default": Hostile(INVALID, f"query ($n: Int = {'9' * 44_000}) {{ cards(first: $n) {{ totalCount }} }}"),
    "a default of many digits": Hostile(None, f'query ($n: String! = "{"9" * 44_000}") {{ greeting(name: $n) }}'),
    "a default that is a digit in Unicode": Hostile(None, 'query ($n: String! = "²") { greeting(name: $n) }'),
    "a huge fraction": Hostile(
        INVALID, f"{{ cards(first: {'9' * 20_000}.{'9' * 20_000}e{'9' * 4_000}) {{ totalCount }} }}"
    ),
    "a text of escapes": Hostile(None, '{ greeting(name: "' + "\\u0041" * 8_000 + '") }'),
    "a block of lines": Hostile(None, '{ greeting(name: """' + " \n" * 24_000 + '""") }'),
    "a block of quotes": Hostile(None, '{ greeting(name: """' + '\\"""' * 12_000 + '""") }'),
    "a text without an end": Hostile("GRAPHQL_PARSE_FAILED", '{ greeting(name: "' + "a" * 44_000),
}
LISTED = "query ($ids: [Int!]) { cards(filter: { ids: $ids }) { nodes { id } } }"
FILTERED = "query ($f: CardFilter) { cards(filter: $f) { nodes { id } } }"
ISSUED = "mutation ($input: IssueCardInput!) { issueCard(input: $input) { card { id } userErrors { field code } } }"
VARIABLES = {
    "variables": Hostile(INVALID, f"query ({several(400, '$v#: Int')}) {{ __typename }}"),
    "variables that nobody asked for": Hostile(
        TOO_MANY_VALUES, "{ __typename }", json.dumps({f"v{n}": n for n in range(50_000)})
    ),
    "a list of wrong items": Hostile(WRONG, LISTED, json.dumps({"ids": ["a"] * 29_000})),
    "a long list": Hostile(TOO_MANY_VALUES, LISTED, json.dumps({"ids": [1] * 200_000})),
    "a list of lists": Hostile(WRONG, LISTED, f'{{"ids": {nested(900, "[", "1", "]")}}}'),
    "fields that nobody knows": Hostile(WRONG, FILTERED, json.dumps({"f": {f"ids{n}": 1 for n in range(29_000)}})),
    "a number that is a text of many digits": Hostile(WRONG, LISTED, json.dumps({"ids": ["9" * 500_000]})),
    "a price of many digits": Hostile(
        WRONG, ISSUED, json.dumps({"input": {"code": "a", "price": "9" * 500_000, "lines": []}})
    ),
    "lines that are wrong": Hostile(
        None,
        ISSUED,
        json.dumps({"input": {"code": "a", "price": "1", "lines": [{"label": "123456", "quantity": 0}] * 4_000}}),
    ),
}
TYPES = "__schema { types { fields { name args { name } } } }"
ABOUT = {
    "the schema under many names": Hostile(TOO_COSTLY, f"{{ {several(50, 'a#: ' + TYPES)} }}"),
    "types in circles": Hostile(
        INVALID, "{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }"
    ),
    "types around types": Hostile(
        TOO_COSTLY, "{ __schema { types { fields { type { fields { type { name ofType { name } } } } } } } }"
    ),
    "types under many names": Hostile(
        TOO_COSTLY,
        "{ __schema { types { fields { a: type { ...T0 } b: type { ...T0 } } } } } "
        + several(12, "fragment T# on __Type { a#: ofType { ...T+ } b#: ofType { ...T+ } c#: ofType { ...T+ } }")
        + " fragment T12 on __Type { name }",
    ),
    "the schema of fragments that double": Hostile(
        TOO_COSTLY, f"{{ __schema {{ ...F0 }} }} {twice(100, '__Schema', 'types { name }')}"
    ),
}
COUNTS = {
    "counts": Hostile(TOO_COSTLY, f"{{ {several(60, 'a#: orders(filter: { status: PAID }) { totalCount }')} }}"),
    "counts in a fragment": Hostile(
        TOO_COSTLY, f"{{ {several(60, 'a#: orders { ...C }')} }} fragment C on OrderConnection {{ totalCount }}"
    ),
}
