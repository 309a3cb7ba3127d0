"""The addresses of passes, beside those of documents."""

import datetime as dt
from dataclasses import dataclass

from store.document.addresses import DocumentKind, apple_pass_path, google_pass_path
from store.document.wallet.keys import WalletKeys


@dataclass(frozen=True, slots=True)
class PassPaths:
    """The paths of the passes of one item, on any host; empty if no key signs them."""

    apple: str
    google: str


NO_PASSES = PassPaths("", "")


def pass_paths(keys: WalletKeys, kind: DocumentKind, owner: str, token: str, now: dt.datetime) -> PassPaths:
    """The paths of the passes of an item that this partner or network has issued."""
    return PassPaths(
        apple_pass_path(kind, token) if keys.apple(owner, now) else "",
        google_pass_path(kind, token) if keys.google(owner) else "",
    )
