"""The provider's calls that the sandbox does not model. Each is refused with 501.

A 404 would be ambiguous: clients of the provider interpret it as a missing object.
"""

from collections.abc import Mapping

from coffret.sandbox.wire.endpoints import WireEndpoint

USERS = {
    "/users/{id}/extended-preauthorizations": "GET",
    "/users/{id}/recipients/{recipient}/mandates": "GET",
}
CLIENT = {
    "/clients": "POST",
    "/clients/logo": "PUT",
}
CARDS = {
    "/cards/{id}/extended-preauthorizations": "GET",
    "/deposit-preauthorizations/payment-methods/{method}": "POST",
    "/extended-preauthorizations/card/direct": "POST",
    "/extended-preauthorizations/payment-methods/{method}": "POST",
    "/extended-preauthorizations/{id}": "GET PUT",
    "/extended-preauthorizations/{id}/transactions": "GET",
}
PAY_INS = {
    "/payins/extended-preauthorized/direct/full-capture": "POST",
    "/payins/{id}/trackings": "PUT",
    "/acquiring/cards/{id}/validation": "POST",
    "/acquiring/payins/card/direct": "POST",
    "/acquiring/payins/payment-methods/{method}": "POST",
    "/acquiring/payins/payment-methods/paypal/data-collection": "POST",
    "/acquiring/payins/payment-methods/paypal/data-collection/{id}": "GET",
    "/acquiring/payins/{id}/refunds": "POST",
}
WALLETS = {
    "/wallets/{id}/bankingaliases/{kind}": "POST",
    "/bankingaliases": "GET",
}
INTENTS = {
    "/payins/intents/{id}": "PUT",
    "/payins/intents/splits": "GET",
    "/payins/intents/external-providers": "GET",
}


def refusing(paths: Mapping[str, str]) -> tuple[WireEndpoint, ...]:
    """An endpoint for each path and each of its methods, which are separated by spaces."""
    return tuple(WireEndpoint(method, path) for path, methods in paths.items() for method in methods.split())


UNMODELLED = (*refusing(USERS | CLIENT | CARDS | PAY_INS | WALLETS),)
UNMODELLED_V3 = refusing(INTENTS)
"""Calls that the provider supports only below `/V3.0/`."""
