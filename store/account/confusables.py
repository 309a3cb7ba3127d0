"""User names that read alike: what a name looks like, as a key that no two users may share.

The table `confusables.toml` holds what is told apart by nobody. A migration has to make the keys anew when they change.
"""

import hashlib
import tomllib
import unicodedata
from functools import cache
from pathlib import Path

from schema.validation.characters import without_unseen


def skeleton(name: str) -> str:
    """What a name looks like: the same for all that read alike, whatever the case. It is not meant to be shown."""
    plain = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", without_unseen(name)).casefold())
    for dotted in ("i", "j"):
        plain = plain.replace(f"{dotted}\u0307", dotted)
    return " ".join(plain.translate(_table()).split())


def skeleton_digest(name: str) -> bytes:
    """What is kept of a name's skeleton, which can be too long for an index."""
    return hashlib.sha256(skeleton(name).encode(errors="surrogatepass")).digest()


@cache
def _table() -> dict[int, str]:
    """What is written for each character. What reads like `m` is written as `m` itself is: `rn`."""
    text = Path(__file__).with_name("confusables.toml").read_text(encoding="utf-8")
    like = {int(point, 16): target for target, points in tomllib.loads(text).items() for point in points.split()}
    return {point: "".join(like.get(ord(letter), letter) for letter in target) for point, target in like.items()}
