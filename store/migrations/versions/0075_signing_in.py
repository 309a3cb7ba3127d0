"""Second factors, links to choose a password, and what is known of log-ins."""

import sqlalchemy as sa
from alembic import op

revision = '0075'
down_revision = '0074'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column('app_user', sa.Column('has_second_factor', sa.Boolean(), server_default='false', nullable=False))
    for name, length, default in (('kind', 20, 'api'), ('user_agent', 200, ''), ('address', 45, '')):
        op.add_column('token', sa.Column(name, sa.String(length), server_default=default, nullable=False))
    op.execute("UPDATE token SET kind = 'log_in' WHERE label = 'Redeem page' AND expires_on IS NOT NULL")
    op.create_table(
        'totp',
        sa.Column('user_id', sa.Integer(), autoincrement=False, nullable=False),
        sa.Column('sealed_secret', sa.LargeBinary(), nullable=False),
        sa.Column('last_step', sa.BigInteger(), nullable=False),
        sa.Column('confirmed_on', sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(['user_id'], ['app_user.id'], name=op.f('totp_user_id_fkey')),
        sa.PrimaryKeyConstraint('user_id', name=op.f('totp_pkey')),
    )
    op.create_table(
        'recovery_code',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('user_id', sa.Integer(), nullable=False),
        sa.Column('digest', sa.LargeBinary(), nullable=False),
        sa.Column('used_on', sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(['user_id'], ['app_user.id'], name=op.f('recovery_code_user_id_fkey')),
        sa.PrimaryKeyConstraint('id', name=op.f('recovery_code_pkey')),
        sa.UniqueConstraint('digest', name=op.f('recovery_code_digest_key')),
    )
    op.create_index(op.f('recovery_code_user_id_idx'), 'recovery_code', ['user_id'])
    op.create_table(
        'account_link',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('uuid', sa.Uuid(), nullable=False),
        sa.Column('user_id', sa.Integer(), nullable=False),
        sa.Column('kind', sa.String(20), nullable=False),
        sa.Column('created_on', sa.DateTime(timezone=True), nullable=False),
        sa.Column('expires_on', sa.DateTime(timezone=True), nullable=False),
        sa.Column('ended_on', sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(['user_id'], ['app_user.id'], name=op.f('account_link_user_id_fkey')),
        sa.PrimaryKeyConstraint('id', name=op.f('account_link_pkey')),
        sa.UniqueConstraint('uuid', name=op.f('account_link_uuid_key')),
    )
    op.create_index(op.f('account_link_user_id_idx'), 'account_link', ['user_id'])


def downgrade() -> None:
    op.execute("""
        DO $$ BEGIN
            IF EXISTS (SELECT FROM app_user WHERE has_second_factor) THEN
                RAISE EXCEPTION 'There are users with a second factor, whom the release before would let in without it.';
            END IF;
        END $$
    """)
    for table in ('account_link', 'recovery_code', 'totp'):
        op.drop_table(table)
    for name in ('address', 'user_agent', 'kind'):
        op.drop_column('token', name)
    op.drop_column('app_user', 'has_second_factor')
