"""Partners decide which gift cards they sell."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = '0016'
down_revision = '0015'
branch_labels = None
depends_on = None

AMOUNT = sa.Numeric(12, 2)
COLUMNS = {
    'enabled': (sa.Boolean(), 'true'),
    'suggested': (postgresql.ARRAY(AMOUNT), "'{25,50,75,100,150,200}'"),
    'minimum': (AMOUNT, '10'),
    'maximum': (AMOUNT, '1000'),
    'validity_months': (sa.Integer(), '12'),
}
"""What every shop sold until now."""
CHECKS = {
    'bounds': 'gift_card_offer_minimum > 0 AND gift_card_offer_minimum <= gift_card_offer_maximum',
    'suggested': 'gift_card_offer_minimum <= ALL (gift_card_offer_suggested) AND gift_card_offer_maximum >= ALL (gift_card_offer_suggested)',
    'validity': 'gift_card_offer_validity_months BETWEEN 1 AND 120',
}


def upgrade() -> None:
    for name, (kind, given) in COLUMNS.items():
        column = f'gift_card_offer_{name}'
        op.add_column('partner', sa.Column(column, kind, nullable=False, server_default=sa.text(given)))
        op.alter_column('partner', column, server_default=None)
    for name, condition in CHECKS.items():
        op.create_check_constraint(op.f(f'partner_gift_card_offer_{name}'), 'partner', condition)


def downgrade() -> None:
    for name in CHECKS:
        op.drop_constraint(op.f(f'partner_gift_card_offer_{name}'), 'partner', type_='check')
    for name in COLUMNS:
        op.drop_column('partner', f'gift_card_offer_{name}')
