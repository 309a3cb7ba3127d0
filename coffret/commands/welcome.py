"""What `coffret serve` and `coffret demo` tell whoever started them."""

import json
import pathlib
import shlex
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from rich.console import Console

from store.core.logs import keeps_calm
from store.core.settings import Settings


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
        console.print(f"  REST       {base}/docs/")
        if settings.development and settings.mail_server is None:
            console.print(f"  Mail       {base}/_mail/")
        if settings.development:
            console.print(f"  Events     {command()} listen --forward-to http://localhost:3000/webhooks")
            console.print(f"  Commands   {command()} --help")
        if keeps_calm(settings, sys.stderr):
            console.print("  Logs       warnings only; COFFRET_LOG_LEVEL=INFO shows each request")
        if demo is None:
            console.print(f"\n  Make log-ins and tokens with: {command()} user create, {command()} token create\n")
        else:
            tell(console, settings, demo)
    console.file.write(text.get())
    console.file.flush()


def command() -> str:
    """How this program is called from where its user is: by its name where that finds it, else by its path."""
    program = pathlib.Path(sys.executable).with_name("coffret")
    found = shutil.which("coffret")
    if not program.exists() or (found is not None and pathlib.Path(found).samefile(program)):
        return "coffret"
    here = pathlib.Path.cwd()
    return str(program.relative_to(here) if program.is_relative_to(here) else program)


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
    console.print(curl(settings.public_url, demo.token, demo.cart), markup=False)
    console.print()


def curl(base: str, token: str, cart: Mapping[str, object]) -> str:
    """The command that creates a cart."""
    lines = (
        f"curl -sS {base}/api/v2/ecommerce/cart/",
        f"-H 'Authorization: Token {token}'",
        "-H 'Content-Type: application/json'",
        f"-d {shlex.quote(json.dumps(cart, ensure_ascii=False))}",
    )
    return " \\\n  ".join(lines)
