"""What every route does with a request, in the order in which requests are refused."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import structlog
from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive, Scope, Send

from resolvers.core.context import Context, Transport
from resolvers.core.idempotency import Answered, key_of
from rest_compat.http.errors import refusal, snake_case, unexpected
from rest_compat.http.path_values import PathValues
from rest_compat.http.responses import Answer, Header, Streamed
from rest_compat.http.route import Route
from rest_compat.http.storable import storable
from schema.core.errors import AppError, InvalidInput, Path, Problem, Unauthenticated
from schema.core.permission import Rule

ContextOf: TypeAlias = Callable[[Request], Awaitable[Context]]

log = structlog.get_logger(__name__)

WRITES = frozenset({"POST", "PUT", "PATCH"})
REPLAYED: Header = (b"idempotent-replayed", b"true")


class Endpoint(ABC):
    """Answers the requests of one route. All that can be known of the route is worked out when the program starts."""

    def __init__(self, route: Route, context_of: ContextOf, values: PathValues) -> None:
        self.route = route
        self.context_of = context_of
        self.values = values
        self.public = route.operation.permission is Rule.PUBLIC

    async def __call__(self, scope: Scope, receive: Receive, send: Send, given: Sequence[str]) -> None:
        """Answer a request; `given` are the parameters of its path."""
        try:
            answer = await self._answer(scope, receive, given)
        except ClientDisconnect:
            return
        except AppError as error:
            answer = refusal(error, self.names)
        except Exception:
            log.exception("a request failed", method=scope["method"], route=self.route.path)
            answer = unexpected(scope.get("state", {}).get("request_id", ""))
        await answer.send(send, head=scope["method"] == "HEAD")

    async def _answer(self, scope: Scope, receive: Receive, given: Sequence[str]) -> Answer | Streamed:
        if self.public:  # asks for no token, so a stale one is no reason to refuse
            headers = [header for header in scope["headers"] if header[0] != b"authorization"]
            scope = {**scope, "headers": headers}
        request = Request(scope, receive)
        context = await self.context_of(request)
        context.transport = Transport.REST
        if context.caller is None and not self.public:
            raise Unauthenticated
        try:
            answer = await self.answer(request, context, given)
        except Answered as kept:
            answer = _kept(kept)
        if self.route.deprecated is not None:
            answer.headers.extend(self.values.deprecation(self.route.deprecated, request, given))
        return answer

    @abstractmethod
    async def answer(self, request: Request, context: Context, given: Sequence[str]) -> Answer | Streamed:
        """The answer to a request whose caller is known."""

    def names(self, path: Path) -> Path:
        """From the path of a field to that of the key that was sent."""
        return snake_case(path)

    def path_values(self, context: Context, given: Sequence[str]) -> Mapping[str, Any]:
        """The parameters of the path by name; those that can be no id of anything are a row there is not."""
        if not given:
            return {}
        read = self.values.read(given)
        if read is None:
            context.require(self.route.operation.permission)  # told before
            raise self.route.missing()
        return read


def query_of(request: Request, known: Iterable[str]) -> tuple[dict[str, str], tuple[Problem, ...]]:
    """The known parameters of a query, and those among them that no database takes."""
    if not request.scope["query_string"]:
        return {}, ()
    sent = request.query_params
    query, wrong = storable({name: sent[name] for name in known if name in sent})
    return {name: text for name, text in query.items() if text is not None}, wrong


def _kept(answered: Answered) -> Answer:
    """An answer that was kept, to the letter."""
    found = answered.answer
    headers = [(name.encode(), value.encode()) for name, value in found.headers]
    return Answer(found.body, found.status, [*headers, REPLAYED] if answered.replayed else headers)


def idempotency_key(request: Request) -> tuple[str | None, tuple[Problem, ...]]:
    """The `Idempotency-Key` of a request, if it has one; what is wrong with it, if anything."""
    try:
        return key_of(request.scope["headers"]), ()
    except InvalidInput as error:
        return None, tuple(error.problems)
