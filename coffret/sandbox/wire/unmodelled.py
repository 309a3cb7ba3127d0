"""The provider's calls that the sandbox does not model. Each is refused with 501.

A 404 would be ambiguous: clients of the provider interpret it as a missing object.
"""

from collections.abc import Mapping

from coffret.sandbox.wire.endpoints import WireEndpoint

USERS = {
    "/users/data-formats/validation": "POST",
    "/users/{id}/blockstatus": "GET",
    "/users/{id}/emoney": "GET",
    "/users/{id}/emoney/{year}": "GET",
    "/users/{id}/emoney/{year}/{month}": "GET",
    "/users/{id}/mandates": "GET",
    "/users/{id}/preauthorizations": "GET",
    "/users/{id}/deposit-preauthorizations": "GET",
    "/users/{id}/extended-preauthorizations": "GET",
    "/users/{id}/recipients/{recipient}/mandates": "GET",
    "/users/{id}/bankaccounts/{account}/mandates": "GET",
    "/users/{id}/kyc/ubodeclarations": "GET POST",
    "/users/{id}/kyc/ubodeclarations/{declaration}": "GET PUT",
    "/users/{id}/kyc/ubodeclarations/{declaration}/ubos": "POST",
    "/users/{id}/kyc/ubodeclarations/{declaration}/ubos/{ubo}": "GET PUT",
    "/kyc/ubodeclarations/{id}": "GET",
    "/kyc/documents/{id}/consult": "POST",
}
CLIENT = {
    "/clients": "POST",
    "/clients/logo": "PUT",
    "/clients/bankaccounts/iban": "POST",
    "/clients/conversions/instant-conversion": "POST",
    "/clients/conversions/quoted-conversion": "POST",
    "/clients/payins/bankwire/direct": "POST",
    "/clients/payouts": "POST",
    "/reports": "GET",
    "/reports/{id}": "GET",
    "/reports/transactions": "POST",
    "/reports/wallets": "POST",
    "/reporting/reports": "GET POST",
    "/reporting/reports/{id}": "GET",
}
CARDS = {
    "/cards/{id}/preauthorizations": "GET",
    "/cards/{id}/deposit-preauthorizations": "GET",
    "/cards/{id}/extended-preauthorizations": "GET",
    "/preauthorizations/card/direct": "POST",
    "/preauthorizations/{id}": "GET PUT",
    "/preauthorizations/{id}/transactions": "GET",
    "/deposit-preauthorizations/card/direct": "POST",
    "/deposit-preauthorizations/payment-methods/{method}": "POST",
    "/deposit-preauthorizations/{id}": "GET PUT",
    "/deposit-preauthorizations/{id}/transactions": "GET",
    "/extended-preauthorizations/card/direct": "POST",
    "/extended-preauthorizations/payment-methods/{method}": "POST",
    "/extended-preauthorizations/{id}": "GET PUT",
    "/extended-preauthorizations/{id}/transactions": "GET",
}
PAY_INS = {
    "/payins/preauthorized/direct": "POST",
    "/payins/deposit-preauthorized/direct/full-capture": "POST",
    "/payins/deposit-preauthorized/direct/capture-with-complement": "POST",
    "/payins/deposit-preauthorized/direct/complement": "POST",
    "/payins/extended-preauthorized/direct/full-capture": "POST",
    "/payins/bankwire/direct": "POST",
    "/payins/directdebit/direct": "POST",
    "/payins/directdebit/web": "POST",
    "/payins/applepay/direct": "POST",
    "/payins/googlepay/direct": "POST",
    "/payins/payconiq/web": "POST",
    "/payins/paypal/web": "POST",
    "/payins/recurring/card/direct": "POST",
    "/payins/payment-methods/{method}/recurring": "POST",
    "/payins/payment-methods/paypal/data-collection": "POST",
    "/payins/payment-methods/paypal/data-collection/{id}": "GET",
    "/payins/{id}/trackings": "PUT",
    "/recurringpayinregistrations": "POST",
    "/recurringpayinregistrations/{id}": "GET PUT",
    "/payment-methods/metadata": "POST",
    "/payment-methods/openbanking/metadata/supported-banks": "GET",
    "/mandates": "GET",
    "/mandates/directdebit/web": "POST",
    "/mandates/{id}": "GET",
    "/mandates/{id}/cancel": "PUT",
    "/mandates/{id}/transactions": "GET",
    "/acquiring/cards/{id}/validation": "POST",
    "/acquiring/payins/card/direct": "POST",
    "/acquiring/payins/payment-methods/{method}": "POST",
    "/acquiring/payins/payment-methods/paypal/data-collection": "POST",
    "/acquiring/payins/payment-methods/paypal/data-collection/{id}": "GET",
    "/acquiring/payins/{id}/refunds": "POST",
}
WALLETS = {
    "/wallets/{id}/bankingaliases": "GET",
    "/wallets/{id}/bankingaliases/{kind}": "POST",
    "/bankingaliases": "GET",
    "/bankingaliases/{id}": "GET PUT",
    "/wallets/{id}/virtual-accounts": "GET POST",
    "/wallets/{id}/virtual-accounts/{account}": "GET PUT",
    "/virtual-accounts/availability": "GET",
    "/conversions/{id}": "GET",
    "/conversions/instant-conversion": "POST",
    "/conversions/quoted-conversion": "POST",
    "/conversions/quote": "POST",
    "/conversions/quote/{id}": "GET",
    "/conversions/rate/{debited}/{credited}": "GET",
}
DISPUTES = {"/dispute-documents/{id}/consult": "POST"}
INTENTS = {
    "/payins/intents": "POST",
    "/payins/intents/{id}": "GET PUT",
    "/payins/intents/{id}/cancel": "POST",
    "/payins/intents/{id}/captures": "POST",
    "/payins/intents/{id}/captures/{capture}/disputes": "POST",
    "/payins/intents/{id}/captures/{capture}/disputes/{dispute}/decision": "PUT",
    "/payins/intents/{id}/refunds": "POST",
    "/payins/intents/{id}/refunds/{refund}/reverse": "POST",
    "/payins/intents/{id}/splits": "POST",
    "/payins/intents/{id}/splits/{split}": "GET PUT",
    "/payins/intents/{id}/splits/{split}/execute": "POST",
    "/payins/intents/{id}/splits/{split}/reverse": "POST",
    "/payins/intents/splits": "GET",
    "/payins/intents/external-providers": "GET",
    "/payins/intents/settlements": "POST GET",
    "/payins/intents/settlements/{id}": "GET PUT",
    "/payins/intents/settlements/{id}/cancel": "PUT",
    "/payins/intents/settlements/{id}/validations": "GET",
}


def refusing(paths: Mapping[str, str]) -> tuple[WireEndpoint, ...]:
    """An endpoint for each path and each of its methods, which are separated by spaces."""
    return tuple(WireEndpoint(method, path) for path, methods in paths.items() for method in methods.split())


UNMODELLED = (
    *refusing(USERS | CLIENT | CARDS | PAY_INS | WALLETS | DISPUTES),
    WireEndpoint("GET", "/countries/authorizations", public=True),
    WireEndpoint("GET", "/countries/{country}/authorizations", public=True),
)
UNMODELLED_V3 = refusing(INTENTS)
"""Calls that the provider supports only below `/V3.0/`."""
