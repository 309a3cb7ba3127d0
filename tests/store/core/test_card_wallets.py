"""The settings of Apple Pay and Google Pay, and the certificate that Apple knows us by."""

import pathlib
from typing import Any

import pytest
from pydantic import ValidationError

from schema.payment_method import PaymentMethod
from store.core.settings import Settings
from store.core.settings.provider import ProviderName
from store.providers.apple_pay import ApplePayMerchant
from tests.store.providers.mangopay.test_tls import certificate

CARD, APPLE_PAY, GOOGLE_PAY = PaymentMethod.CARD, PaymentMethod.APPLE_PAY, PaymentMethod.GOOGLE_PAY


def settings(**changes: Any) -> Settings:
    """The settings of an installation with Mangopay."""
    return Settings(
        **{"provider": ProviderName.MANGOPAY, "mangopay_client_id": "id", "mangopay_api_key": "key"} | changes
    )


def apple(folder: pathlib.Path, **changes: Any) -> dict[str, Any]:
    """All settings of Apple Pay."""
    cert, key = certificate(folder, "merchant")
    domain = folder / "domain"
    domain.write_text("association")
    return {
        "apple_pay_merchant_id": "merchant.example",
        "apple_pay_cert_file": cert,
        "apple_pay_key_file": key,
        "apple_pay_domain_file": domain,
    } | changes


@pytest.mark.parametrize(
    "missing", ["apple_pay_merchant_id", "apple_pay_cert_file", "apple_pay_key_file", "apple_pay_domain_file"]
)
def test_apple_pay_needs_all_of_its_settings(tmp_path: pathlib.Path, missing: str) -> None:
    given = apple(tmp_path)
    del given[missing]
    with pytest.raises(ValidationError, match="set all of them, or none"):
        settings(**given)


def test_a_file_that_is_missing_stops_the_start(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ValidationError, match="is no file"):
        settings(**apple(tmp_path, apple_pay_domain_file=tmp_path / "nowhere"))


@pytest.mark.parametrize("method", [APPLE_PAY, GOOGLE_PAY])
def test_a_method_is_not_named_without_its_settings(method: PaymentMethod) -> None:
    with pytest.raises(ValidationError, match=f"set COFFRET_{method.upper()}_MERCHANT_ID too"):
        settings(payment_methods=[CARD, method])


@pytest.mark.parametrize("methods", [[APPLE_PAY], [GOOGLE_PAY], [APPLE_PAY, GOOGLE_PAY]])
def test_a_method_for_every_browser_is_needed(methods: list[PaymentMethod], tmp_path: pathlib.Path) -> None:
    with pytest.raises(ValidationError, match="needs a method beside Apple Pay and Google Pay"):
        settings(payment_methods=methods, google_pay_merchant_id="G", **apple(tmp_path))
    with pytest.raises(ValidationError, match="needs a method beside Apple Pay and Google Pay"):
        Settings(payment_methods=methods)
    without_cards = settings(payment_methods=[PaymentMethod.IDEAL, GOOGLE_PAY], google_pay_merchant_id="G")
    assert without_cards.available_payment_methods == [PaymentMethod.IDEAL, GOOGLE_PAY]


def test_what_can_be_paid_with(tmp_path: pathlib.Path) -> None:
    both = settings(payment_methods=[CARD, APPLE_PAY, GOOGLE_PAY], google_pay_merchant_id="G", **apple(tmp_path))
    assert both.available_payment_methods == [CARD, APPLE_PAY, GOOGLE_PAY]
    assert both.simulated_wallets == frozenset()
    assert settings(**apple(tmp_path)).available_payment_methods == [CARD], "the account has to accept it too"
    assert Settings().simulated_wallets == {APPLE_PAY, GOOGLE_PAY}
    assert Settings(google_pay_merchant_id="G").simulated_wallets == {APPLE_PAY}


def test_the_environment_of_google() -> None:
    assert settings().google_pay_environment == "PRODUCTION"
    for live in ("https://api-mtls.mangopay.com", "https://API.Mangopay.com:443/", "https://api.mangopay.com/v2.01"):
        assert settings(mangopay_base_url=live).google_pay_environment == "PRODUCTION"
    for test in ("https://api.sandbox.mangopay.com", "https://api.mangopay.com.example.net"):
        assert settings(mangopay_base_url=test).google_pay_environment == "TEST"
    assert Settings().google_pay_environment == "TEST"


async def test_a_key_that_does_not_fit_stops_the_start(tmp_path: pathlib.Path) -> None:
    _, another = certificate(tmp_path, "another")
    good = ApplePayMerchant(settings(**apple(tmp_path)))
    await good.aclose()
    with pytest.raises(ValueError, match="cannot be used"):
        ApplePayMerchant(settings(**apple(tmp_path, apple_pay_key_file=another)))
