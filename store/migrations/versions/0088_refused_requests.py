"""Refused and failed requests of programs are recorded, and both logs are found by the id of a request.

The index on the audit log keeps others from writing to it while it is built. Both indexes on the request id are ordered
ones: clients choose the id, and equal values would make one bucket of a hash index as long as the table.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = '0088'
down_revision = '0087'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('api_request',
    sa.Column('id', sa.BigInteger(), nullable=False),
    sa.Column('occurred_on', sa.DateTime(timezone=True), nullable=False),
    sa.Column('request_id', sa.String(128), nullable=False),
    sa.Column('transport', sa.String(20), nullable=False),
    sa.Column('method', sa.String(16), nullable=False),
    sa.Column('path', sa.String(500), nullable=False),
    sa.Column('operations', postgresql.ARRAY(sa.VARCHAR(80)), nullable=False),
    sa.Column('status', sa.Integer(), nullable=False),
    sa.Column('error_codes', postgresql.ARRAY(sa.VARCHAR(80)), nullable=False),
    sa.Column('messages', postgresql.ARRAY(sa.Text()), nullable=False),
    sa.Column('duration_ms', sa.Integer(), nullable=False),
    sa.Column('user_id', sa.Integer(), nullable=True),
    sa.Column('username', sa.String(254), nullable=False),
    sa.Column('token_id', sa.Integer(), nullable=True),
    sa.Column('token_hint', sa.String(12), nullable=False),
    sa.Column('client', sa.String(200), nullable=False),
    sa.Column('address', sa.String(64), nullable=False),
    sa.Column('partner_id', sa.Integer(), nullable=True),
    sa.Column('marketplace_id', sa.Integer(), nullable=True),
    sa.PrimaryKeyConstraint('id', name=op.f('api_request_pkey'))
    )
    op.create_index('api_request_occurred_on_list_idx', 'api_request', ['partner_id', 'occurred_on', 'id'])
    op.create_index('api_request_of_marketplace_idx', 'api_request', ['marketplace_id', 'occurred_on', 'id'])
    op.create_index('api_request_of_all_idx', 'api_request', ['occurred_on', 'id'])
    op.create_index('api_request_request_idx', 'api_request', ['request_id'])
    op.create_index('audit_entry_request_idx', 'audit_entry', ['request_id'])


def downgrade() -> None:
    op.drop_index('audit_entry_request_idx', 'audit_entry')
    op.drop_table('api_request')
