"""The settings of Apple Pay and Google Pay."""

import pathlib
from typing import Self

from pydantic import Field, field_validator, model_validator
from pydantic_settings import BaseSettings

from schema.payment_method import PaymentMethod
from store.core.settings.values import existing_file


class CardWalletSettings(BaseSettings):
    """The accounts at Apple and Google."""

    apple_pay_merchant_id: str = Field(default="", max_length=255, description="The merchant id for Apple Pay.")
    apple_pay_cert_file: pathlib.Path | None = Field(
        default=None, description="The merchant identity certificate of this id (PEM); needs apple_pay_key_file."
    )
    apple_pay_key_file: pathlib.Path | None = Field(default=None, description="The key of that certificate (PEM).")
    apple_pay_domain_file: pathlib.Path | None = Field(
        default=None, description="Apple's domain association file, which is served on the partners' hosts."
    )
    google_pay_merchant_id: str = Field(
        default="", max_length=255, description="The merchant id of Google Pay, from its console."
    )
    google_pay_gateway: str = Field(default="whenthen", description="The gateway that Google encrypts tokens for.")
    google_pay_gateway_merchant_id: str = Field(
        default="", description="The merchant id at that gateway; by default mangopay_client_id."
    )

    @field_validator("apple_pay_cert_file", "apple_pay_key_file", "apple_pay_domain_file")
    @classmethod
    def check_apple_file_exists(cls, value: pathlib.Path | None) -> pathlib.Path | None:
        return existing_file(value)

    @model_validator(mode="after")
    def check_apple_pay(self) -> Self:
        """All settings of Apple Pay, or none."""
        given = [
            self.apple_pay_merchant_id,
            self.apple_pay_cert_file,
            self.apple_pay_key_file,
            self.apple_pay_domain_file,
        ]
        if any(given) and not all(given):
            raise ValueError(
                "Apple Pay needs COFFRET_APPLE_PAY_MERCHANT_ID, COFFRET_APPLE_PAY_CERT_FILE, "
                "COFFRET_APPLE_PAY_KEY_FILE and COFFRET_APPLE_PAY_DOMAIN_FILE: set all of them, or none."
            )
        return self

    @property
    def apple_pay_certificate(self) -> tuple[pathlib.Path, pathlib.Path] | None:
        """The paths of the merchant identity certificate and of its key; None if they are not set."""
        if self.apple_pay_cert_file is None or self.apple_pay_key_file is None:
            return None
        return self.apple_pay_cert_file, self.apple_pay_key_file

    @property
    def configured_wallets(self) -> frozenset[PaymentMethod]:
        """Which of the two can be paid with, as far as their settings go."""
        given = {
            PaymentMethod.APPLE_PAY: self.apple_pay_merchant_id,
            PaymentMethod.GOOGLE_PAY: self.google_pay_merchant_id,
        }
        return frozenset(method for method, id in given.items() if id)
