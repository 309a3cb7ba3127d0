"""Codes that people type: drawn at random, readable, with a check character, matched whatever their spacing and case."""

import secrets

ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
"""No 0 and O, no 1, I and L, no U."""
LENGTH = 16
HYPHENS = frozenset("-‐‑‒–—_−")


def normal(code: str) -> str:
    """A code as it is stored and matched: upper case, without spaces, hyphens and what cannot be seen."""
    return "".join(c for c in code.upper() if c.isprintable() and not c.isspace() and c not in HYPHENS)


def check_character(body: str) -> str:
    """The last character of a code, made from the others (Luhn's rule in base 30): it finds every single slip of the finger."""
    total, base = 0, len(ALPHABET)
    for position, character in enumerate(reversed(body)):
        value = ALPHABET.index(character) * (2 - position % 2)
        total += value // base + value % base
    return ALPHABET[-total % base]


def draw() -> str:
    """A new code, in groups of four."""
    return finished("".join(secrets.choice(ALPHABET) for _ in range(LENGTH - 1)))


def finished(body: str) -> str:
    """The code that 15 characters make with their check character, in groups of four."""
    return _in_groups(body + check_character(body))


def _in_groups(plain: str) -> str:
    return "-".join(plain[i : i + 4] for i in range(0, LENGTH, 4))


def grouped(code: str) -> str:
    """A code of our own in groups of four; any other as it is."""
    plain = normal(code)
    return _in_groups(plain) if looks_right(plain) else code


def mistyped(code: str) -> bool:
    """Whether a code has the shape of ours but not its check character, so that it is none and need not be looked for."""
    plain = normal(code)
    return len(plain) == LENGTH and all(c in ALPHABET for c in plain) and not looks_right(plain)


def looks_right(code: str) -> bool:
    """Whether a code could be one of ours. It only makes a message better: imported codes may have any shape."""
    plain = normal(code)
    return len(plain) == LENGTH and all(c in ALPHABET for c in plain) and check_character(plain[:-1]) == plain[-1]
