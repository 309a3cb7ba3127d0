"""The general rate limit of the API."""

from starlette.types import Scope

from resolvers.core.caller import Caller
from store.core.client_network import client_network_of
from store.limits.rate_limits import RateLimits


async def check_request_limit(scope: Scope, limits: RateLimits, caller: Caller | None, address: str) -> None:
    """Count a request, per token or else per client network. Raises TooManyRequests above the limit.

    Adds `RateLimit` and `RateLimit-Policy` to every answer.
    """
    limit = limits.addresses if caller is None else limits.tokens
    if limit is None:
        return
    standing = await limit.count(client_network_of(address) if caller is None else caller.token_id)
    scope["state"]["answer_headers"] = (limit.policy, limit.header(standing))
    if standing.is_exceeded:
        raise limit.refusal(standing)
