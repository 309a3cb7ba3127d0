"""Parses, checks and validates each document once, and caches it with its compiled selections."""

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

from schema.graph.bounds import DocumentShape, LimitExceededError, QueryLimits, flatten_selection
from schema.graph.costs import CostEstimator
from schema.graph.executor import Plans
from schema.graph.trusted import only_introspects

VALIDATION_RULES = (*specified_rules, MaybeNullValidationRule)
MOST_ERRORS = 20
MOST_ERRORS_WITH_HINTS = 3
"""Up to this many errors, messages suggest similar names. Comparing names is slow."""
VALIDATION_ABORTED = "Validation aborted."
TOO_COMPLEX = "This document is too complex: nest fewer fragments, and repeat fewer fields."
overlapping_fields_can_be_merged.MAX_COMPLEXITY_BUDGET = 25_000
"""Maximum number of comparisons of fields and fragments, which can grow with the square of a document's length.

A hundred fragments that are used in one place need 10,000. graphql-core lets programs set this value; with its default,
validating one document could take seconds.
"""
MAX_PAGE_SIZE_DIGITS = 9
"""Maximum number of digits of a page size. Longer numbers are not parsed, because that is slow."""
MAX_CACHED_CHARACTERS = 500_000
MAX_CACHED_COSTS = 256
DOCUMENT_LOOKUPS = Counter("coffret_graphql_documents", "Requested documents, by where they were found.", ["found"])
CACHE_HITS, CACHE_MISSES, TRUSTED_HITS = (DOCUMENT_LOOKUPS.labels(found) for found in ("kept", "made", "trusted"))


class DocumentRejected(Exception):
    """A document is refused before it runs; `errors` are the reasons, each with a code."""

    def __init__(self, *errors: GraphQLError, code: str) -> None:
        super().__init__(code)
        self.errors = errors
        for error in errors:
            error.extensions = {"code": code, **(error.extensions or {})}


class _ConditionVariables(Visitor):
    """Collects the variables of `@skip` and `@include`."""

    def __init__(self) -> None:
        super().__init__()
        self.names: dict[str, None] = {}

    def enter_directive(self, node: Any, *_: Any) -> None:
        for argument in node.arguments:
            if isinstance(argument.value, VariableNode):
                self.names[argument.value.name.value] = None


class GraphQLDocument:
    """A valid document of a schema, with its cached plans and costs."""

    def __init__(self, schema: GraphQLSchema, node: DocumentNode) -> None:
        self.node = node
        self.plans: Plans = {}
        self._schema = schema
        self._operations = [d for d in node.definitions if isinstance(d, OperationDefinitionNode)]
        self._fragments = {d.name.value: d for d in node.definitions if isinstance(d, FragmentDefinitionNode)}
        self._costs: dict[tuple[Any, ...], int] = {}
        self._page_size_variables: dict[int, tuple[str, ...]] = {}
        conditions = _ConditionVariables()
        visit(node, conditions)
        self.condition_variables = tuple(conditions.names)

    def find_operation(self, name: str | None) -> OperationDefinitionNode:
        """The operation to run. Raises DocumentRejected unless the name selects exactly one."""
        found = [o for o in self._operations if name is None or (o.name is not None and o.name.value == name)]
        if len(found) == 1:
            return found[0]
        if name is not None:
            words = f"This document has no operation named {name!r}."
        elif found:
            words = "This document has several operations: say which one in operationName."
        else:
            words = "This document has no operation."
        raise DocumentRejected(GraphQLError(words), code="OPERATION_RESOLUTION_FAILURE")

    def count_mutations(self, operation: OperationDefinitionNode) -> int:
        """The number of mutations that an operation may run, including those in fragments."""
        if operation.operation is not OperationType.MUTATION:
            return 0
        names: set[str] = set()
        waiting, met = [operation.selection_set], set[str]()
        while waiting:
            for node in flatten_selection(waiting.pop()):
                if isinstance(node, FieldNode):
                    if not node.name.value.startswith("__"):
                        names.add((node.alias or node.name).value)
                elif node.name.value not in met:
                    met.add(node.name.value)
                    waiting.append(self._fragments[node.name.value].selection_set)
        return len(names)

    def cost(self, operation: OperationDefinitionNode, variables: Mapping[str, Any]) -> int:
        """The cost of an operation with these variables; computed once per combination of page sizes."""
        sized_by = self._page_size_variables.get(id(operation))
        if sized_by is not None:
            kept = self._costs.get((id(operation), *(_hashable(variables.get(name)) for name in sized_by)))
            if kept is not None:
                return kept
        given = {**_default_page_sizes(operation), **variables}
        cost = CostEstimator(self._schema, self._fragments, given)
        total = cost.estimate(operation)
        self._page_size_variables[id(operation)] = names = tuple(sorted(cost.page_size_variables))
        if len(self._costs) < MAX_CACHED_COSTS:
            self._costs[(id(operation), *(_hashable(variables.get(name)) for name in names))] = total
        return total


def _hashable(value: Any) -> Any:
    return value if isinstance(value, int) else None


def _default_page_sizes(operation: OperationDefinitionNode) -> dict[str, Any]:
    """The integer defaults of an operation's variables, which may be page sizes."""
    found: dict[str, Any] = {}
    for defined in operation.variable_definitions or ():
        default = defined.default_value
        if isinstance(default, IntValueNode) and len(default.value) <= MAX_PAGE_SIZE_DIGITS:
            found[defined.variable.name.value] = int(default.value)
    return found


def _readable_error(error: GraphQLError) -> GraphQLError:
    """Replace Python's message about a number with too many digits by a plain one."""
    if type(error.original_error) is not ValueError:
        return error
    return GraphQLError("This number has too many digits.", error.nodes)


def _parse_error_code(message: str) -> str:
    if not message.endswith("Parsing aborted."):
        return "GRAPHQL_PARSE_FAILED"
    return "DEPTH_LIMIT_EXCEEDED" if "too deeply" in message else "TOKENS_LIMIT_EXCEEDED"


def _not_trusted_error() -> DocumentRejected:
    words = "This server answers only documents that it knows: send the id of one."
    return DocumentRejected(GraphQLError(words), code="DOCUMENT_NOT_TRUSTED")


class DocumentCache:
    """The documents of a schema: the trusted ones, and the most recently used others up to a total of characters."""

    def __init__(
        self,
        schema: GraphQLSchema,
        limits: QueryLimits,
        *,
        introspection: bool,
        trusted: Mapping[str, str] | None = None,
        trusted_only: bool = False,
    ) -> None:
        self.schema = schema
        self.limits = limits
        self.introspection = introspection
        self.trusted_only = trusted_only
        self.trusted_texts = trusted or {}
        """The trusted documents by id."""
        self._trusted: dict[str, GraphQLDocument | None] = {}
        """By text; None for a document that this schema cannot answer."""
        self.broken_trusted: dict[str, str] = {}
        """The errors of trusted documents that this schema cannot answer, by document id."""
        self._cache: OrderedDict[str, GraphQLDocument] = OrderedDict()
        self._characters = 0
        for id, text in self.trusted_texts.items():
            try:
                self._trusted[text] = self._load(text)
            except DocumentRejected as refused:
                self._trusted[text] = None
                self.broken_trusted[id] = " ".join(error.message for error in refused.errors)

    def find_trusted_text(self, document_id: str | None) -> str:
        """The text of a trusted document. Raises DocumentRejected for an unknown id."""
        found = self.trusted_texts.get(document_id or "")
        if found is not None:
            return found
        if not self.trusted_texts:
            words, code = "This server knows no documents by id: send the document.", "PERSISTED_QUERY_NOT_SUPPORTED"
        else:
            words, code = "This server knows no document of this id.", "PERSISTED_QUERY_NOT_FOUND"
        raise DocumentRejected(GraphQLError(words), code=code)

    def get(self, query: str) -> GraphQLDocument:
        """The document of a query. Raises DocumentRejected with what is wrong with it."""
        kept = self._cache.get(query)
        if kept is not None:
            self._cache.move_to_end(query)
            CACHE_HITS.inc()
            return kept
        if query in self._trusted:
            TRUSTED_HITS.inc()
            return self._trusted[query] or self._load(query)
        CACHE_MISSES.inc()
        if self.trusted_only and not self.introspection:
            raise _not_trusted_error()
        document = self._load(query)
        if self.trusted_only and not only_introspects(document.node):
            raise _not_trusted_error()
        self._cache[query] = document
        self._characters += len(query)
        while self._characters > MAX_CACHED_CHARACTERS:
            forgotten, _ = self._cache.popitem(last=False)
            self._characters -= len(forgotten)
        return document

    def _load(self, query: str) -> GraphQLDocument:
        try:
            return self._build(self._parse(query))
        except LimitExceededError as error:
            raise DocumentRejected(error, code="GRAPHQL_VALIDATION_FAILED") from None
        except RecursionError:
            raise DocumentRejected(
                GraphQLError("This document is nested too deeply."), code="DEPTH_LIMIT_EXCEEDED"
            ) from None

    def _build(self, node: DocumentNode) -> GraphQLDocument:
        shape = DocumentShape(node)
        shape.check(self.limits)
        if shape.introspects and not self.introspection:
            raise DocumentRejected(GraphQLError("Introspection is switched off here."), code="INTROSPECTION_DISABLED")
        errors = self._validate(node, hints=False)
        if any(error.message == VALIDATION_ABORTED for error in errors):
            raise LimitExceededError(TOO_COMPLEX, "COMPLEXITY_LIMIT_EXCEEDED")
        if errors and self.introspection and len(errors) <= MOST_ERRORS_WITH_HINTS:
            errors = self._validate(node, hints=True)
        if errors:
            raise DocumentRejected(*map(_readable_error, errors), code="GRAPHQL_VALIDATION_FAILED")
        return GraphQLDocument(self.schema, node)

    def _validate(self, node: DocumentNode, *, hints: bool) -> Sequence[GraphQLError]:
        return validate(self.schema, node, VALIDATION_RULES, max_errors=MOST_ERRORS, hide_suggestions=not hints)

    def _parse(self, query: str) -> DocumentNode:
        if len(query) > self.limits.characters:
            told = f"This document has {len(query)} characters; the limit is {self.limits.characters}."
            raise DocumentRejected(GraphQLError(told), code="TOKENS_LIMIT_EXCEEDED")
        try:
            return parse(query, max_lexical_tokens=self.limits.tokens, allow_empty_selection_sets=False)
        except GraphQLError as error:
            raise DocumentRejected(error, code=_parse_error_code(error.message)) from None
