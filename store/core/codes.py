"""Codes that people type: random, readable, with a check character. Matching ignores spaces, hyphens and case."""

import secrets

ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Without the look-alikes 0, O, 1, I and L, and without U."""
LENGTH = 16
_SINGLE = {character: value for value, character in enumerate(ALPHABET)}
_DOUBLE = {character: sum(divmod(2 * value, len(ALPHABET))) for character, value in _SINGLE.items()}
"""Twice the value of a character, as the sum of its two digits."""
HYPHENS = frozenset("-‐‑‒–—_−")


def normalize(code: str) -> str:
    """A code as it is stored and compared: upper case, without spaces, hyphens and invisible characters."""
    simple = code.replace("-", "").replace(" ", "")
    if simple.isascii() and simple.isalnum():
        return simple.upper()
    return "".join(c for c in code.upper() if c.isprintable() and not c.isspace() and c not in HYPHENS)


def check_character(body: str) -> str:
    """The check character of a code (Luhn mod 30). It detects every single mistyped character."""
    total = sum(_DOUBLE[character] for character in body[::-2]) + sum(_SINGLE[character] for character in body[-2::-2])
    return ALPHABET[-total % len(ALPHABET)]


def generate_code() -> str:
    """A random code in groups of four characters."""
    return with_check_character("".join(secrets.choice(ALPHABET) for _ in range(LENGTH - 1)))


def with_check_character(body: str) -> str:
    """The full code of a 15-character body, in groups of four."""
    return _in_groups(body + check_character(body))


def _in_groups(plain: str) -> str:
    return "-".join(plain[i : i + 4] for i in range(0, LENGTH, 4))


def format_code(code: str) -> str:
    """A Coffret code in groups of four characters; any other code unchanged."""
    plain = normalize(code)
    return _in_groups(plain) if looks_valid(plain) else code


def is_mistyped(code: str) -> bool:
    """True if a code has the form of a Coffret code and a wrong check character. Such a code is never looked up."""
    plain = normalize(code)
    return _has_form(plain) and check_character(plain[:-1]) != plain[-1]


def looks_valid(code: str) -> bool:
    """True if a code has the form and the check character of a Coffret code.

    It never decides whether a code exists: imported codes may have any form.
    """
    plain = normalize(code)
    return _has_form(plain) and check_character(plain[:-1]) == plain[-1]


def _has_form(plain: str) -> bool:
    return len(plain) == LENGTH and _SINGLE.keys() >= set(plain)


def document_token() -> str:
    """256 random bits as URL-safe text."""
    return secrets.token_urlsafe(32)
