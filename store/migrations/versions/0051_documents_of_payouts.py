"""Documents of payouts that the worker makes."""

import sqlalchemy as sa
from alembic import op

revision = '0051'
down_revision = '0050'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('payout_document',
    sa.Column('check_on', sa.DateTime(timezone=True), nullable=True),
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('payout_request_id', sa.Integer(), nullable=False),
    sa.Column('kind', sa.String(10), nullable=False),
    sa.Column('state', sa.String(10), nullable=False),
    sa.Column('lines', sa.Integer(), nullable=False),
    sa.Column('lines_done', sa.Integer(), nullable=False),
    sa.Column('digest', sa.String(64), nullable=False),
    sa.Column('maker', sa.Uuid(), nullable=True),
    sa.Column('tries', sa.Integer(), nullable=False),
    sa.Column('failed_on', sa.DateTime(timezone=True), nullable=True),
    sa.CheckConstraint("(state = 'failed') = (failed_on IS NOT NULL)", name=op.f('payout_document_has_failed')),
    sa.CheckConstraint("(state = 'pending') = (check_on IS NOT NULL)", name=op.f('payout_document_is_worked_on')),
    sa.CheckConstraint('lines_done BETWEEN 0 AND lines', name=op.f('payout_document_progress')),
    sa.ForeignKeyConstraint(['payout_request_id'], ['payout_request.id'], name=op.f('payout_document_payout_request_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('payout_document_pkey')),
    sa.UniqueConstraint('payout_request_id', 'kind', name=op.f('payout_document_payout_request_id_kind_key'))
    )
    op.create_index('payout_document_due_idx', 'payout_document', ['check_on'], postgresql_where=sa.text('check_on IS NOT NULL'))
    op.execute("""
        INSERT INTO payout_document (payout_request_id, kind, state, lines, lines_done, digest, tries)
        SELECT r.id, m.kind, 'ready', n.lines, n.lines, '', 0
        FROM payout_request r
        CROSS JOIN LATERAL (VALUES ('pdf', r.pdf_made_on), ('xlsx', r.xlsx_made_on)) AS m (kind, made_on)
        CROSS JOIN LATERAL (
            SELECT (SELECT count(*) FROM payable_item WHERE payout_request_id = r.id)
                + (SELECT count(*) FROM former_payout_item WHERE payout_request_id = r.id) AS lines
        ) AS n
        WHERE m.made_on IS NOT NULL
    """)


def downgrade() -> None:
    op.drop_table('payout_document')
