"""Themes of shops and networks, and what the start page of a shop shows."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = '0065'
down_revision = '0064'
branch_labels = None
depends_on = None

THEME = (('heading_font', 20, 'fraunces'), ('corner_radius', 20, 'medium'), ('page_tint', 7, ''))


def upgrade() -> None:
    for table in ('partner', 'marketplace'):
        for name, length, default in THEME:
            op.add_column(table, sa.Column(name, sa.String(length), server_default=default, nullable=False))
    op.add_column('partner', sa.Column('hero_picture_url', sa.String(300), server_default='', nullable=False))
    op.add_column('partner', sa.Column('headline', postgresql.JSONB(), server_default='{}', nullable=False))


def downgrade() -> None:
    op.drop_column('partner', 'headline')
    op.drop_column('partner', 'hero_picture_url')
    for table in ('marketplace', 'partner'):
        for name, *_ in reversed(THEME):
            op.drop_column(table, name)
