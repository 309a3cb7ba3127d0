"""The client certificate for mutual TLS, in addition to the API key."""

import pathlib
import re
import ssl

import httpx

Certificate = tuple[pathlib.Path, pathlib.Path]
"""The PEM files of the client certificate and its key."""

_HOST = re.compile(r"^https://api\.((?:sandbox\.)?mangopay\.com)(?=[:/]|$)")


def api_base_url(base_url: str, certificate: Certificate | None) -> str:
    """The API's base URL. With a client certificate all calls go to Mangopay's mutual TLS hosts."""
    return _HOST.sub(r"https://api-mtls.\1", base_url) if certificate else base_url


def ssl_context(certificate: Certificate | None) -> ssl.SSLContext:
    """The TLS context, with the client certificate if there is one. Raises ValueError if its files cannot be used."""
    context = httpx.create_ssl_context()
    if certificate:
        try:
            context.load_cert_chain(*certificate, password="")  # without a password OpenSSL would prompt for one
        except (OSError, ssl.SSLError) as error:
            raise ValueError(f"The certificate for the provider and its key cannot be used: {error}") from error
    return context
