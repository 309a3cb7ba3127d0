"""What `coffret serve` and `coffret demo` tell whoever started them."""

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from rich.console import Console

from store.settings import Settings


@dataclass(frozen=True)
class Demo:
    """The demo data, as far as a newcomer wants to know it."""

    shops: tuple[str, ...]
    """Site domains of the partners."""
    usernames: tuple[str, ...]
    password: str
    token: str
    """A fresh token of the first partner."""
    cart: Mapping[str, object]
    """A cart of its products, as the API takes it."""
    gift_card: str
    """The code of one of its gift cards; empty when all are spent."""
    voucher: str = ""
    """The code of one of its vouchers; empty when all were used."""


def show(settings: Settings, demo: Demo | None) -> None:
    """Print addresses, log-ins and a curl that can be pasted as it stands."""
    console = Console(highlight=False, soft_wrap=True)
    base = settings.public_url
    with console.capture() as text:  # written in one piece, so that no log line gets between
        console.print(f"\n[bold]Coffret is ready[/] at {base} (Ctrl-C stops it)\n")
        console.print(f"  GraphQL    {base}/graphql/")
        console.print(f"  REST       {base}/api/")
        if settings.development and settings.mail_server is None:
            console.print(f"  Mail       {base}/_mail/")
        if settings.development:
            console.print("  Events     coffret listen --forward-to http://localhost:3000/webhooks")
        if demo is None:
            console.print("\n  Make log-ins and tokens with: coffret user create, coffret token create\n")
        else:
            tell(console, settings, demo)
    console.file.write(text.get())
    console.file.flush()


def tell(console: Console, settings: Settings, demo: Demo) -> None:
    """Print what the demo data hold."""
    for shop in demo.shops:
        console.print(f"  Shop       {settings.funnel_scheme}://{shop}/")
    if demo.gift_card:
        console.print(f"  Gift card  {demo.gift_card}", markup=False)
    if demo.voucher:
        console.print(f"  Voucher    {demo.voucher}", markup=False)
    if demo.shops:
        console.print(f"  Redeem     {settings.funnel_scheme}://{demo.shops[0]}/redeem/")
    console.print(f"\n  Log-ins, all with password [bold]{demo.password}[/]:")
    for username in demo.usernames:
        console.print(f"    {username}")
    console.print("\n  Create a cart, then open the funnel_url that it answers:\n")
    console.print(curl(settings.public_url, demo), markup=False)
    console.print()


def curl(base: str, demo: Demo) -> str:
    """The command that creates the demo's cart."""
    lines = (
        f"curl -sS {base}/api/v2/ecommerce/cart/",
        f"-H 'Authorization: Token {demo.token}'",
        "-H 'Content-Type: application/json'",
        f"-d {shlex.quote(json.dumps(demo.cart, ensure_ascii=False))}",
    )
    return " \\\n  ".join(lines)
