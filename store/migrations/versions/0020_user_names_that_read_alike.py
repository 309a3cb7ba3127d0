"""No two user names read alike: of those that did already, the oldest user's counts."""

import sqlalchemy as sa
from alembic import op

from store.account.confusables import skeleton_digest

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("app_user", sa.Column("username_skeleton", sa.LargeBinary(), nullable=True))
    connection = op.get_bind()
    first: dict[bytes, int] = {}
    for id, username in connection.execute(sa.text("SELECT id, username FROM app_user ORDER BY id")):
        first.setdefault(skeleton_digest(username), id)
    if first:
        connection.execute(
            sa.text("UPDATE app_user SET username_skeleton = :skeleton WHERE id = :id"),
            [{"skeleton": skeleton, "id": id} for skeleton, id in first.items()],
        )
    op.create_unique_constraint(op.f("app_user_username_skeleton_key"), "app_user", ["username_skeleton"])


def downgrade() -> None:
    op.drop_constraint(op.f("app_user_username_skeleton_key"), "app_user", type_="unique")
    op.drop_column("app_user", "username_skeleton")
