"""The general limit on requests to the API: each is counted, and each answer tells where its client stands."""

from starlette.types import Scope

from resolvers.core.context import Caller
from store.limits.client_network import origin_of
from store.limits.rate_limits import Limits


async def count(scope: Scope, limits: Limits, caller: Caller | None, address: str) -> None:
    """Count a request of a token, or of an address where there is none. TooManyRequests when it is one too many.

    `RateLimit` and `RateLimit-Policy` go into the answer, whatever that is.
    """
    limit = limits.addresses if caller is None else limits.tokens
    if limit is None:
        return
    standing = await limit.count(origin_of(address) if caller is None else caller.token_id)
    scope["state"]["answer_headers"] = (limit.policy, limit.header(standing))
    if standing.refused:
        raise limit.refusal(standing)
