"""Code samples: requests as curl commands, JSON data and syntax highlighting."""

import shlex
from typing import Any

import orjson
from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name


def pretty(data: Any) -> str:
    """Data as indented JSON."""
    return orjson.dumps(data, option=orjson.OPT_INDENT_2).decode()


def curl(method: str, url: str, example: Any, *, public: bool, form: bool) -> str:
    """A request as a curl command. It reads the token from the shell variable `TOKEN`."""
    implied = "POST" if example is not None else "GET"
    parts = [f"curl {'' if method == implied else f'-X {method} '}{shlex.quote(url)}"]
    if not public:
        parts.append('-H "Authorization: Token $TOKEN"')
    if example is not None and form:
        parts += [f"-F {shlex.quote(f'{key}={_form_value(key, value)}')}" for key, value in example.items()]
    elif example is not None:
        parts += ["-H 'Content-Type: application/json'", f"-d {shlex.quote(pretty(example))}"]
    return " \\\n  ".join(parts)


def _form_value(key: str, value: Any) -> str:
    return "@picture.jpg" if key == "file" else str(value)


def highlight_code(code: str, language: str) -> Markup:
    """Code as HTML. Its CSS classes are those of the style sheet."""
    options = {"startinline": True} if language == "php" else {}
    html: str = highlight(code, get_lexer_by_name(language, **options), HtmlFormatter(nowrap=True))
    return Markup(html.rstrip())  # noqa: S704 - Pygments escapes
