"""How to reach a person who buys or receives something."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Contact:
    """A person's contact data and postal address, as typed."""

    first_name: str = ""
    last_name: str = ""
    email: str = ""
    phone: str = ""
    address_line_1: str = ""
    address_line_2: str = ""
    postal_code: str = ""
    city: str = ""
    country: str = ""
    """ISO 3166 alpha-2."""
