"""Calls that the provider has and the sandbox does not model yet. Each is refused with 501, never answered by pretence."""

from store.providers.sandbox.wire.endpoints import Endpoint

PATHS: dict[str, tuple[str, ...]] = {
    "/users/natural": ("POST",),
    "/users/legal": ("POST",),
    "/users/natural/{id}": ("PUT",),
    "/users/legal/{id}": ("PUT",),
    "/users/data-formats/validation": ("POST",),
    "/identity-verifications/{id}/pscs/{psc}/retry": ("PUT",),
    "/kyc/documents/{id}/consult": ("POST",),
    "/users/{id}/bankaccounts": ("GET",),
    "/users/{id}/bankaccounts/iban": ("POST",),
    "/clients": ("GET", "PUT"),
    "/clients/wallets": ("GET",),
    "/clients/wallets/{funds}/{currency}": ("GET",),
    "/cardregistrations": ("POST",),
    "/cardregistrations/{id}": ("GET", "PUT"),
    "/cards/{id}": ("GET", "PUT"),
    "/payins/card/direct": ("POST",),
    "/payins/payment-methods/{method}": ("POST",),
    "/transfers": ("POST",),
    "/transfers/{id}": ("GET",),
    "/transfers/{id}/refunds": ("POST", "GET"),
    "/payouts/bankwire": ("POST",),
    "/payouts/bankwire/{id}": ("GET",),
    "/payouts/reachability": ("POST",),
    "/payouts/{id}": ("GET",),
    "/payouts/{id}/refunds": ("GET",),
    "/disputes": ("GET",),
    "/disputes/{id}": ("GET",),
}
UNMODELLED = (
    *(Endpoint(method, path) for path, methods in PATHS.items() for method in methods),
    Endpoint("GET", "/countries/authorizations", public=True),
    Endpoint("GET", "/countries/{country}/authorizations", public=True),
)
