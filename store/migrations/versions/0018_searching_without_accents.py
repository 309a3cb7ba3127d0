"""Texts are searched without regard to accents: "zoe" finds Zoë, "strasse" Straße."""

from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

PLAIN = r"""
    CREATE FUNCTION search_text(given text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
        SELECT lower(replace(replace(replace(replace(replace(replace(replace(replace(
            translate(
                normalize(regexp_replace(normalize(given, NFD), '[\u0300-\u036f]', '', 'g'), NFC),
                'ØøŁłĐđÐðĦħŦŧı', 'OoLlDdDdHhTti'
            ),
            'ß', 'ss'), 'ẞ', 'ss'), 'æ', 'ae'), 'Æ', 'ae'), 'œ', 'oe'), 'Œ', 'oe'), 'þ', 'th'), 'Þ', 'th'))
    $$
"""
NAMES = " || chr(10) || ".join(
    f"coalesce(prototype_name ->> '{language}', '')" for language in ("en", "fr", "es", "it", "de", "nl", "ca", "pt")
)
TEXTS = {
    "voucher": {
        "name_text": NAMES,
        "gifter_text": "gifter_first_name || ' ' || gifter_last_name || chr(10) || gifter_email",
        "giftee_text": "coalesce(giftee_first_name, '') || ' ' || coalesce(giftee_last_name, '') || chr(10) || coalesce(giftee_email, '')",
        "origin_text": "origin",
    },
    "gift_card": {
        "gifter_text": "gifter_first_name || ' ' || gifter_last_name || chr(10) || gifter_email",
        "giftee_text": "coalesce(giftee_first_name, '') || ' ' || coalesce(giftee_last_name, '') || chr(10) || coalesce(giftee_email, '')",
    },
}
LETTERS = {"name_text": "n", "gifter_text": "g", "giftee_text": "r", "origin_text": "o"}


def upgrade() -> None:
    op.execute(PLAIN)
    _keep("search_text")


def downgrade() -> None:
    _keep("lower")
    op.execute("DROP FUNCTION search_text(text)")


def _keep(made_by: str) -> None:
    """Make the columns anew, in one walk through each table, and then their index."""
    for table, texts in TEXTS.items():
        op.execute(f"DROP INDEX {table}_search_idx")
        gone = [f"DROP COLUMN {name}" for name in texts]
        made = [
            f"ADD COLUMN {name} text NOT NULL GENERATED ALWAYS AS ({made_by}({sql})) STORED"
            for name, sql in texts.items()
        ]
        op.execute(f"ALTER TABLE {table} {', '.join(gone + made)}")
        grams = " || ".join(f"search_grams('{LETTERS[name]}', {name})" for name in texts)
        op.execute(f"CREATE INDEX {table}_search_idx ON {table} USING gin (({grams}))")
