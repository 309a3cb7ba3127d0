"""The curl command that creates a cart."""

import json
import shlex
from collections.abc import Mapping


def curl_command(base: str, token: str, cart: Mapping[str, object]) -> str:
    lines = (
        f"curl -sS {base}/api/v2/ecommerce/cart/",
        f"-H 'Authorization: Token {token}'",
        "-H 'Content-Type: application/json'",
        f"-d {shlex.quote(json.dumps(cart, ensure_ascii=False))}",
    )
    return " \\\n  ".join(lines)
