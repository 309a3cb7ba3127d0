"""The checks of `coffret doctor` that are about certificates of Apple and the keys beside them."""

import datetime as dt
import pathlib

from coffret.commands.findings import Finding, failed, passed, warning
from store.core.clock import clock
from store.core.settings import Settings
from store.document.wallet.keys import APPLE_FILE, UnusableWalletKey, WalletKeys
from store.providers.mangopay.tls import ssl_context

CERTIFICATE_NOTICE = dt.timedelta(days=30)
"""How long before its end a certificate is reported."""


def check_wallet(settings: Settings) -> Finding:
    """Check the keys that sign passes, and that Apple's certificates stay valid for a while."""
    if settings.wallet_dir is None:
        return passed(
            "wallet", "passes are signed by test keys." if settings.development else "passes are not offered."
        )
    try:
        keys = WalletKeys(settings.wallet_dir)
    except UnusableWalletKey as error:
        return failed("wallet", str(error), "Correct the file, or remove it.")
    for owner, key in keys.apple_keys.items():
        if key.expires_on - clock.now() < CERTIFICATE_NOTICE:
            told = f"Apple's certificate of {owner or 'the installation'} ends on {key.expires_on:%Y-%m-%d}."
            return warning("wallet", told, f"Renew it at Apple and replace {APPLE_FILE}.")
    return passed("wallet", f"{len(keys.apple_keys)} keys for Apple Wallet, {len(keys.google_keys)} for Google Wallet.")


def check_apple_pay(settings: Settings) -> Finding:
    """Check that the certificate by which Apple knows the merchant can be used, and stays valid for a while."""
    name, certificate = "apple pay", settings.apple_pay_certificate
    if certificate is None:
        return passed(name, "is not offered." if not settings.simulated_wallets else "is simulated by the sandbox.")
    remedy = "Correct COFFRET_APPLE_PAY_CERT_FILE and COFFRET_APPLE_PAY_KEY_FILE."
    try:
        ssl_context(certificate)
        ends_on = _end_of(certificate[0])
    except ValueError as error:
        return failed(name, str(error), remedy)
    if ends_on - clock.now() < CERTIFICATE_NOTICE:
        told = f"The merchant identity certificate ends on {ends_on:%Y-%m-%d}."
        return warning(name, told, f"Renew it at Apple and replace {certificate[0]}.")
    return passed(name, f"is offered as {settings.apple_pay_merchant_id}, until {ends_on:%Y-%m-%d}.")


def _end_of(file: pathlib.Path) -> dt.datetime:
    """When a certificate ends. Raises ValueError for a file without one."""
    from cryptography import x509  # only installations with such a certificate need it

    return x509.load_pem_x509_certificate(file.read_bytes()).not_valid_after_utc
