"""`/metrics`: who may read it, and one answer for all processes of a server."""

import contextlib
import hmac
import ipaddress
import os
import pathlib
import shutil
from collections.abc import Iterator

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, disable_created_metrics, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from resolvers.core.context import Services
from resolvers.job.metrics import QUEUE, measure
from store.core.settings import Settings

disable_created_metrics()  # type: ignore[no-untyped-call]  # half of all lines, and no reader of ours wants them

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""Prometheus' own variable. Where it is set, processes keep their numbers in files of that folder."""
FORWARDED = ("x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "forwarded", "via")


async def metrics(request: Request) -> Response:
    """Counters and times, as Prometheus reads them.

    With `COFFRET_METRICS_TOKEN` whoever sends it as a bearer token may read them. Without it everybody may in development,
    and in production clients on this machine.
    """
    services: Services = request.app.state.house.services
    refusal = refused(request, services.settings)
    if refusal is not None:
        return refusal
    await measure(services.db)
    return Response(exposition(), media_type=CONTENT_TYPE_LATEST)


def refused(request: Request, settings: Settings) -> Response | None:
    """Why a request is not told the metrics; None: it is."""
    token = settings.metrics_token.get_secret_value()
    if token:
        sent = request.headers.get("authorization", "").encode()
        if hmac.compare_digest(sent, f"Bearer {token}".encode()):
            return None
        return JSONResponse({"detail": "Send `Authorization: Bearer <token>`."}, 401, {"WWW-Authenticate": "Bearer"})
    if settings.development or from_here(request):
        return None
    return JSONResponse(
        {"detail": "Metrics are told to this machine only. Set COFFRET_METRICS_TOKEN to open them."}, 403
    )


def from_here(request: Request) -> bool:
    """Whether a client on this machine asks for itself. One that a proxy speaks for may be anywhere."""
    if request.client is None or any(name in request.headers for name in FORWARDED):
        return False
    try:
        return ipaddress.ip_address(request.client.host).is_loopback
    except ValueError:
        return False


def exposition() -> bytes:
    """What Prometheus reads: of this process, or of all that share a folder."""
    folder = os.environ.get(FOLDER)
    if not folder:
        return generate_latest()
    for path in pathlib.Path(folder).glob("gauge_live*_*.db"):
        pid = int(path.stem.rpartition("_")[2])
        if not alive(pid):  # it was killed: its part of what is in use now is in use no more
            mark_process_dead(pid, folder)  # type: ignore[no-untyped-call]
    registry = CollectorRegistry()
    MultiProcessCollector(registry, folder)  # type: ignore[no-untyped-call]
    registry.register(QUEUE)
    return generate_latest(registry)


@contextlib.contextmanager
def shared_metrics(settings: Settings) -> Iterator[None]:
    """Where several processes serve, have those started within count together, in a folder that is gone afterwards."""
    if settings.workers == 1 or os.environ.get(FOLDER):
        yield
        return
    parent = settings.data_dir.expanduser().resolve() / "metrics"
    folder = parent / str(os.getpid())
    for left in parent.glob("[0-9]*"):  # of servers that were killed, and of one that had our number
        if left == folder or not alive(int(left.name)):
            shutil.rmtree(left, ignore_errors=True)
    folder.mkdir(parents=True)
    os.environ[FOLDER] = str(folder)
    try:
        yield
    finally:
        del os.environ[FOLDER]
        shutil.rmtree(folder, ignore_errors=True)


def alive(pid: int) -> bool:
    """Whether a process runs."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
