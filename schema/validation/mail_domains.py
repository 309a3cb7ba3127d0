"""Likely typing errors in the domain of an e-mail address. They are hints: a rare domain may be right."""

import re
from functools import lru_cache

from schema.validation.countries import COUNTRIES

EVERYWHERE = (
    *("gmail.com", "googlemail.com", "outlook.com", "hotmail.com", "live.com", "msn.com", "yahoo.com", "icloud.com"),
    *("me.com", "mac.com", "aol.com", "proton.me", "protonmail.com"),
)
"""Domains with many mailboxes in every country."""
BY_COUNTRY = {
    "AT": ("gmx.at", "aon.at", "a1.net", "chello.at", "yahoo.de"),
    "BE": ("telenet.be", "skynet.be", "proximus.be", "hotmail.be", "live.be", "outlook.be"),
    "CH": ("bluewin.ch", "gmx.ch", "hispeed.ch", "sunrise.ch", "hotmail.ch"),
    "DE": (
        "gmx.de",
        "gmx.net",
        "web.de",
        "t-online.de",
        "freenet.de",
        "yahoo.de",
        "hotmail.de",
        "outlook.de",
        "posteo.de",
    ),
    "ES": ("hotmail.es", "yahoo.es", "telefonica.net", "movistar.es", "outlook.es"),
    "FR": (
        *(
            "orange.fr",
            "wanadoo.fr",
            "free.fr",
            "sfr.fr",
            "laposte.net",
            "hotmail.fr",
            "yahoo.fr",
            "live.fr",
            "neuf.fr",
        ),
        *("outlook.fr", "bbox.fr", "numericable.fr"),
    ),
    "GB": ("hotmail.co.uk", "yahoo.co.uk", "live.co.uk", "btinternet.com", "sky.com", "virginmedia.com"),
    "IE": ("eircom.net", "yahoo.ie", "hotmail.ie"),
    "IT": ("libero.it", "virgilio.it", "tiscali.it", "alice.it", "yahoo.it", "hotmail.it", "tim.it", "outlook.it"),
    "LU": ("pt.lu", "internet.lu"),
    "NL": ("ziggo.nl", "kpnmail.nl", "hetnet.nl", "planet.nl", "xs4all.nl", "hotmail.nl", "live.nl", "home.nl"),
    "PT": ("sapo.pt", "hotmail.pt", "iol.pt", "netcabo.pt"),
}
"""Those of a country, by its ISO 3166 code. Andorra's mailboxes are those of its neighbours."""
BY_COUNTRY["AD"] = (*BY_COUNTRY["ES"], *BY_COUNTRY["FR"])
ALIKE = (
    *(
        "mail.com",
        "email.com",
        "ymail.com",
        "gmx.com",
        "gmx.fr",
        "gmx.es",
        "mail.de",
        "email.de",
        "online.de",
        "arcor.de",
        "mailo.com",
        "tmail.com",
        "zmail.com",
    ),
    *(
        "mail.ru",
        "live.de",
        "live.it",
        "inbox.com",
        "fastmail.com",
        "hey.com",
        "pm.me",
        "hotmail.at",
        "sfr.net",
        "icloud.de",
    ),
    *("aol.fr", "aol.de", "yahoo.ca", "yahoo.at", "yahoo.ch", "live.ca", "live.at", "live.ch", "outlook.at", "one.com"),
)
"""Domains that resemble the common ones, and are right."""
KNOWN = frozenset({*EVERYWHERE, *ALIKE, *(domain for domains in BY_COUNTRY.values() for domain in domains)})
NATIONAL = re.compile(r"(?:hotmail|outlook|live|yahoo|gmx)\.(com?\.)?([a-z]{2})")
"""Domains of providers that have some in many countries."""
UNLIKELY_COUNTRIES = frozenset({"co", "cm", "om"})
"""Countries whose codes are typing errors of `com` rather than ends of those domains."""
LONGEST_DOMAIN = max(map(len, KNOWN)) + 2
"""A longer domain resembles none of them."""
LONGEST_EMAIL = 254
SHORTEST, SHORT = 6, 8
"""In a domain of at most so many characters two neighbours may have changed places; one may be wrong; in a longer one, two."""


def suggested_email(email: str, country: str = "") -> str:
    """The address that was probably meant; empty if nothing looks wrong. `country` is that of the shop."""
    local, _, domain = email.strip().rpartition("@")
    domain = domain.lower()
    if not local or len(email) > LONGEST_EMAIL or len(domain) > LONGEST_DOMAIN:
        return ""
    found = _nearest(domain, country.upper())
    return f"{local}@{found}" if found else ""


@lru_cache(maxsize=1024)
def _nearest(domain: str, country: str) -> str:
    """The common domain that differs least; empty if none is near, and for a domain that is known."""
    if domain in KNOWN or not domain or _is_national(domain):
        return ""
    near = [(edit_distance(domain, other), other) for other in (*EVERYWHERE, *BY_COUNTRY.get(country, ()))]
    distance, nearest = min(near, key=lambda pair: (pair[0], -len(pair[1])))
    if len(nearest) <= SHORTEST:
        return nearest if distance == 1 and sorted(domain) == sorted(nearest) else ""
    return nearest if distance <= (1 if len(nearest) <= SHORT else 2) else ""


def _is_national(domain: str) -> bool:
    """Whether the domain may be that of a large provider in some country, as `hotmail.se` and `yahoo.com.br`."""
    found = NATIONAL.fullmatch(domain)
    if found is None:
        return False
    second, end = found.groups()
    return end in {"uk", "eu"} or (end.upper() in COUNTRIES and (bool(second) or end not in UNLIKELY_COUNTRIES))


def edit_distance(one: str, other: str) -> int:
    """How many letters have to be put in, left out, replaced, or swapped with their neighbour."""
    before: list[int] = []
    above = list(range(len(other) + 1))
    for row, letter in enumerate(one, start=1):
        line = [row]
        for column, against in enumerate(other, start=1):
            cost = min(above[column] + 1, line[-1] + 1, above[column - 1] + (letter != against))
            if row > 1 < column and letter == other[column - 2] and one[row - 2] == against:
                cost = min(cost, before[column - 2] + 1)
            line.append(cost)
        before, above = above, line
    return above[-1]
