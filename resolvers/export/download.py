"""Reads the files of exports for those who may have them."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from resolvers.core.context import Context
from resolvers.core.scoping import find_visible
from resolvers.core.services import Services
from resolvers.document import read_document_token
from schema.core.errors import AppError, Forbidden, NotFound
from schema.export import ExportState
from store.export.exports import FOLDER, ExportRow
from store.export.files import CONTENT_TYPES


@dataclass(frozen=True, slots=True)
class ExportDownload:
    """The file of an export as it is served."""

    chunks: AsyncIterator[bytes]
    size: int
    media_type: str
    name: str


async def find_export_file(services: Services, token: str, format: str) -> ExportDownload:
    """The file that a signed address names, for the user to whom it was shown.

    Raises NotFound for an address that is forged or too old, for a file that has been deleted, and if the user may no
    longer have it: the rights are those of now.
    """
    id, user_id = read_document_token(services, FOLDER, token)
    try:
        context = Context(services, await services.authenticator.caller_of_user(user_id))
        export = await _find_allowed(context, id)
    except AppError as error:
        if error.status in (401, 403):
            raise NotFound(thing="document") from error
        raise
    file = await services.files.open(export.file_key) if export.format == format else None
    if file is None:
        raise NotFound(thing="document")
    name = f"{export.list}-{export.id}.{export.format}"
    return ExportDownload(file.chunks, file.size, CONTENT_TYPES[export.format], name)


async def _find_allowed(context: Context, id: int) -> ExportRow:
    services, caller = context.services, context.required_caller
    async with services.db.sessions() as db:
        export = await find_visible(db, caller, ExportRow, "document", id=id)
    if export.state is not ExportState.COMPLETED or export.expires_on is None:
        raise NotFound(thing="document")
    if export.expires_on <= services.clock.now() or (access := services.lists.access(export.list)) is None:
        raise NotFound(thing="document")
    context.require(access)
    for each in export.columns if export.include_codes else ():
        column = services.lists.column(export.list, each["path"])
        if column is not None and column.code_permission is not None and not caller.may(column.code_permission):
            raise Forbidden(permission=f"permissions.{column.code_permission}")
    return export
