"""Designs of partners' own gift cards, and the occasions of designs."""

import sqlalchemy as sa
from alembic import op

revision = '0070'
down_revision = '0069'
branch_labels = None
depends_on = None

DESIGNS_OF_NETWORKS = 'gift_card_designs_are_of_networks'


def upgrade() -> None:
    op.add_column('gift_card_design', sa.Column('partner_id', sa.Integer(), nullable=True))
    op.add_column('gift_card_design', sa.Column('occasion', sa.String(20), nullable=True))
    op.create_foreign_key(
        op.f('gift_card_design_partner_id_fkey'), 'gift_card_design', 'partner', ['partner_id'], ['id']
    )
    op.create_index('gift_card_design_of_partner_idx', 'gift_card_design', ['partner_id', 'ranking', 'id'])
    op.drop_constraint(op.f(DESIGNS_OF_NETWORKS), 'gift_card')


def downgrade() -> None:
    op.execute('UPDATE gift_card SET design_id = NULL WHERE partner_id IS NOT NULL AND design_id IS NOT NULL')
    op.create_check_constraint(
        op.f(DESIGNS_OF_NETWORKS), 'gift_card', 'design_id IS NULL OR network_id IS NOT NULL'
    )
    op.execute('DELETE FROM gift_card_design WHERE partner_id IS NOT NULL')
    op.drop_index('gift_card_design_of_partner_idx', 'gift_card_design')
    op.drop_column('gift_card_design', 'occasion')
    op.drop_column('gift_card_design', 'partner_id')
