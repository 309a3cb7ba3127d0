"""Who changed what is written down."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = '0003'
down_revision = '0002'
branch_labels = None
depends_on = None


# Refuses to change what was written down. Entries may be deleted by whoever has said, within the transaction, from before
# when: SET LOCAL coffret.audit_prune_before = '2020-01-01T00:00:00Z'. A guard against mistakes, not against the table's owner.
GUARD = """
CREATE FUNCTION audit_entry_is_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND OLD.occurred_on < nullif(current_setting('coffret.audit_prune_before', true), '')::timestamptz THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'The audit log is only added to: % is refused.', TG_OP USING ERRCODE = 'insufficient_privilege';
END
$$
"""


def upgrade() -> None:
    op.create_table('audit_entry',
    sa.Column('id', sa.BigInteger(), nullable=False),
    sa.Column('occurred_on', sa.DateTime(timezone=True), nullable=False),
    sa.Column('operation', sa.String(80), nullable=False),
    sa.Column('refused', sa.String(80), nullable=True),
    sa.Column('actor', sa.String(20), nullable=False),
    sa.Column('user_id', sa.Integer(), nullable=True),
    sa.Column('username', sa.String(254), nullable=False),
    sa.Column('token_id', sa.Integer(), nullable=True),
    sa.Column('token_hint', sa.String(12), nullable=False),
    sa.Column('address', sa.String(64), nullable=False),
    sa.Column('request_id', sa.String(128), nullable=False),
    sa.Column('partner_id', sa.Integer(), nullable=True),
    sa.Column('marketplace_id', sa.Integer(), nullable=True),
    sa.Column('subject_type', sa.String(80), nullable=False),
    sa.Column('subject_id', sa.String(80), nullable=False),
    sa.Column('input', postgresql.JSONB(astext_type=sa.Text()), nullable=False),
    sa.Column('changes', postgresql.JSONB(astext_type=sa.Text()), nullable=False),
    sa.PrimaryKeyConstraint('id', name=op.f('audit_entry_pkey'))
    )
    op.create_index('audit_entry_occurred_on_list_idx', 'audit_entry', ['partner_id', 'occurred_on', 'id'], unique=False)
    op.create_index('audit_entry_of_all_idx', 'audit_entry', ['occurred_on', 'id'], unique=False)
    op.create_index('audit_entry_of_marketplace_idx', 'audit_entry', ['marketplace_id', 'occurred_on', 'id'], unique=False)
    op.create_index('audit_entry_subject_idx', 'audit_entry', ['subject_type', 'subject_id'], unique=False)
    op.execute(GUARD)
    for when, each in (('UPDATE OR DELETE', 'ROW'), ('TRUNCATE', 'STATEMENT')):
        op.execute(
            f"CREATE TRIGGER audit_entry_is_kept_{each.lower()} BEFORE {when} ON audit_entry "
            f"FOR EACH {each} EXECUTE FUNCTION audit_entry_is_kept()"
        )


def downgrade() -> None:
    op.drop_table('audit_entry')
    op.execute('DROP FUNCTION audit_entry_is_kept()')
