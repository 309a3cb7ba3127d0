"""The certificate by which the provider knows us, besides the API key."""

import pathlib
import re
import ssl

import httpx

Certificate = tuple[pathlib.Path, pathlib.Path]
"""The files of our certificate and its key, both PEM."""

_HOST = re.compile(r"^https://api\.((?:sandbox\.)?mangopay\.com)(?=[:/]|$)")


def address(base_url: str, certificate: Certificate | None) -> str:
    """Where the API is: those who have a certificate call hosts of their own, for all calls."""
    return _HOST.sub(r"https://api-mtls.\1", base_url) if certificate else base_url


def trust(certificate: Certificate | None) -> ssl.SSLContext:
    """Who is believed to be the provider, and who we say that we are. ValueError: the files are not what they must be."""
    context = httpx.create_ssl_context()
    if certificate:
        try:
            context.load_cert_chain(*certificate, password="")  # without one openssl would ask at the terminal
        except (OSError, ssl.SSLError) as error:
            raise ValueError(f"The certificate for the provider and its key cannot be used: {error}") from error
    return context
