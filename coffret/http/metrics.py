"""`/metrics`: access control, and one answer for all processes of a server."""

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

from resolvers.core.services import Services
from resolvers.job.ledger_gauges import LEDGER, refresh_ledger_gauges
from resolvers.job.metrics import QUEUE, refresh_queue_gauges
from store.core.settings import Settings

disable_created_metrics()  # type: ignore[no-untyped-call]  # half of all lines, and nothing reads them

FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""Prometheus' own variable. If it is set, processes store their values in files of that folder."""
PROXY_HEADERS = ("x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "forwarded", "via")


async def metrics(request: Request) -> Response:
    """Metrics in Prometheus' format.

    With `COFFRET_METRICS_TOKEN` a bearer token is required. Without it everybody may read them in development, and only
    clients on this machine in production.
    """
    services: Services = request.app.state.container.services
    refusal = refuse_unauthorized(request, services.settings)
    if refusal is not None:
        return refusal
    await refresh_queue_gauges(services.db)
    await refresh_ledger_gauges(services.db)
    return Response(exposition(), media_type=CONTENT_TYPE_LATEST)


def refuse_unauthorized(request: Request, settings: Settings) -> Response | None:
    """The refusal of an unauthorized request; None if it is authorized."""
    token = settings.metrics_token.get_secret_value()
    if token:
        sent = request.headers.get("authorization", "").encode()
        if hmac.compare_digest(sent, f"Bearer {token}".encode()):
            return None
        return JSONResponse({"detail": "Send `Authorization: Bearer <token>`."}, 401, {"WWW-Authenticate": "Bearer"})
    if settings.development or is_direct_local(request):
        return None
    return JSONResponse(
        {"detail": "Only clients on this machine may read the metrics. Set COFFRET_METRICS_TOKEN to allow others."}, 403
    )


def is_direct_local(request: Request) -> bool:
    """True for a client on this machine. A request that came through a proxy is not local."""
    if request.client is None or any(name in request.headers for name in PROXY_HEADERS):
        return False
    try:
        return ipaddress.ip_address(request.client.host).is_loopback
    except ValueError:
        return False


def exposition() -> bytes:
    """The metrics of this process, or of all processes that share a folder."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if not folder:
        return generate_latest()
    for path in pathlib.Path(folder).glob("gauge_live*_*.db"):
        pid = int(path.stem.rpartition("_")[2])
        if not is_process_alive(pid):  # killed without cleaning up: its live gauges no longer count
            mark_process_dead(pid, folder)  # type: ignore[no-untyped-call]
    registry = CollectorRegistry()
    MultiProcessCollector(registry, folder)  # type: ignore[no-untyped-call]
    registry.register(QUEUE)
    registry.register(LEDGER)
    return generate_latest(registry)


@contextlib.contextmanager
def shared_metrics(settings: Settings) -> Iterator[None]:
    """With several workers, collect the metrics of all child processes in a temporary folder."""
    if settings.workers == 1 or os.environ.get(FOLDER_VARIABLE):
        yield
        return
    parent = settings.data_dir.expanduser().resolve() / "metrics"
    folder = parent / str(os.getpid())
    for left in parent.glob("[0-9]*"):  # left by killed servers, or by an earlier process with our pid
        if left == folder or not is_process_alive(int(left.name)):
            shutil.rmtree(left, ignore_errors=True)
    folder.mkdir(parents=True)
    os.environ[FOLDER_VARIABLE] = str(folder)
    try:
        yield
    finally:
        del os.environ[FOLDER_VARIABLE]
        shutil.rmtree(folder, ignore_errors=True)


def is_process_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
