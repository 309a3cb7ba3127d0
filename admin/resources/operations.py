"""What operations are called where they are told of: by the buttons that run them."""

import functools
import re
from collections.abc import Callable, Mapping

from admin.graph.labels import label_of, split, translated_label
from admin.resources.registry import resources
from admin.resources.resource import Resource

COLON = re.compile(r"\s*:\s*")
LOG_IN, EXPORT, IMPORT = "Log in", "Export", "Import from CSV"
ELSEWHERE = {
    "obtainToken": LOG_IN,
    "obtainTokenWithPasskey": LOG_IN,
    "createExport": EXPORT,
    "createToken": "New API token",
    "importGiftCards": f"Gift cards: {IMPORT}",
    "importVouchers": f"Vouchers: {IMPORT}",
    "saveFilter": "Save this filter",
    "requestPasswordReset": "Forgot your password?",
    "previewOrderRefund": "Order: Preview",
    "previewRefund": "Payment: Preview",
}
"""What pages of their own and commands run, in words that pages have."""


@functools.cache
def operation_labels() -> Mapping[str, str]:
    """The labels of operations by their names in the audit log: "Order: Mark ready" for `mark_order_ready`."""
    labels = {
        action.mutation: _label(resource, resource.action_name(action))
        for resource in reversed([*resources().values()])
        for action in reversed(resource.all_actions)
        if not action.only
    }
    return {"_".join(split(mutation)): label for mutation, label in (labels | ELSEWHERE).items()}


def operation_label(name: str, translate: Callable[[str], str], colon: str = ":") -> str:
    """What an operation does, in the words of its button; the name of one without a button."""
    label = operation_labels().get("_".join(split(name)))
    return translated_label(translate, label, colon) if label else name


def operation_called(text: str, translate: Callable[[str], str]) -> str:
    """The name in the logs of the operation that somebody means by "Order: Mark ready" or `markOrderReady`."""
    labels = {operation_label(name, translate).casefold(): name for name in operation_labels()}
    return labels.get(COLON.sub(": ", text.strip()).casefold()) or "_".join(split(text))


def _label(resource: Resource, action: str) -> str:
    """The label of a button, which on its page need not say what it is about."""
    thing = label_of(resource.type.name)
    return action if thing.lower() in action.lower() else f"{thing}: {action}"
