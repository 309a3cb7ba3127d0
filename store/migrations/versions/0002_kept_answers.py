"""First answers are kept for repeated requests."""

import sqlalchemy as sa
from alembic import op

revision = '0002'
down_revision = '0001'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('kept_answer',
    sa.Column('token_id', sa.Integer(), nullable=False),
    sa.Column('key', sa.String(255), nullable=False),
    sa.Column('fingerprint', sa.LargeBinary(), nullable=False),
    sa.Column('request', sa.Uuid(), nullable=False),
    sa.Column('answer', sa.LargeBinary(), nullable=True),
    sa.Column('held_until', sa.DateTime(timezone=True), nullable=True),
    sa.Column('created_on', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['token_id'], ['token.id'], name=op.f('kept_answer_token_id_fkey'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('token_id', 'key', name=op.f('kept_answer_pkey'))
    )
    op.create_index(op.f('kept_answer_created_on_idx'), 'kept_answer', ['created_on'], unique=False)


def downgrade() -> None:
    op.drop_index(op.f('kept_answer_created_on_idx'), table_name='kept_answer')
    op.drop_table('kept_answer')
