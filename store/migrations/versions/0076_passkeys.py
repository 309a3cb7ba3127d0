"""Passkeys of users."""

import sqlalchemy as sa
from alembic import op

revision = '0076'
down_revision = '0075'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        'passkey',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('user_id', sa.Integer(), nullable=False),
        sa.Column('name', sa.String(80), nullable=False),
        sa.Column('credential_id', sa.LargeBinary(), nullable=False),
        sa.Column('public_key', sa.LargeBinary(), nullable=False),
        sa.Column('sign_count', sa.BigInteger(), nullable=False),
        sa.Column('created_on', sa.DateTime(timezone=True), nullable=False),
        sa.Column('last_used_on', sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(['user_id'], ['app_user.id'], name=op.f('passkey_user_id_fkey')),
        sa.PrimaryKeyConstraint('id', name=op.f('passkey_pkey')),
        sa.UniqueConstraint('credential_id', name=op.f('passkey_credential_id_key')),
    )
    op.create_index(op.f('passkey_user_id_idx'), 'passkey', ['user_id'])


def downgrade() -> None:
    op.drop_table('passkey')
