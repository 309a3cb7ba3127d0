"""What operations are called where they are told of: by the buttons that run them."""

import functools
from collections.abc import Mapping

from admin.graph.labels import label_of, split
from admin.resources.registry import resources
from admin.resources.resource import Resource

LOG_IN, EXPORT, IMPORT = "Log in", "Export", "Import from CSV"
ELSEWHERE = {
    "obtainToken": LOG_IN,
    "obtainTokenWithPasskey": LOG_IN,
    "createExport": EXPORT,
    "importGiftCards": f"Gift cards: {IMPORT}",
    "importVouchers": f"Vouchers: {IMPORT}",
    "saveFilter": "Save this filter",
    "requestPasswordReset": "Forgot your password?",
    "previewOrderRefund": "Order: Preview",
    "previewRefund": "Payment: Preview",
}
"""What pages of their own run, in words that these pages have."""


@functools.cache
def operation_labels() -> Mapping[str, str]:
    """The labels of operations by their names in the audit log: "Order: Mark ready" for `mark_order_ready`."""
    labels = {
        action.mutation: _label(resource, resource.action_name(action))
        for resource in reversed([*resources().values()])
        for action in reversed(resource.all_actions)
        if not action.only
    }
    return {"_".join(split(mutation)): label for mutation, label in (ELSEWHERE | labels).items()}


def _label(resource: Resource, action: str) -> str:
    """The label of a button, which on its page need not say what it is about."""
    thing = label_of(resource.type.name)
    return action if thing.lower() in action.lower() else f"{thing}: {action}"
