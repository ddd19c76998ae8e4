"""§8 and §18 on the page: files travel with the form itself, and are not lost by a mistake."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from support.human_input import MAIL, NOTE, Forms, node
from support.uploads import PDF, PHOTOS, PNG, PROOF, Sent, post_multipart

if TYPE_CHECKING:
    from support.functions import Answer
    from support.human_input import Json

APPROVE = Sent("action", b"approve")
ALONE = Sent("proof", b"", "")
"""What a browser sends for a control that was left alone."""


def asked(*inputs: Json) -> Forms:
    return Forms({"form": node(*inputs)})


def answer(forms: Forms, *parts: Sent) -> Answer:
    """Send the page's form as a browser does."""
    return post_multipart(forms.functions, f"/form/{forms.token(MAIL)}", [APPROVE, *parts])


def kept_ids(page: Answer) -> list[str]:
    return re.findall(r'type="checkbox" id="\S+" name="\w+" value="(\S+)" checked', page.body)


def test_a_form_that_asks_for_files_is_sent_as_multipart() -> None:
    page = asked(PHOTOS).get("page", MAIL)

    assert '<form method="post" novalidate enctype="multipart/form-data">' in page.body
    assert re.search(r'name="photos" type="file" multiple accept="[^"]*\.png', page.body)
    assert "up to 4 MB" in page.body


def test_a_form_without_files_is_sent_as_before() -> None:
    assert "multipart" not in asked(NOTE).get("page", MAIL).body


def test_a_file_of_the_page_is_stored_named_on_the_receipt_and_told_to_the_model() -> None:
    forms = asked(PROOF)

    sent = answer(forms, Sent("proof", PDF, "Scan.pdf"))

    assert sent.status == 303
    assert "Scan.pdf" in forms.get("page", MAIL).body
    value = forms.result()["values"]["proof"]
    assert (value["name"], value["type"], value["size"]) == ("Scan.pdf", "document", len(PDF))


def test_several_files_of_one_control_make_a_list() -> None:
    forms = asked(PHOTOS)

    sent = answer(forms, Sent("photos", PNG, "a.png"), Sent("photos", PNG, "b.png"))

    assert sent.status == 303
    assert [one["name"] for one in forms.result()["values"]["photos"]] == ["a.png", "b.png"]


def test_a_control_that_was_left_alone_sends_no_file() -> None:
    forms = asked({**PROOF, "required": False})

    assert answer(forms, ALONE).status == 303
    assert forms.result()["values"] == {}


def test_a_file_that_is_needed_has_to_be_there() -> None:
    page = answer(asked(PROOF), ALONE)

    assert page.status == 422
    assert "Add a file to" in page.body


def test_a_stored_file_outlives_a_mistake_in_another_field() -> None:
    number = {"type": "number", "output_variable_name": "cost", "label": "Cost", "required": True}
    forms = asked(PROOF, number)

    page = answer(forms, Sent("proof", PNG, "a.png"), Sent("cost", b"much"))
    (kept,) = kept_ids(page)
    sent = answer(forms, ALONE, Sent("proof", kept.encode()), Sent("cost", b"12"))

    assert page.status == 422
    assert "a.png" in page.body
    assert sent.status == 303
    assert forms.result()["values"]["proof"]["name"] == "a.png"


def test_a_new_file_takes_the_place_of_the_kept_one() -> None:
    forms = asked(PROOF, {**NOTE, "type": "number", "required": True})
    (kept,) = kept_ids(answer(forms, Sent("proof", PNG, "a.png"), Sent("note", b"x")))

    sent = answer(
        forms,
        Sent("proof", kept.encode()),
        Sent("proof", PDF, "b.pdf"),
        Sent("note", b"1"),
    )

    assert sent.status == 303
    assert forms.result()["values"]["proof"]["name"] == "b.pdf"


@pytest.mark.parametrize(
    ("file", "words"),
    [
        (Sent("photos", b"", "a.png"), "this one is empty"),
        (Sent("photos", PDF, "a.png"), "is not what its name says"),
        (Sent("photos", PNG, "a.exe"), "programs are not taken"),
        (Sent("photos", PNG + bytes(4 * 2**20), "a.png"), "Choose a smaller file"),
        (Sent("photos", PDF, "a.pdf"), "Choose another file"),
    ],
)
def test_a_file_that_is_not_taken_is_explained_and_the_others_are_kept(
    file: Sent, words: str
) -> None:
    forms = asked(PHOTOS)

    page = answer(forms, Sent("photos", PNG, "good.png"), file)

    assert page.status == 422
    assert words in page.body
    assert "good.png" in page.body
    assert forms.form.status == "waiting"


def test_more_files_than_the_limit_are_explained() -> None:
    forms = asked(PHOTOS)

    page = answer(forms, *(Sent("photos", PNG, f"{n}.png") for n in range(3)))

    assert page.status == 422
    assert "Choose fewer files" in page.body
    assert len(kept_ids(page)) == 3


def test_a_file_for_a_field_of_text_is_refused() -> None:
    forms = asked(NOTE)

    page = answer(forms, Sent("note", PNG, "a.png"))

    assert page.status == 422
    assert not forms.whole.uploads


def test_sending_the_same_answer_again_shows_the_same_receipt() -> None:
    forms = asked(PROOF)
    first = answer(forms, Sent("proof", PNG, "a.png"))

    again = answer(forms, Sent("proof", PNG, "a.png"))

    assert (first.status, again.status) == (303, 303)


def test_a_file_that_comes_too_late_is_not_stored() -> None:
    forms = asked({**PROOF, "required": False})
    answer(forms)

    late = answer(forms, Sent("proof", PNG, "a.png"))

    assert late.status == 409
    assert not forms.whole.uploads
    assert not [key for key in forms.functions.wiring.objects.objects if "uploads/" in key]


@pytest.mark.parametrize("typed", [b"x" * 300_000, b"\xff"])
def test_texts_beside_files_have_the_bounds_that_they_have_without(typed: bytes) -> None:
    page = answer(asked(PROOF, NOTE), Sent("note", typed), Sent("proof", PNG, "a.png"))

    assert page.status == 400


def test_names_are_shown_and_never_run() -> None:
    forms = asked(PROOF)

    answer(forms, Sent("proof", PNG, "<b onclick=x>%22\u202egnp.png"))

    body = forms.get("page", MAIL).body
    assert "<b onclick" not in body
    assert "\u202e" not in body
