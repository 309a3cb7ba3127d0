"""What is set about the payment provider reaches its client."""

import pathlib
from typing import Any

import pytest
from pydantic import SecretStr

from coffret.services import make_provider
from store.core.settings import Settings
from store.core.settings.provider import ProviderName


def settings(**more: Any) -> Settings:
    """Settings for the real provider."""
    return Settings(
        provider=ProviderName.MANGOPAY, mangopay_client_id="shop", mangopay_api_key=SecretStr("key"), **more
    )


async def test_who_is_told_when_notifications_fail_is_known_to_the_client() -> None:
    provider = make_provider(settings(mangopay_alert_email="duty@shop.example"), None)
    assert provider._alert_email == "duty@shop.example"
    await provider.aclose()


async def test_a_certificate_that_cannot_be_used_stops_the_start(tmp_path: pathlib.Path) -> None:
    given = tmp_path / "certificate.pem"
    given.write_text("no certificate")
    with pytest.raises(ValueError, match="certificate for the provider"):
        make_provider(settings(mangopay_cert_file=given, mangopay_key_file=given), None)
