"""Slugs of voucher prototypes, for the addresses of their pages. Each gets one from its name."""

import re
import unicodedata

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = '0058'
down_revision = '0057'
branch_labels = None
depends_on = None

LANGUAGES = ('en', 'fr', 'es', 'it', 'de', 'nl', 'ca', 'pt')
LETTERS = str.maketrans({'æ': 'ae', 'œ': 'oe', 'ø': 'o', 'ł': 'l', 'đ': 'd', 'ð': 'd', 'þ': 'th', 'ı': 'i'})
LONGEST = 80


def _slug_of(name: dict[str, str]) -> str:
    said = next((text for language in LANGUAGES if (text := name.get(language))), '')
    spaced = said.casefold().translate(LETTERS).replace('’', '-')
    plain = unicodedata.normalize('NFKD', spaced).encode('ascii', 'ignore').decode()
    slug = re.sub('[^a-z0-9]+', '-', plain).strip('-')
    return slug[:LONGEST].strip('-') or 'experience'


def upgrade() -> None:
    op.add_column('voucher_prototype', sa.Column('slug', sa.String(LONGEST), nullable=True))
    op.add_column(
        'voucher_prototype',
        sa.Column('former_slugs', sa.ARRAY(sa.VARCHAR(LONGEST)), nullable=False, server_default='{}'),
    )
    op.alter_column('voucher_prototype', 'former_slugs', server_default=None)
    _fill(op.get_bind())
    op.alter_column('voucher_prototype', 'slug', nullable=False)
    op.create_unique_constraint('voucher_prototype_slug_key', 'voucher_prototype', ['partner_id', 'slug'])


def _fill(connection: sa.Connection) -> None:
    """Give each prototype the slug of its name, the oldest first; the others of the same name get a number."""
    table = sa.table('voucher_prototype', sa.column('id'), sa.column('partner_id'), sa.column('name', JSONB))
    rows = connection.execute(sa.select(*table.columns).order_by(table.columns.id)).all()
    taken: set[tuple[int, str]] = set()
    slugs: list[dict[str, object]] = []
    for id, partner_id, name in rows:
        wanted = free = _slug_of(name)
        number = 1
        while (partner_id, free) in taken or free == 'shop':
            number += 1
            free = f'{wanted[: LONGEST - 11].rstrip("-")}-{number}'
        taken.add((partner_id, free))
        slugs.append({'id': id, 'slug': free})
    if slugs:
        connection.execute(sa.text('UPDATE voucher_prototype SET slug = :slug WHERE id = :id'), slugs)


def downgrade() -> None:
    op.drop_constraint('voucher_prototype_slug_key', 'voucher_prototype')
    op.drop_column('voucher_prototype', 'former_slugs')
    op.drop_column('voucher_prototype', 'slug')
