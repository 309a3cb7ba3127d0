"""Logs: one line an event, JSON for machines or text for people, without what must stay secret."""

import logging
import re
import sys
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from functools import lru_cache
from typing import Any, TextIO

import orjson
import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from store.core.settings import Settings

HIDDEN = "***"
_SECRET_NAME = re.compile(
    r"password|passwd|passphrase|secret|authorization|cookie|api_?key|private_?key|credential|digest|signature|birthday"
    r"|(^|_)(token|tokens|codes?|pin|iban|cvc|cvv|cvx|card_number)$",
    re.IGNORECASE,
)
_OPEN_NAMES = frozenset(
    {
        *("status_code", "error_code", "exit_code"),
        *("country_code", "currency_code", "language_code", "postal_code", "zip_code"),
    }
)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SECRET_TEXT: Sequence[tuple[tuple[str, ...], re.Pattern[str], str]] = (
    (("bearer", "basic", "token"), re.compile(r"(?i)\b(bearer|basic|token)(\s+)[\w.~+/=-]{8,}"), rf"\1\2{HIDDEN}"),
    (("password", "secret", "token", "apikey", "api_key", "code", "pin"), re.compile(r"(?i)\b((?:[\w-]*(?:password|secret|token|api_?key)|code|pin)['\"]?\s*[=:]\s*['\"]?)[^\s&'\",;}]+"), rf"\1{HIDDEN}"),
    (("://",), re.compile(r"(\w://[^\s:/@]*):[^\s/@]+@"), rf"\1:{HIDDEN}@"),
    (("onboarding",), re.compile(r"(?i)(onboarding(?:/|%2f))[\w-]{20,}\.[\w-]{20,}"), rf"\1{HIDDEN}"),
    (("documents",), re.compile(r"(?i)(documents(?:/|%2f)[a-z-]+(?:/|%2f))[\w-]{20,}"), rf"\1{HIDDEN}"),
    (("vouchers", "_by_code", "redeem"), re.compile(r"(?i)((?:api(?:/|%2f)vouchers|[a-z]+_by_code|(?:/|%2f)redeem)(?:/|%2f))(?!%2f)[^/\s?'\"&]+?(?=/|%2f|[\s?'\"&]|$)"), rf"\1{HIDDEN}"),
    (("provider/hooks/",), re.compile(r"(?i)(provider/hooks/)[^/\s?'\"]+"), rf"\1{HIDDEN}"),
    (("/k/", "%2fk%2f"), re.compile(r"(?i)((?:/|%2f)k(?:/|%2f))[a-z0-9]{8}(?![a-z0-9])"), rf"\1{HIDDEN}"),
    (("[parameters",), re.compile(r"(?s)\[parameters: .*?\](?=\s*(?:\n|$|\(Background))"), f"[parameters: {HIDDEN}]"),
)  # fmt: skip
"""What is looked for and what takes its place, each with the words that it needs one of: most texts hold none of them, and
looking for those costs a tenth of the pattern."""
_QUIET = {
    "alembic": logging.WARNING,
    "asyncio": logging.WARNING,
    "httpcore": logging.WARNING,
    "httpx": logging.WARNING,  # its lines hold whole addresses
    "pgqueuer": logging.WARNING,
    "python_multipart": logging.WARNING,
    "uvicorn.error": logging.WARNING,
}
_PROBES = frozenset({"/healthz", "/readyz", "/metrics"})
"""Asked every few seconds by those who watch; told only when they fail."""


def set_up_logging(settings: Settings, stream: TextIO | None = None, *, calm: bool = False) -> None:
    """Send all logs of the program, and of the libraries it uses, to one stream (standard error).

    `calm` is for a program that has told its user something that should stay in sight: on the terminal of a development
    installation only warnings and errors are written, unless `COFFRET_LOG_LEVEL` says otherwise.

    Lines carry what was bound with `structlog.contextvars.bind_contextvars`, such as `request_id`. JSON where
    `settings.log_json` says so, by default in production. Values named like secrets are hidden, and so are tokens,
    passwords and the parameters of SQL statements within texts.
    """
    as_json = not settings.development if settings.log_json is None else settings.log_json
    stream = stream or sys.stderr
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=_shared(as_json=as_json),
            pass_foreign_args=True,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *_last(stream, as_json=as_json)],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel("WARNING" if calm and keeps_calm(settings, stream) else settings.log_level.upper())
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate, logger.disabled = [], True, False
        logger.setLevel(logging.NOTSET)
    for name, level in _QUIET.items():
        logging.getLogger(name).setLevel(max(level, root.level))
    logging.getLogger("uvicorn.access").addFilter(no_probe)
    logging.captureWarnings(capture=True)
    _configure_structlog(as_json=as_json)


def _configure_structlog(*, as_json: bool) -> None:
    """Send the lines of structlog through the standard library's logging."""
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.stdlib.PositionalArgumentsFormatter(),
            *_shared(as_json=as_json),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )


def keeps_calm(settings: Settings, stream: TextIO) -> bool:
    """Whether a stream is the terminal of a developer who has not said how much to log."""
    undemanded = settings.development and not settings.log_json and "log_level" not in settings.model_fields_set
    return undemanded and stream.isatty()


def _shared(*, as_json: bool) -> list[Processor]:
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        request_line,
        structlog.processors.TimeStamper(fmt="iso" if as_json else "%H:%M:%S", utc=as_json),
        structlog.processors.StackInfoRenderer(),
    ]


def _last(stream: TextIO, *, as_json: bool) -> list[Processor]:
    if as_json:
        transform = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
        rename = structlog.processors.EventRenamer("message")
        render = structlog.processors.JSONRenderer(serializer=_dumps)
        return [structlog.processors.ExceptionRenderer(transform), masked, rename, render]
    colours = stream.isatty()
    return [
        structlog.processors.format_exc_info,
        masked,
        structlog.dev.ConsoleRenderer(colors=colours, exception_formatter=structlog.dev.plain_traceback),
    ]


def _dumps(value: object, **_: Callable[[object], object]) -> str:
    return orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS).decode()


def no_probe(record: logging.LogRecord) -> bool:
    """Whether an access line is worth writing."""
    arguments = record.args if isinstance(record.args, tuple) else ()
    return len(arguments) != 5 or arguments[2] not in _PROBES or arguments[4] != 200


def request_line(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Take uvicorn's access line apart. The query is left out: it may hold codes and addresses."""
    arguments = event.pop("positional_args", ())
    if event.get("logger") == "uvicorn.access" and len(arguments) == 5:
        address, method, path, _version, status = arguments
        event.update(event="request", address=address, method=method, path=str(path).partition("?")[0], status=status)
    return event


def masked(_logger: WrappedLogger, _method: str, event: EventDict) -> MutableMapping[str, Any]:
    """Hide what must stay secret, at any depth."""
    return {name: _masked(name, value) for name, value in event.items()}


def words_apart(name: str) -> str:
    """A name with its words apart: `cardNumber` as `card_Number`."""
    return _HUMP.sub("_", name)


@lru_cache(maxsize=1024)
def is_secret(name: str) -> bool:
    """Whether what has this name, in `snake_case` or `camelCase`, must stay secret."""
    name = words_apart(name)
    return _SECRET_NAME.search(name) is not None and name.lower() not in _OPEN_NAMES


def without_secrets(value: str) -> str:
    """A text without the tokens, passwords and parameters of SQL statements that can be told by what is around them."""
    folded = value.casefold()
    for words, pattern, replacement in _SECRET_TEXT:
        for word in words:
            if word in folded:
                value = pattern.sub(replacement, value)
                break
    return value


def _masked(name: str, value: object) -> object:
    if is_secret(name):
        return HIDDEN if value else value
    if isinstance(value, Mapping):
        return {key: _masked(str(key), inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_masked("", inner) for inner in value]
    return without_secrets(value) if isinstance(value, str) else value
