"""Invoices mended: whose money accounts count."""

from alembic import op

revision = '0052'
down_revision = '0049'
branch_labels = None
depends_on = None

OF_NOBODY = """
    UPDATE ledger_account SET partner_id = NULL
    WHERE partner_id IS NOT NULL AND owner_id IS NULL AND owner_uuid IS NULL
"""
"""A credit note could open the marketplace's account as one of the partner that it was for."""


def upgrade() -> None:
    op.execute(OF_NOBODY)


def downgrade() -> None:
    """What was repaired stays so: the revision before reads it the same way."""
