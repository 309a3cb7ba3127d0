"""Forms that nobody has changed change nothing, and no form hides what it needs."""

import orjson
import pytest

from admin.forms.kinds import fields_of as input_fields
from admin.forms.typed import Typed
from admin.graph.schema_types import input_of
from admin.resources.registry import resources
from admin.resources.resource import Resource
from tests.admin.office import ROOT, Office, change_form, typed

in_shared_loop = pytest.mark.asyncio(loop_scope="session")
EVERY_RESOURCE = pytest.mark.parametrize("resource", resources().values(), ids=lambda each: each.slug)


@in_shared_loop
@EVERY_RESOURCE
async def test_an_unchanged_form_of_an_update_sends_nothing(demo: Office, resource: Resource) -> None:
    for who in ("a", "market a", "master"):
        for key in (await demo.keys(who, resource, 3)) or ():
            for action in resource.actions:
                staff = await demo.open(who, f"{ROOT}{resource.slug}/{key}/{action.slug}/")
                if not action.is_update or staff.response.status_code == 403:
                    continue
                form = typed(staff)
                kind = input_of(action.mutation)
                shown = {name.partition(".")[0] for name in form} | {
                    name.partition(".")[0]
                    for element in change_form(staff)
                    if (name := element.attributes.get("name", ""))
                }
                hidden = {each.name: None for each in input_fields(kind) if each.name not in shown}
                read = Typed(form, "Europe/Paris", orjson.loads(form["_before"]))
                assert read.read(kind, hidden).keys() == hidden.keys(), f"{action.mutation} of {resource.slug} {key}"
                assert read.problems == []


@in_shared_loop
@EVERY_RESOURCE
async def test_no_form_hides_what_it_needs(demo: Office, resource: Resource) -> None:
    for who in ("a", "market a", "master"):
        for action in resource.new:
            path = f"{ROOT}{resource.slug}/new/{action.slug}/"
            staff = await demo.open(who, path)
            if staff.response.status_code == 403:
                continue
            shown = {element.attributes.get("name", "").partition(".")[0] for element in change_form(staff)}
            needed = {each.name for each in input_fields(input_of(action.mutation)) if each.is_required} - shown
            assert needed <= {"partnerUuid"}, path
            if needed:
                await staff.post(path, typed(staff))
                assert "Fill this in." not in [told.text for told in staff.page.all("p", class_="notice")]
