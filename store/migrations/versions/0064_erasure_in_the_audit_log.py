"""Let personal data be erased from the audit log: who did what and when stays as it was written."""

from alembic import op

revision = '0064'
down_revision = '0063'
branch_labels = None
depends_on = None

# As in 0003, and besides: what was sent and changed, and the network address, may be replaced by whoever has said so within
# the transaction: SET LOCAL coffret.audit_erase = 'on'.
GUARD = """
CREATE OR REPLACE FUNCTION audit_entry_is_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND OLD.occurred_on < nullif(current_setting('coffret.audit_prune_before', true), '')::timestamptz THEN
    RETURN OLD;
  END IF;
{erase}  RAISE EXCEPTION 'The audit log is only added to: % is refused.', TG_OP USING ERRCODE = 'insufficient_privilege';
END
$$
"""
ERASE = """  IF TG_OP = 'UPDATE' AND current_setting('coffret.audit_erase', true) = 'on'
    AND to_jsonb(NEW) - ARRAY['input', 'changes', 'address'] = to_jsonb(OLD) - ARRAY['input', 'changes', 'address'] THEN
    RETURN NEW;
  END IF;
"""


def upgrade() -> None:
    op.execute(GUARD.replace('{erase}', ERASE))


def downgrade() -> None:
    op.execute(GUARD.replace('{erase}', ''))
