"""The context of a request: its caller and the services of the process."""

import contextlib
import itertools
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.caller import WITHOUT_TOKEN, Caller, Role, Transport
from resolvers.core.idempotency import IdempotentRequest
from resolvers.core.services import Services
from schema.core.errors import Forbidden, PartnerOnly, Unauthenticated
from schema.core.field_permission import ANYBODY, NOBODY, FieldPermission
from schema.core.field_source import Computed
from schema.core.message_names import MessageWording
from schema.core.permission import AccessRule, Permission, RequiredAccess
from store.database.loaders import Loaders
from store.database.transaction_reader import DatabaseReader, TransactionReader
from store.tables import table_of

MOST_FAILURES = 10
"""Errors of a request that are recorded."""
LONGEST_MESSAGE = 500
LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class RequestFailure:
    """An error in a response to a program: its code and message, the operation, and the input field in the transport's
    names. All are cut: a client can make them as long as a body.
    """

    code: str
    message: str
    operation: str = ""
    field: Sequence[str | int] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "code", self.code[:LONGEST_NAME])
        object.__setattr__(self, "message", self.message[:LONGEST_MESSAGE])
        object.__setattr__(self, "operation", self.operation[:LONGEST_NAME])
        object.__setattr__(self, "field", [str(step)[:LONGEST_NAME] for step in self.field[:MOST_FAILURES]])


@dataclass
class Context:
    """The context of a request, the same for GraphQL, REST and the funnel."""

    services: Services
    caller: Caller | None = None
    request_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    address: str = ""
    transport: Transport = Transport.INTERNAL
    user_agent: str = ""
    """The browser or program, as its `User-Agent` says."""
    idempotency: IdempotentRequest | None = None
    """Set by the transport if the request has an `Idempotency-Key` and changes something."""
    wording: MessageWording | None = None
    """How GraphQL words its errors; None for English with the names of the schema."""
    failures: list[RequestFailure] = field(default_factory=list)
    """The first errors in the response of GraphQL, for the API log."""

    _loaders: Loaders | None = field(default=None, init=False, repr=False)
    _transaction_reader: TransactionReader | None = field(default=None, init=False, repr=False)

    @property
    def db(self) -> DatabaseReader:
        """The reader of lists and relations: the database, or the transaction of `read_in_transaction`."""
        return self.services.db if self._transaction_reader is None else self._transaction_reader

    def add_failures(self, failures: Iterable[RequestFailure]) -> None:
        """Add errors of the response, as far as they are recorded."""
        self.failures.extend(itertools.islice(failures, MOST_FAILURES - len(self.failures)))

    @contextlib.contextmanager
    def read_in_transaction(self, db: AsyncSession) -> Iterator[None]:
        """Read through a transaction, which sees its own uncommitted changes."""
        self._transaction_reader, self._loaders = TransactionReader(self.services.db, db), None
        try:
            yield
        finally:
            self._transaction_reader = self._loaders = None

    @property
    def loaders(self) -> Loaders:
        """Load related rows in batches."""
        if self._loaders is None:  # `cached_property` takes a lock in Python 3.11, which costs more than the loaders
            self._loaders = Loaders(self.db, self, table_of)
        return self._loaders

    def is_visible(self, guard: FieldPermission, owner: tuple[Any, ...]) -> bool:
        """Whether the caller sees a value of this partner and marketplace. Raises Forbidden without the permission."""
        if guard.permission is not None:
            self.require(Permission(guard.permission))
        if not owner:
            return True
        partner_id, marketplace_id = owner
        if marketplace_id == ANYBODY and self.required_caller.role is Role.MARKETPLACE:
            return True
        return self.required_caller.sees(None if partner_id == NOBODY else partner_id, marketplace_id)

    async def compute(self, value: Computed, ids: Sequence[int], **arguments: Any) -> Mapping[int, Any]:
        """The values of a computed field by object id. Raises LookupError if the field has no function."""
        if value.function is None:
            raise LookupError("No function computes this field: declare it with `@computes`.")
        return await value.function(self, ids, **arguments)

    def require(self, permission: RequiredAccess) -> None:
        """Raise Unauthenticated, PartnerOnly or Forbidden if the caller does not meet the access rule."""
        if permission is AccessRule.PUBLIC:
            return
        caller = self.caller
        if caller is None:
            raise Unauthenticated
        if permission is AccessRule.PARTNER:
            if caller.role is not Role.PARTNER:
                raise PartnerOnly
        elif isinstance(permission, AccessRule):
            if WITHOUT_TOKEN.get(permission) is not (caller.role if caller.role in WITHOUT_TOKEN.values() else None):
                raise Forbidden(permission=permission)
        elif not caller.may(permission):
            raise Forbidden(permission=f"permissions.{permission}")

    @property
    def required_caller(self) -> Caller:
        """The caller. Raises Unauthenticated if there is none."""
        if self.caller is None:
            raise Unauthenticated
        return self.caller
