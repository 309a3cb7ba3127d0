"""Serves GraphiQL to browsers, without requests to third parties.

`scripts/graphiql/build.sh` builds the bundle in `static/`; `LICENSES.txt` there lists everything in it.
"""

import pathlib
import secrets
from collections.abc import Sequence
from functools import cache

from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import BaseRoute, Route

STATIC = pathlib.Path(__file__).parent / "static"
CACHE_FOREVER = "public, max-age=31536000, immutable"
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; font-src data:; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {"x-content-type-options": "nosniff", "referrer-policy": "no-referrer"}
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Coffret GraphQL</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="{path}/static/{css}">
<script defer nonce="{nonce}" src="{path}/static/{js}"></script>
</head>
<body>
<div id="graphiql"><noscript>GraphiQL needs JavaScript. Any GraphQL client can use this URL.</noscript></div>
</body>
</html>
"""


@cache
def assets() -> dict[str, str]:
    """The file names of the bundle by suffix. The names change with the content."""
    return {path.suffix[1:]: path.name for path in STATIC.glob("graphiql-*")}


def page(path: str) -> Response:
    """The page for an endpoint at this path."""
    nonce = secrets.token_urlsafe(16)
    headers = {
        **HEADERS,
        "content-security-policy": CONTENT_SECURITY_POLICY.format(nonce=nonce),
        "cache-control": "no-store",
    }
    return HTMLResponse(PAGE.format(path=path.rstrip("/"), nonce=nonce, **assets()), headers=headers)


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in assets().values():
        return Response(status_code=404)
    return FileResponse(STATIC / name, headers={**HEADERS, "cache-control": CACHE_FOREVER})


def routes(path: str) -> Sequence[BaseRoute]:
    """The route of the bundle's files."""
    return [Route(f"{path}/static/{{name}}", _static, methods=["GET"])]
