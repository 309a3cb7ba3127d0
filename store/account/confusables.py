"""Detection of user names that look alike. Two users cannot share the same skeleton.

The file `confusables.toml` maps look-alike characters to ASCII. A change of that table needs a migration that
recomputes the stored skeletons.
"""

import hashlib
import tomllib
import unicodedata
from functools import cache
from pathlib import Path

from schema.validation.characters import strip_invisible


def skeleton(name: str) -> str:
    """A key that is equal for all names that look alike, ignoring case.

    It is for comparison only, never for display.
    """
    plain = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", strip_invisible(name)).casefold())
    for dotted in ("i", "j"):
        plain = plain.replace(f"{dotted}\u0307", dotted)
    return " ".join(plain.translate(_table()).split())


def skeleton_digest(name: str) -> bytes:
    """The SHA-256 of a name's skeleton. It is stored in its place because a skeleton can be too long for an index."""
    return hashlib.sha256(skeleton(name).encode(errors="surrogatepass")).digest()


@cache
def _table() -> dict[int, str]:
    """The replacement for each character.

    Targets are mapped too: a look-alike of `m` becomes `rn`, as `m` itself does.
    """
    text = Path(__file__).with_name("confusables.toml").read_text(encoding="utf-8")
    like = {int(point, 16): target for target, points in tomllib.loads(text).items() for point in points.split()}
    return {point: "".join(like.get(ord(letter), letter) for letter in target) for point, target in like.items()}
