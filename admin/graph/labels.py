"""Labels of what the schema declares: `createdOn` is "Created on". They are keys of the translation catalogues."""

import functools
import re
from collections.abc import Callable

from admin.graph.words import ACRONYMS, ACTIONS, NAMED, PHRASES, VALUES

WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
FOR_PROGRAMS = re.compile(
    r"\b(uu)?ids?\b|\bcallers?\b|\b[a-z]+[A-Z]\w*"
    rf"|\b(?!(?:{'|'.join([*ACRONYMS.values(), 'EUR', 'HTTPS?', 'PNG', 'JPEG', 'SEPA', 'SMS', 'UTC'])})\b)[A-Z][A-Z_]+\b"
)
"""In descriptions that only programs need: ids, names of fields, values of enums."""
EMPTY_WORDS = frozenset({"whether", "it", "its", "is", "the", "a", "an", "this"})
"""Words with which a help text adds nothing to its label."""
NULL = re.compile(r"\bnull\b")
PROTOTYPE = re.compile(r"\b(?:voucher )?prototype(s?)\b")
"""What people call an experience."""
LEFT_OUT = frozenset({"is", "has", "nb"})
"""First words that a label does without: of booleans, and of numbers."""
DESCENDING = "_DESCENDING"
PHRASE = re.compile(rf"\b(?:{'|'.join(sorted(PHRASES, key=len, reverse=True))})\b")
CHANGES = {"update": "Edit", "create": "New"}
"""What the verb of a change is called on a button."""


def split(name: str) -> list[str]:
    """The words of a name in camel case, in lower case."""
    return [word.lower() for word in WORD.findall(name)]


@functools.cache
def label_of(name: str) -> str:
    """The label of a field or a type: "Created on" for `createdOn`."""
    if name in NAMED:
        return NAMED[name]
    words = split(name)
    if len(words) > 1 and words[0] in LEFT_OUT:
        words = words[1:]
    if len(words) > 1 and words[-1] in ("ids", "uuids"):
        words = [*words[:-2], plural(words[-2])]
    elif len(words) > 1 and words[-1] in ("id", "uuid", "url"):
        words = words[:-1]
    return _sentence(words)


def plural(word: str) -> str:
    """The plural of a word of the schema: "images", "categories"."""
    return word[:-1] + "ies" if word.endswith("y") else word + "s"


@functools.cache
def value_label(name: str) -> str:
    """The label of a value of an enum: "To prepare" for `TO_PREPARE`."""
    if name not in VALUES and name.endswith(DESCENDING):
        return f"{value_label(name.removesuffix(DESCENDING))}, descending"
    return VALUES.get(name) or _sentence(name.lower().split("_"))


@functools.cache
def action_label(mutation: str, type_name: str) -> str:
    """The label of a button: "Mark ready" for `markOrderReady` on an order, "New coupon" for `createCoupon`."""
    if mutation in ACTIONS:
        return ACTIONS[mutation]
    first, *others = split(mutation)
    verb = CHANGES.get(first, first)
    thing = split(type_name)
    if first != "create":
        others = _without(others, thing)
    return _sentence([verb.lower(), *others])


@functools.cache
def help_of(description: str, name: str = "") -> str:
    """What stands under a field: its description in words for people, unless it only repeats the label."""
    said = set(re.findall(r"\w+", description.lower())) - EMPTY_WORDS
    if FOR_PROGRAMS.search(description) or said <= set(label_of(name).lower().split()):
        return ""
    return PROTOTYPE.sub(r"experience\1", NULL.sub("empty", description.replace("`", "")))


def translated_label(translate: Callable[[str], str], label: str, colon: str) -> str:
    """A label in another language, with its colon; of one that is composed of several, each."""
    return f"{colon} ".join(translate(part) if part else "" for part in label.split(": "))


def _without(words: list[str], thing: list[str]) -> list[str]:
    """The words without those of a thing, singular or plural."""
    length = len(thing)
    for start in range(len(words) - length + 1):
        found = words[start : start + length]
        if found[:-1] == thing[:-1] and found[-1].rstrip("s") == thing[-1].rstrip("s"):
            return words[:start] + words[start + length :]
    return words


def _sentence(words: list[str]) -> str:
    said = PHRASE.sub(lambda match: PHRASES[match.group()], " ".join(words))
    text = " ".join(ACRONYMS.get(word, word) for word in said.split(" "))
    return text[:1].upper() + text[1:]
