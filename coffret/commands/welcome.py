"""The messages that `coffret serve` and `coffret demo` print."""

import pathlib
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from rich.console import Console

from coffret.demo.cart_command import curl_command
from store.core.clock import clock
from store.core.settings import Settings
from store.core.telemetry.logs import is_developer_terminal


@dataclass(frozen=True)
class DemoSummary:
    """The parts of the demo data that the welcome message shows."""

    shops: tuple[str, ...]
    """Site domains of the partners."""
    usernames: tuple[str, ...]
    password: str
    token: str
    """A new token of the first partner."""
    cart: Mapping[str, object]
    """A cart with the first partner's products, in the API's input format."""
    gift_card: str
    """The code of a gift card; empty if all are spent."""
    voucher: str = ""
    """The code of a voucher; empty if all are used."""
    network_shop: str = ""
    """Site domain of the network's own shop; empty if it has none."""
    network_gift_card: str = ""
    """The code of a network gift card; empty if there is none."""
    network_voucher: str = ""
    """The code of a network voucher; empty if there is none."""


def print_welcome(settings: Settings, demo: DemoSummary | None) -> None:
    """Print the URLs, log-ins and a curl command to paste."""
    console = Console(highlight=False, soft_wrap=True)
    base = settings.public_url
    with console.capture() as text:  # printed in one piece, so that no log line interrupts it
        console.print(f"\n[bold]Coffret is ready[/] at {base} (Ctrl-C stops it)\n")
        console.print(f"  GraphQL    {base}/graphql/")
        console.print(f"  REST       {base}/docs/")
        console.print(f"  Staff      {base}/admin/")
        if settings.development and settings.mail_server is None:
            console.print(f"  Mail       {base}/_mail/")
        if settings.development:
            console.print(f"  Events     {program_name()} listen --forward-to http://localhost:3000/webhooks")
            console.print(f"  Commands   {program_name()} --help")
        if clock.ahead:
            console.print(f"  Time       {clock.now():%Y-%m-%d %H:%M} UTC: {clock.ahead} ahead of the real time")
        if is_developer_terminal(settings, sys.stderr):
            console.print("  Logs       warnings only; COFFRET_LOG_LEVEL=INFO shows each request")
        if demo is None:
            console.print(
                f"\n  Create log-ins and tokens with: {program_name()} user create, {program_name()} token create\n"
            )
        else:
            print_demo(console, settings, demo)
    console.file.write(text.get())
    console.file.flush()


def program_name() -> str:
    """The command to call this program from the current folder: its name if PATH finds it, else its path."""
    program = pathlib.Path(sys.executable).with_name("coffret")
    found = shutil.which("coffret")
    if not program.exists() or (found is not None and pathlib.Path(found).samefile(program)):
        return "coffret"
    here = pathlib.Path.cwd()
    return str(program.relative_to(here) if program.is_relative_to(here) else program)


def print_demo(console: Console, settings: Settings, demo: DemoSummary) -> None:
    for shop in demo.shops:
        console.print(f"  Shop       {settings.funnel_scheme}://{shop}/")
    if demo.gift_card:
        console.print(f"  Gift card  {demo.gift_card}", markup=False)
    if demo.voucher:
        console.print(f"  Voucher    {demo.voucher}", markup=False)
    if demo.shops:
        console.print(f"  Redeem     {settings.funnel_scheme}://{demo.shops[0]}/redeem/")
    if demo.network_shop:
        console.print(f"\n  Network    {settings.funnel_scheme}://{demo.network_shop}/")
    if demo.network_gift_card:
        console.print(f"  Gift card  {demo.network_gift_card}", markup=False)
    if demo.network_voucher:
        console.print(f"  Voucher    {demo.network_voucher}", markup=False)
    console.print(f"\n  Log-ins, all with password [bold]{demo.password}[/]:")
    for username in demo.usernames:
        console.print(f"    {username}")
    console.print("\n  Create a cart, then open the funnel_url of the answer:\n")
    console.print(curl_command(settings.public_url, demo.token, demo.cart), markup=False)
    console.print()
