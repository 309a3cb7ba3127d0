"""Documents: parsed, bounded and validated once, then kept with their compiled selections."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    GraphQLError,
    GraphQLSchema,
    IntValueNode,
    OperationDefinitionNode,
    OperationType,
    VariableNode,
    Visitor,
    parse,
    specified_rules,
    validate,
    visit,
)
from graphql.validation.rules import overlapping_fields_can_be_merged
from prometheus_client import Counter
from strawberry.schema.validation_rules.maybe_null import MaybeNullValidationRule

from schema.graph.bounds import BeyondLimitsError, Limits, Shape, flattened
from schema.graph.costs import Cost
from schema.graph.executor import Plans
from schema.graph.trusted import only_introspects

RULES = (*specified_rules, MaybeNullValidationRule)
MOST_ERRORS = 20
MOST_HINTS = 3
"""Mistakes up to which names are proposed that may have been meant: comparing names is slow."""
ABORTED = "Validation aborted."
INTRICATE = "This document is too intricate: use fewer fragments within fragments, and select fewer fields again."
overlapping_fields_can_be_merged.MAX_COMPLEXITY_BUDGET = 25_000
"""Comparisons of fields and fragments, of which there may be as many as the square of a document's length.

A hundred fragments that are used in one place take 10,000. Meant to be set; the default would let a document take seconds.
"""
LONGEST_SIZE = 9
"""Digits of a page size; longer numbers are not read, as that takes time."""
KEPT_CHARACTERS = 500_000
KEPT_COSTS = 256
DOCUMENTS = Counter("coffret_graphql_documents", "Documents that were sent, by where they were found.", ["found"])
KEPT, MADE, TRUSTED = (DOCUMENTS.labels(found) for found in ("kept", "made", "trusted"))


class RefusedDocument(Exception):
    """A document that does not run."""

    def __init__(self, *errors: GraphQLError, code: str) -> None:
        super().__init__(code)
        self.errors = errors
        for error in errors:
            error.extensions = {"code": code, **(error.extensions or {})}


class _Conditions(Visitor):
    """Finds the variables that `@skip` and `@include` depend on."""

    def __init__(self) -> None:
        super().__init__()
        self.names: dict[str, None] = {}

    def enter_directive(self, node: Any, *_: Any) -> None:
        for argument in node.arguments:
            if isinstance(argument.value, VariableNode):
                self.names[argument.value.name.value] = None


class Document:
    """A valid document of a schema."""

    def __init__(self, schema: GraphQLSchema, node: DocumentNode) -> None:
        self.node = node
        self.plans: Plans = {}
        self._schema = schema
        self._operations = [d for d in node.definitions if isinstance(d, OperationDefinitionNode)]
        self._fragments = {d.name.value: d for d in node.definitions if isinstance(d, FragmentDefinitionNode)}
        self._costs: dict[tuple[Any, ...], int] = {}
        self._sized_by: dict[int, tuple[str, ...]] = {}
        conditions = _Conditions()
        visit(node, conditions)
        self.conditions = tuple(conditions.names)

    def operation(self, name: str | None) -> OperationDefinitionNode:
        """The operation to run; RefusedDocument when the name leaves that open."""
        found = [o for o in self._operations if name is None or (o.name is not None and o.name.value == name)]
        if len(found) == 1:
            return found[0]
        if name is not None:
            words = f"This document has no operation named {name!r}."
        elif found:
            words = "This document has several operations: say which one in operationName."
        else:
            words = "This document has no operation."
        raise RefusedDocument(GraphQLError(words), code="OPERATION_RESOLUTION_FAILURE")

    def changes(self, operation: OperationDefinitionNode) -> int:
        """How many mutations an operation may run, those in fragments included."""
        if operation.operation is not OperationType.MUTATION:
            return 0
        names: set[str] = set()
        waiting, met = [operation.selection_set], set[str]()
        while waiting:
            for node in flattened(waiting.pop()):
                if isinstance(node, FieldNode):
                    if not node.name.value.startswith("__"):
                        names.add((node.alias or node.name).value)
                elif node.name.value not in met:
                    met.add(node.name.value)
                    waiting.append(self._fragments[node.name.value].selection_set)
        return len(names)

    def cost(self, operation: OperationDefinitionNode, variables: Mapping[str, Any]) -> int:
        """What an operation costs with these variables; worked out once for each set of page sizes."""
        sized_by = self._sized_by.get(id(operation))
        if sized_by is not None:
            kept = self._costs.get((id(operation), *(_hashable(variables.get(name)) for name in sized_by)))
            if kept is not None:
                return kept
        given = {**_defaults(operation), **variables}
        cost = Cost(self._schema, self._fragments, given)
        total = cost.of(operation)
        self._sized_by[id(operation)] = names = tuple(sorted(cost.sized_by))
        if len(self._costs) < KEPT_COSTS:
            self._costs[(id(operation), *(_hashable(variables.get(name)) for name in names))] = total
        return total


def _hashable(value: Any) -> Any:
    return value if isinstance(value, int) else None


def _defaults(operation: OperationDefinitionNode) -> dict[str, Any]:
    """The default page sizes of an operation's variables."""
    found: dict[str, Any] = {}
    for defined in operation.variable_definitions or ():
        default = defined.default_value
        if isinstance(default, IntValueNode) and len(default.value) <= LONGEST_SIZE:
            found[defined.variable.name.value] = int(default.value)
    return found


def _readable(error: GraphQLError) -> GraphQLError:
    """The same mistake in plain words, where a number has more digits than Python reads."""
    if type(error.original_error) is not ValueError:
        return error
    return GraphQLError("This number has too many digits.", error.nodes)


def _unparsed(message: str) -> str:
    if not message.endswith("Parsing aborted."):
        return "GRAPHQL_PARSE_FAILED"
    return "DEPTH_LIMIT_EXCEEDED" if "too deeply" in message else "TOKENS_LIMIT_EXCEEDED"


def _untrusted() -> RefusedDocument:
    words = "This server answers only documents that it knows: send the id of one."
    return RefusedDocument(GraphQLError(words), code="DOCUMENT_NOT_TRUSTED")


class Documents:
    """The documents of a schema: the trusted ones, and of others the most recently used, up to a number of characters."""

    def __init__(
        self,
        schema: GraphQLSchema,
        limits: Limits,
        *,
        introspection: bool,
        trusted: Mapping[str, str] | None = None,
        trusted_only: bool = False,
    ) -> None:
        self.schema = schema
        self.limits = limits
        self.introspection = introspection
        self.trusted_only = trusted_only
        self.texts = trusted or {}
        """The trusted documents by id."""
        self._trusted: dict[str, Document | None] = {}
        """By text; None: broken."""
        self.broken: dict[str, str] = {}
        """What is wrong with trusted documents that this schema cannot answer, by their ids."""
        self._kept: OrderedDict[str, Document] = OrderedDict()
        self._characters = 0
        for id, text in self.texts.items():
            try:
                self._trusted[text] = self._made(text)
            except RefusedDocument as refused:
                self._trusted[text] = None
                self.broken[id] = " ".join(error.message for error in refused.errors)

    def text(self, document_id: str | None) -> str:
        """The trusted document of an id; RefusedDocument when there is none."""
        found = self.texts.get(document_id or "")
        if found is not None:
            return found
        if not self.texts:
            words, code = "This server knows no documents by id: send the document.", "PERSISTED_QUERY_NOT_SUPPORTED"
        else:
            words, code = "This server knows no document of this id.", "PERSISTED_QUERY_NOT_FOUND"
        raise RefusedDocument(GraphQLError(words), code=code)

    def get(self, query: str) -> Document:
        """The document of a query; RefusedDocument says what is wrong with it."""
        kept = self._kept.get(query)
        if kept is not None:
            self._kept.move_to_end(query)
            KEPT.inc()
            return kept
        if query in self._trusted:
            TRUSTED.inc()
            return self._trusted[query] or self._made(query)
        MADE.inc()
        if self.trusted_only and not self.introspection:
            raise _untrusted()
        document = self._made(query)
        if self.trusted_only and not only_introspects(document.node):
            raise _untrusted()
        self._kept[query] = document
        self._characters += len(query)
        while self._characters > KEPT_CHARACTERS:
            forgotten, _ = self._kept.popitem(last=False)
            self._characters -= len(forgotten)
        return document

    def _made(self, query: str) -> Document:
        try:
            return self._valid(self._parsed(query))
        except BeyondLimitsError as error:
            raise RefusedDocument(error, code="GRAPHQL_VALIDATION_FAILED") from None
        except RecursionError:
            raise RefusedDocument(
                GraphQLError("This document is nested too deeply."), code="DEPTH_LIMIT_EXCEEDED"
            ) from None

    def _valid(self, node: DocumentNode) -> Document:
        shape = Shape(node)
        shape.check(self.limits)
        if shape.introspects and not self.introspection:
            raise RefusedDocument(GraphQLError("Introspection is switched off here."), code="INTROSPECTION_DISABLED")
        errors = self._validated(node, hints=False)
        if any(error.message == ABORTED for error in errors):
            raise BeyondLimitsError(INTRICATE, "COMPLEXITY_LIMIT_EXCEEDED")
        if errors and self.introspection and len(errors) <= MOST_HINTS:
            errors = self._validated(node, hints=True)
        if errors:
            raise RefusedDocument(*map(_readable, errors), code="GRAPHQL_VALIDATION_FAILED")
        return Document(self.schema, node)

    def _validated(self, node: DocumentNode, *, hints: bool) -> Sequence[GraphQLError]:
        return validate(self.schema, node, RULES, max_errors=MOST_ERRORS, hide_suggestions=not hints)

    def _parsed(self, query: str) -> DocumentNode:
        if len(query) > self.limits.characters:
            told = f"This document has {len(query)} characters; the limit is {self.limits.characters}."
            raise RefusedDocument(GraphQLError(told), code="TOKENS_LIMIT_EXCEEDED")
        try:
            return parse(query, max_lexical_tokens=self.limits.tokens, allow_empty_selection_sets=False)
        except GraphQLError as error:
            raise RefusedDocument(error, code=_unparsed(error.message)) from None
