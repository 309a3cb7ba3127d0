"""Looks at the back office as a partner, and a second user for large payouts."""

import sqlalchemy as sa
from alembic import op

revision = '0082'
down_revision = '0081'
branch_labels = None
depends_on = None

USERS = ('first_validated_by_id', 'validated_by_id')


def upgrade() -> None:
    op.create_table(
        'impersonation',
        sa.Column('partner_id', sa.Integer(), nullable=False),
        sa.Column('created_on', sa.DateTime(timezone=True), nullable=False),
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('reason', sa.String(200), nullable=False),
        sa.Column('expires_on', sa.DateTime(timezone=True), nullable=False),
        sa.Column('ended_on', sa.DateTime(timezone=True), nullable=True),
        sa.Column('user_id', sa.Integer(), nullable=False),
        sa.Column('token_id', sa.Integer(), nullable=False),
        sa.CheckConstraint("expires_on <= created_on + interval '30 minutes'", name=op.f('impersonation_is_short')),
        sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('impersonation_partner_id_fkey')),
        sa.ForeignKeyConstraint(['user_id'], ['app_user.id'], name=op.f('impersonation_user_id_fkey')),
        sa.ForeignKeyConstraint(['token_id'], ['token.id'], name=op.f('impersonation_token_id_fkey')),
        sa.PrimaryKeyConstraint('id', name=op.f('impersonation_pkey')),
    )
    op.create_index(
        'impersonation_open_key', 'impersonation', ['token_id'], unique=True, postgresql_where=sa.text('ended_on IS NULL')
    )
    op.create_index(op.f('impersonation_partner_id_idx'), 'impersonation', ['partner_id'])
    op.add_column(
        'marketplace',
        sa.Column('payout_second_validation_from_amount', sa.Numeric(precision=12, scale=2), nullable=True),
    )
    op.create_check_constraint(
        op.f('marketplace_payout_second_validation'), 'marketplace', 'payout_second_validation_from_amount >= 0'
    )
    for name in USERS:
        op.add_column('payout_request', sa.Column(name, sa.Integer(), nullable=True))
        op.create_foreign_key(op.f(f'payout_request_{name}_fkey'), 'payout_request', 'app_user', [name], ['id'])
    op.add_column('payout_request', sa.Column('first_validated_on', sa.DateTime(timezone=True), nullable=True))
    op.create_check_constraint(
        op.f('payout_request_second_user'), 'payout_request', 'validated_by_id <> first_validated_by_id'
    )
    op.create_check_constraint(
        op.f('payout_request_is_first_validated_once'),
        'payout_request',
        '(first_validated_by_id IS NULL) = (first_validated_on IS NULL)',
    )


def downgrade() -> None:
    for name in ('is_first_validated_once', 'second_user'):
        op.drop_constraint(op.f(f'payout_request_{name}'), 'payout_request')
    for name in ('first_validated_on', *USERS):
        op.drop_column('payout_request', name)
    op.drop_column('marketplace', 'payout_second_validation_from_amount')
    op.drop_table('impersonation')
