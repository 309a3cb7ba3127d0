"""Loads the relations of a compiled selection, once per level for all keys that select them."""

import itertools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from schema.core.field_source import Relation
from store.database.projection_fields import FieldPath, LoadFunction, RelatedRows, RelationField, raise_missing

Picker: TypeAlias = Callable[[Any], Any]


class RelationBatch:
    """A relation that is loaded once per level for all keys that select it."""

    def __init__(self, links: Sequence[RelationField]) -> None:
        self.relations = links
        self.relation, self.owner = links[0].relation, links[0].owner
        fields = [
            link.projection.rows.columns for link in links if link.projection.rows is not None and _uses_rows(link)
        ]
        self.columns = list(dict.fromkeys(itertools.chain(*fields))) if fields else None
        """The columns to select; None for whole objects and for computed values."""
        self._pickers = [self._picker(link) for link in links]

    @property
    def related_rows(self) -> RelatedRows | None:
        """The rows that the statement of their owners can read too.

        None for what is not made of rows, for relations with a permission, which is checked first, and for those scoped
        by a second column.
        """
        relation = self.relation
        if not isinstance(relation, Relation) or self.columns is None or relation.field_permission is not None:
            return None
        if relation.scope_column is not None:
            return None
        links = (link.projection.rows for link in self.relations)
        related = dict.fromkeys(each for rows in links if rows is not None for each in rows.related)
        return RelatedRows(relation, "id" if relation.many else relation.by, tuple(self.columns), tuple(related))

    async def load_into(self, keys: list[Any], out: list[Any], load: LoadFunction) -> None:
        """Load the values of the keys, and write them into the objects that hold them."""
        related = await load(self.relation, keys, self.columns)
        for link, pick in zip(self.relations, self._pickers, strict=True):
            written = await self._serialize(link, pick, related, load)
            _assign(link, keys, written, targets_at(out, link.at))

    async def _serialize(
        self, link: RelationField, pick: Picker | None, selections: Mapping[Any, Any], load: LoadFunction
    ) -> Mapping[Any, Any]:
        """The serialized selection of a link, by key."""
        rows = itertools.chain.from_iterable(selections.values()) if self.relation.many else selections.values()
        picked = list(rows if pick is None else map(pick, rows))
        done = iter(await link.projection.render(picked, load, self.columns is not None))
        if self.relation.many:
            return {key: list(itertools.islice(done, len(related))) for key, related in selections.items()}
        return dict(zip(selections, done, strict=True))

    def _picker(self, link: RelationField) -> Picker | None:
        """What reduces a row to the columns of one link; None if it has no others."""
        if self.columns is None or link.projection.rows is None or link.projection.rows.columns == self.columns:
            return None
        return operator.itemgetter(0, 1, *(self.columns.index(name) + 2 for name in link.projection.rows.columns))


def _assign(link: RelationField, keys: list[Any], written: Mapping[Any, Any], targets: list[Any]) -> None:
    absent: Any = [] if link.relation.many and isinstance(link.relation, Relation) else None
    for target, key in zip(targets, keys, strict=True):
        if target is None:
            continue
        value = written.get(key, absent)
        if link.merge_keys:
            target.update(value or {})
        elif value is None and link.required:
            raise_missing(link.key)
        else:
            target[link.key] = value


def relation_batches(links: Sequence[RelationField]) -> list[RelationBatch]:
    """One batch for all links that follow the same relation from the same place, and read either rows or objects."""
    together: dict[Any, list[RelationField]] = {}
    for link in links:
        together.setdefault((link.relation, link.owner, _uses_rows(link)), []).append(link)
    return [RelationBatch(same) for same in together.values()]


def _uses_rows(link: RelationField) -> bool:
    """True if the link is rendered from rows. Fields that only objects have, and computed values, are not."""
    return isinstance(link.relation, Relation) and link.projection.rows is not None


def targets_at(out: list[Any], steps: FieldPath) -> list[Any]:
    """The value at a path of keys in each serialized object."""
    for key in steps:
        out = [None if o is None else o[key] for o in out]
    return out
