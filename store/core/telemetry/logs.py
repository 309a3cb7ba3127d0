"""Logs: one line per event, as JSON or as text, with secrets masked."""

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

MASK = "***"
_SECRET_NAME = re.compile(
    r"password|passwd|passphrase|secret|authorization|cookie|api_?key|private_?key|credential|digest|signature|birthday"
    r"|(^|_)(token|tokens|codes?|otp|pin|iban|cvc|cvv|cvx|card_number)$",
    re.IGNORECASE,
)
_OPEN_NAMES = frozenset(
    {
        *("status_code", "error_code", "exit_code"),
        *("country_code", "currency_code", "language_code", "postal_code", "zip_code"),
    }
)
_CAMEL_CASE_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SECRET_TEXT: Sequence[tuple[tuple[str, ...], re.Pattern[str], str]] = (
    (("bearer", "basic", "token"), re.compile(r"(?i)\b(bearer|basic|token)(\s+)[\w.~+/=-]{8,}"), rf"\1\2{MASK}"),
    (("password", "secret", "token", "apikey", "api_key", "code", "otp", "pin"), re.compile(r"(?i)((?:password|secret|token|api_?key|\b(?:code|otp|pin))['\"]?\s*[=:]\s*['\"]?)[^\s&'\",;}]+"), rf"\1{MASK}"),
    (("://",), re.compile(r"(\w://[^\s:/@]*):[^\s/@]+@"), rf"\1:{MASK}@"),
    (("onboarding",), re.compile(r"(?i)(onboarding(?:/|%2f))\.?[\w-]{20,}\.[\w-]{20,}"), rf"\1{MASK}"),
    (("documents",), re.compile(r"(?i)(documents(?:/|%2f)[a-z-]+(?:/|%2f))\.?[\w-]{20,}(?:\.[\w-]{20,})?"), rf"\1{MASK}"),
    (("vouchers", "_by_code", "redeem"), re.compile(r"(?i)((?:api(?:/|%2f)vouchers|[a-z]_by_code|(?:/|%2f)redeem)(?:/|%2f))(?!%2f)[^/\s?'\"&]+?(?=/|%2f|[\s?'\"&]|$)"), rf"\1{MASK}"),
    (("provider/hooks/",), re.compile(r"(?i)(provider/hooks/)[^/\s?'\"]+"), rf"\1{MASK}"),
    (("/pay/", "%2fpay%2f"), re.compile(r"(?i)((?:/|%2f)pay(?:/|%2f))[\w-]{20,}"), rf"\1{MASK}"),
    (
        ("/network/", "%2fnetwork%2f", "/orders/", "%2forders%2f"),
        re.compile(r"(?i)((?:/|%2f)(?:network|orders)(?:/|%2f))\.?[\w-]{20,}\.[\w-]{20,}"),
        rf"\1{MASK}",
    ),
    (("/k/", "%2fk%2f"), re.compile(r"(?i)((?:/|%2f)k(?:/|%2f))[a-z0-9]{8}(?![a-z0-9])"), rf"\1{MASK}"),
    (("[parameters",), re.compile(r"(?s)\[parameters: .*?(?:\](?=\s*(?:\n|$|\(Background))|\Z)"), f"[parameters: {MASK}]"),
)  # fmt: skip
"""Words, pattern and replacement for each kind of secret in texts. A pattern applies only if the text contains one
of its words. Most texts contain none, and looking for words costs a tenth of the pattern. Texts may be as long as the
body of a request: no pattern may begin with a repetition, nor look for an end that may be missing."""
_LIBRARY_LEVELS = {
    "alembic": logging.WARNING,
    "asyncio": logging.WARNING,
    "httpcore": logging.WARNING,
    "httpx": logging.WARNING,  # its lines hold whole addresses
    "pgqueuer": logging.WARNING,
    "python_multipart": logging.WARNING,
    "uvicorn.error": logging.WARNING,
}
_PROBES = frozenset({"/healthz", "/readyz", "/metrics"})
"""Monitoring requests these every few seconds; only their failures are logged."""


def set_up_logging(settings: Settings, stream: TextIO | None = None, *, quiet: bool = False) -> None:
    """Send all logs of the program and its libraries to one stream (standard error by default).

    `quiet` is for a program whose own output should stay in sight: on the terminal of a development installation only
    warnings and errors are logged, unless `COFFRET_LOG_LEVEL` is set.

    Lines carry what was bound with `structlog.contextvars.bind_contextvars`, such as `request_id`. They are JSON if
    `settings.log_json` says so, by default in production. Values with secret names are masked, and so are tokens,
    passwords and SQL parameters within texts.
    """
    as_json = not settings.development if settings.log_json is None else settings.log_json
    stream = stream or sys.stderr
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=_shared_processors(as_json=as_json),
            pass_foreign_args=True,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                *_final_processors(stream, as_json=as_json),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel("WARNING" if quiet and is_developer_terminal(settings, stream) else settings.log_level.upper())
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate, logger.disabled = [], True, False
        logger.setLevel(logging.NOTSET)
    for name, level in _LIBRARY_LEVELS.items():
        logging.getLogger(name).setLevel(max(level, root.level))
    logging.getLogger("uvicorn.access").addFilter(is_not_probe)
    logging.captureWarnings(capture=True)
    _configure_structlog(as_json=as_json)


def _configure_structlog(*, as_json: bool) -> None:
    """Route structlog through the standard library's logging."""
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.stdlib.PositionalArgumentsFormatter(),
            *_shared_processors(as_json=as_json),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )


def is_developer_terminal(settings: Settings, stream: TextIO) -> bool:
    """True if a stream is the terminal of a development installation whose settings do not configure logging."""
    undemanded = settings.development and not settings.log_json and "log_level" not in settings.model_fields_set
    return undemanded and stream.isatty()


def _shared_processors(*, as_json: bool) -> list[Processor]:
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        parse_access_line,
        structlog.processors.TimeStamper(fmt="iso" if as_json else "%H:%M:%S", utc=as_json),
        structlog.processors.StackInfoRenderer(),
    ]


def _final_processors(stream: TextIO, *, as_json: bool) -> list[Processor]:
    if as_json:
        transform = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
        rename = structlog.processors.EventRenamer("message")
        render = structlog.processors.JSONRenderer(serializer=_dumps)
        return [structlog.processors.ExceptionRenderer(transform), mask_event, rename, render]
    colours = stream.isatty()
    return [
        structlog.processors.format_exc_info,
        mask_event,
        structlog.dev.ConsoleRenderer(colors=colours, exception_formatter=structlog.dev.plain_traceback),
    ]


def _dumps(value: object, **_: Callable[[object], object]) -> str:
    return orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS).decode()


def is_not_probe(record: logging.LogRecord) -> bool:
    """False for the access line of a successful monitoring request."""
    arguments = record.args if isinstance(record.args, tuple) else ()
    return len(arguments) != 5 or arguments[2] not in _PROBES or arguments[4] != 200


def parse_access_line(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Split uvicorn's access line into fields. The query is dropped: it may contain codes and addresses."""
    arguments = event.pop("positional_args", ())
    if event.get("logger") == "uvicorn.access" and len(arguments) == 5:
        address, method, path, _version, status = arguments
        event.update(event="request", address=address, method=method, path=str(path).partition("?")[0], status=status)
    return event


def mask_event(_logger: WrappedLogger, _method: str, event: EventDict) -> MutableMapping[str, Any]:
    """Mask secrets at any depth."""
    return {name: _mask_value(name, value) for name, value in event.items()}


def split_words(name: str) -> str:
    """Separate the words of a name: `cardNumber` becomes `card_Number`."""
    return _CAMEL_CASE_BOUNDARY.sub("_", name)


@lru_cache(maxsize=1024)
def is_secret(name: str) -> bool:
    """True if a name, in `snake_case` or `camelCase`, denotes a secret."""
    name = split_words(name)
    return _SECRET_NAME.search(name) is not None and name.lower() not in _OPEN_NAMES


def mask_secrets(value: str) -> str:
    """Mask tokens, passwords and SQL parameters in a text, as far as the surrounding text identifies them."""
    folded = value.casefold()
    for words, pattern, replacement in _SECRET_TEXT:
        for word in words:
            if word in folded:
                value = pattern.sub(replacement, value)
                break
    return value


def _mask_value(name: str, value: object) -> object:
    if is_secret(name):
        return MASK if value else value
    if isinstance(value, Mapping):
        return {key: _mask_value(str(key), inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_mask_value("", inner) for inner in value]
    return mask_secrets(value) if isinstance(value, str) else value
