"""The settings of the payment provider."""

import pathlib
from enum import StrEnum
from typing import Annotated, Self
from urllib.parse import urlsplit

from email_validator import validate_email
from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import NoDecode, SettingsConfigDict

from schema.payment_method import BY_TOKEN, PaymentMethod
from store.core.settings.card_wallets import CardWalletSettings
from store.core.settings.values import existing_file, split_list

SANDBOX_PLATFORM_USER = "platform"
"""The sandbox's user of the platform itself, which is there from the beginning."""
LIVE_HOST = "api.mangopay.com"
LIVE_HOSTS = frozenset({LIVE_HOST, "api-mtls.mangopay.com"})
"""Where cards are charged, the second with a client certificate."""


class ProviderName(StrEnum):
    """The payment provider."""

    SANDBOX = "sandbox"
    MANGOPAY = "mangopay"


PROVIDER_TITLES = {ProviderName.SANDBOX: "Mangopay (sandbox)", ProviderName.MANGOPAY: "Mangopay"}
"""The names that customers read."""


class ProviderSettings(CardWalletSettings):
    """Which provider is called, how, and what it accepts."""

    model_config = SettingsConfigDict(
        env_prefix="COFFRET_", env_ignore_empty=True, extra="ignore", populate_by_name=True
    )

    provider: ProviderName = ProviderName.SANDBOX
    payment_methods: Annotated[list[PaymentMethod], NoDecode] = Field(
        default_factory=list,
        description="What the account at the provider accepts; by default cards at Mangopay, everything in the sandbox.",
    )
    mangopay_base_url: str = f"https://{LIVE_HOST}"
    mangopay_client_id: str = ""
    mangopay_api_key: SecretStr = SecretStr("")
    mangopay_cert_file: pathlib.Path | None = Field(
        default=None, description="The client certificate for Mangopay (PEM); needs mangopay_key_file."
    )
    mangopay_key_file: pathlib.Path | None = Field(default=None, description="The key of that certificate (PEM).")
    mangopay_alert_email: str = Field(
        default="",
        description="Where Mangopay sends alerts when its notifications fail; applies to hooks created from now on.",
    )
    mangopay_platform_user_id: str = Field(
        default="",
        max_length=128,
        description="The id of the platform's own user at Mangopay, which owns the wallets of marketplaces.",
    )

    @field_validator("payment_methods", mode="before")
    @classmethod
    def split_methods(cls, value: object) -> object:
        return split_list(value)

    @field_validator("mangopay_alert_email")
    @classmethod
    def check_alert_email(cls, value: str) -> str:
        """An e-mail address without a name."""
        if value:
            validate_email(value, check_deliverability=False)
        return value

    @field_validator("mangopay_cert_file", "mangopay_key_file")
    @classmethod
    def check_certificate_exists(cls, value: pathlib.Path | None) -> pathlib.Path | None:
        return existing_file(value)

    @model_validator(mode="after")
    def check_credentials(self) -> Self:
        """Mangopay needs an id and a key."""
        if self.provider is ProviderName.MANGOPAY and not (
            self.mangopay_client_id and self.mangopay_api_key.get_secret_value()
        ):
            raise ValueError("Mangopay needs COFFRET_MANGOPAY_CLIENT_ID and COFFRET_MANGOPAY_API_KEY.")
        return self

    @model_validator(mode="after")
    def check_certificate_pair(self) -> Self:
        """A certificate and its key must be set together."""
        if (self.mangopay_cert_file is None) != (self.mangopay_key_file is None):
            raise ValueError("Set both COFFRET_MANGOPAY_CERT_FILE and COFFRET_MANGOPAY_KEY_FILE, or neither.")
        return self

    @model_validator(mode="after")
    def check_method_for_all(self) -> Self:
        """Apple Pay and Google Pay need another method beside them, for browsers that have neither."""
        if self.payment_methods and BY_TOKEN.issuperset(self.payment_methods):
            raise ValueError("COFFRET_PAYMENT_METHODS needs a method beside Apple Pay and Google Pay, such as card.")
        return self

    @model_validator(mode="after")
    def check_named_wallets(self) -> Self:
        """Apple Pay and Google Pay need their settings, except in the sandbox."""
        for method in BY_TOKEN & set(self.payment_methods) - self.configured_wallets - self.simulated_wallets:
            raise ValueError(f"COFFRET_PAYMENT_METHODS names {method}: set COFFRET_{method.upper()}_MERCHANT_ID too.")
        return self

    @property
    def provider_account(self) -> str:
        """The account at the payment provider: ids of its objects mean nothing in another one, such as a sandbox's."""
        if self.provider is ProviderName.SANDBOX:
            return self.provider
        return f"{self.provider}:{urlsplit(self.mangopay_base_url).netloc}:{self.mangopay_client_id}"

    @property
    def platform_user_id(self) -> str:
        """The provider's id of the platform's own user; empty if it is not set."""
        return SANDBOX_PLATFORM_USER if self.provider is ProviderName.SANDBOX else self.mangopay_platform_user_id

    @property
    def available_payment_methods(self) -> list[PaymentMethod]:
        """What the account at the payment provider accepts."""
        by_default = list(PaymentMethod) if self.provider is ProviderName.SANDBOX else [PaymentMethod.CARD]
        return self.payment_methods or by_default

    @property
    def simulated_wallets(self) -> frozenset[PaymentMethod]:
        """Which of Apple Pay and Google Pay the sandbox stands in for: those without settings of their own."""
        return BY_TOKEN - self.configured_wallets if self.provider is ProviderName.SANDBOX else frozenset()

    @property
    def google_pay_environment(self) -> str:
        """Google's name of the environment: PRODUCTION, where cards are charged, or TEST."""
        is_live = self.provider is ProviderName.MANGOPAY and urlsplit(self.mangopay_base_url).hostname in LIVE_HOSTS
        return "PRODUCTION" if is_live else "TEST"

    @property
    def mangopay_certificate(self) -> tuple[pathlib.Path, pathlib.Path] | None:
        """The paths of Mangopay's client certificate and of its key; None if they are not set."""
        if self.mangopay_cert_file is None or self.mangopay_key_file is None:
            return None
        return self.mangopay_cert_file, self.mangopay_key_file
