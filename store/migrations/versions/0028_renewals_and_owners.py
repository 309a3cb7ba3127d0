"""Identifications are renewed, owners are named, events are read on."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = '0028'
down_revision = '0027'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        'read_cursor',
        sa.Column('name', sa.String(50), nullable=False),
        sa.Column('read_until', sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint('name', name=op.f('read_cursor_pkey')),
    )
    owners = sa.Column('owners', postgresql.JSONB(astext_type=sa.Text()), server_default='[]', nullable=False)
    op.add_column('identity_check', owners)
    op.alter_column('identity_check', 'owners', server_default=None)
    op.add_column('partner_kyc', sa.Column('renew_by', sa.Date(), nullable=True))


def downgrade() -> None:
    op.drop_column('partner_kyc', 'renew_by')
    op.drop_column('identity_check', 'owners')
    op.drop_table('read_cursor')
