"""Choosing what a field refers to: with pictures, by a search, by uploading."""

from typing import Any

from store.media.media import MediaRow
from tests.admin.office import ROOT, Office, change_form, errors, notices, send, typed
from tests.fixtures.media import drawn
from tests.funnel.checkout.customer import Customer
from tests.funnel.checkout.page import Element

MANY = 250


async def pictures(office: Office, count: int, partner: str = "a1") -> list[MediaRow]:
    """Pictures of a partner, named by their numbers."""
    about: dict[str, Any] = {"content_type": "image/webp", "size": 10, "width": 4, "height": 3, "digest": "0" * 64}
    own = office.tenants.partners[partner].id
    rows = [MediaRow(partner_id=own, name=f"Picture {number:03}", **about) for number in range(count)]
    await office.tenants.add(*rows)
    return rows


def product_form(office: Office) -> str:
    """The form of the product of the first shop."""
    return f"{ROOT}products/{office.tenants.owned['a1'].product}/update-product/"


def picker(staff: Customer, name: str) -> Element:
    """The choices of a field."""
    return staff.page.one("fieldset", id=f"f-{name}")


def names_in(chosen: Element) -> list[str]:
    """The names of all choices."""
    return [choice.text for choice in chosen.all("label", class_="choice")]


def marked_in(chosen: Element) -> list[str]:
    """The names of what is chosen."""
    labels = chosen.all("label", class_="choice")
    return [label.text for label in labels if "checked" in label.one("input").attributes]


async def press(staff: Customer, button: str, value: str, **changes: str) -> Customer:
    """Press a button of the form that does not send it."""
    return await send(staff, **{button: value}, **changes)


async def upload(staff: Customer, name: str, content: bytes, **changes: str) -> Customer:
    """Send the form with a new picture for a field."""
    form = change_form(staff)
    fields = {key: value for key, value in typed(staff).items() if not key.startswith("_upload.")} | changes
    parts: dict[str, Any] = {key: (None, value) for key, value in fields.items()}
    files = {**parts, f"_upload.{name}": ("The lake.png", content, "image/png")}
    answer = await staff.http.post(str(staff.response.url.join(form.attributes["action"])), files=files)
    return await staff._follow(answer)


async def test_pictures_are_chosen_by_what_they_show(office: Office) -> None:
    rows = await pictures(office, 3)
    await pictures(office, 1, "a2")
    await office.tenants.execute("UPDATE media SET archived_on = now() WHERE id = :id", id=rows[2].id)
    staff = await office.open("a1", product_form(office))
    chosen = picker(staff, "pictureUrl")
    assert sorted(names_in(chosen)) == ["None", "Picture 000", "Picture 001"], (
        "neither archived ones nor those of others"
    )
    assert marked_in(chosen) == ["None"]
    assert {image.attributes["src"] for image in chosen.all("img")} == {
        f"/media/{row.uuid}/thumb.webp" for row in rows[:2]
    }
    assert not chosen.all("input", type="search")
    path = f"/media/{rows[1].uuid}/card.webp"
    await send(staff, pictureUrl=path)
    assert notices(staff) == ["Done: Edit"]
    product = office.tenants.owned["a1"].product
    assert (await office.tenants.row("product", product))["picture_url"] == path
    await office.open("a1", product_form(office))
    assert marked_in(picker(staff, "pictureUrl")) == ["Picture 001"]
    assert names_in(picker(staff, "pictureUrl"))[:2] == ["None", "Picture 001"], "what is chosen comes first"
    await send(staff, pictureUrl="")
    assert (await office.tenants.row("product", product))["picture_url"] == ""


async def test_among_many_pictures_there_is_a_search(office: Office) -> None:
    rows = await pictures(office, MANY)
    staff = await office.open("a1", product_form(office))
    before = await office.tenants.snapshot()
    chosen = picker(staff, "pictureUrl")
    assert len(names_in(chosen)) == 25
    assert "There are more: search for them by name." in chosen.text
    wanted = {"name__fr": "Bougie neuve", "price": "not a price"}
    await press(staff, "_find", "pictureUrl", **{"_search.pictureUrl": "picture 17"}, **wanted)
    assert staff.response.status_code == 200
    assert sorted(names_in(picker(staff, "pictureUrl"))[1:]) == [f"Picture 17{digit}" for digit in range(10)]
    assert typed(staff).items() >= {"name.fr": "Bougie neuve", "price": "not a price"}.items(), "what was typed stays"
    path = f"/media/{rows[171].uuid}/card.webp"
    await press(staff, "_find", "pictureUrl", pictureUrl=path, **{"_search.pictureUrl": "nothing of this name"})
    assert marked_in(picker(staff, "pictureUrl")) == ["The present picture"], "what is chosen stays in sight"
    assert await office.tenants.snapshot() == before, "to search changes nothing"
    await press(staff, "_do", "1", price="11")
    assert notices(staff) == ["Done: Edit"]
    changed = await office.tenants.row("product", office.tenants.owned["a1"].product)
    assert (changed["picture_url"], changed["name"]["fr"]) == (path, "Bougie neuve")


async def test_enter_in_a_search_searches(office: Office) -> None:
    await pictures(office, MANY)
    staff = await office.open("a1", product_form(office))
    before = await office.tenants.snapshot()
    await send(staff, **{"_search.pictureUrl": "203"}, price="12")
    assert (staff.response.status_code, staff.h1.partition(":")[0]) == (200, "Edit")
    assert names_in(picker(staff, "pictureUrl")) == ["None", "Picture 203"]
    assert await office.tenants.snapshot() == before
    await send(staff)
    assert notices(staff) == ["Done: Edit"]


async def test_a_new_picture_is_uploaded_beside_the_choice(office: Office) -> None:
    staff = await office.open("a1", product_form(office))
    await upload(staff, "pictureUrl", b"no picture", price="13")
    assert (staff.response.status_code, list(errors(staff))) == (400, ["f-pictureUrl"])
    assert await office.tenants.one("SELECT count(*) FROM media") == 0
    await upload(staff, "pictureUrl", drawn(), price="13", _find="pictureUrl")
    media = await office.tenants.newest("media")
    assert (media["name"], media["partner_id"]) == ("The lake", office.tenants.partners["a1"].id)
    assert (staff.response.status_code, marked_in(picker(staff, "pictureUrl"))) == (200, ["The lake"])
    assert (typed(staff)["price"], (await product_of(office))["picture_url"]) == ("13", ""), "nothing else is saved"
    await upload(staff, "pictureUrl", drawn(), price="no price")
    assert (staff.response.status_code, list(errors(staff))) == (400, ["price"])
    assert await office.tenants.one("SELECT count(*) FROM media") == 2
    await send(staff, price="14")
    newest = await office.tenants.newest("media")
    assert notices(staff) == ["Done: Edit"]
    assert (await product_of(office))["picture_url"] == f"/media/{newest['uuid']}/card.webp"


async def product_of(office: Office) -> dict[str, Any]:
    """The product of the first shop."""
    return await office.tenants.row("product", office.tenants.owned["a1"].product)


async def test_a_form_with_a_picture_that_is_sent_twice_makes_one(office: Office) -> None:
    staff = await office.open("a1", product_form(office))
    page, response = staff.page, staff.response
    for _ in range(2):
        staff.page, staff.response = page, response
        await upload(staff, "pictureUrl", drawn(), price="15")
        assert notices(staff) == ["Done: Edit"]
    assert await office.tenants.one("SELECT count(*) FROM media") == 1


async def test_a_file_for_a_field_that_takes_none_is_not_stored(office: Office) -> None:
    staff = await office.open("a1", product_form(office))
    for name in ("price", "name.en", "nothing", "id", ""):
        await office.open("a1", product_form(office))
        await upload(staff, name, drawn())
        assert staff.response.status_code == 200, name
    assert await office.tenants.one("SELECT count(*) FROM media") == 0


async def test_who_has_no_single_partner_uploads_for_that_of_the_object(office: Office) -> None:
    staff = await office.open("market a", product_form(office))
    await upload(staff, "pictureUrl", drawn())
    assert (await office.tenants.newest("media"))["partner_id"] == office.tenants.partners["a1"].id
    await office.open("market a", f"{ROOT}products/new/create-product/")
    assert not staff.page.all("input", name="_upload.pictureUrl"), "of which partner it would be is not known"
