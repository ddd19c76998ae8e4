"""§9: what is checked of an answer, in which order, with which words; and who gets the receipt."""

from __future__ import annotations

from typing import Any

import pytest

from sayso.domain.submission import MAX_ANSWER_BYTES
from support.human_input import APPROVE, MAIL, NOTE, REASON, REJECT, WEB, Forms, Json, error, node

FILE = {"type": "file", "output_variable_name": "proof"}
FILES = {"type": "file-list", "output_variable_name": "proofs", "number_limits": 2}
CHECKED = {
    "type": "multi-select",
    "output_variable_name": "checked",
    "option_source": {"type": "constant", "value": ["a", "b"]},
    "min_choices": 1,
    "required": True,
}
FEE = {"type": "number", "output_variable_name": "fee", "required": True}
REMOTE = {"type": "image", "transfer_method": "remote_url", "url": "https://x.example/a.png"}
LIMITED = FILE | {
    "allowed_file_types": ["image", "custom"],
    "allowed_file_extensions": [".PDF"],
    "allowed_file_upload_methods": ["remote_url"],
}


def remote(kind: str, name: str) -> Json:
    url = f"https://x.example/{name}"
    return {"type": kind, "transfer_method": "remote_url", "url": url}


def message(form: Json, inputs: Json, action: str = "approve") -> str | None:
    """Return the message of a refusal, None for an accepted answer."""
    answer = Forms({"form": form}).post(inputs, action)
    if answer.status == 200:
        return None
    assert answer.json["code"] == "invalid_form_data"
    text: str = answer.json["message"]
    return text


@pytest.mark.parametrize(
    ("form", "inputs", "expected"),
    [
        (node(REASON), {"reason": 5}, "Invalid value for select input 'reason': expected string"),
        (node(REASON), {"reason": "x"}, "Invalid value for select input 'reason': x"),
        (node(REASON), {"reason": ""}, "Invalid value for select input 'reason': "),
        (node(FILE), {"proof": "x"}, "Invalid value for file input 'proof': expected mapping"),
        (
            node(FILES),
            {"proofs": {}},
            "Invalid value for file list input 'proofs': expected list",
        ),
        (
            node(FILES),
            {"proofs": [1]},
            "Invalid value for file list input 'proofs': expected list of mappings",
        ),
        (
            node(FILES),
            {"proofs": [REMOTE] * 3},
            "Invalid value for file list input 'proofs': exceeds number limit",
        ),
        (
            node(FILE),
            {"proof": REMOTE | {"type": "tune"}},
            "Invalid value for file input 'proof': unsupported file type",
        ),
        (
            node(FILE),
            {"proof": REMOTE | {"transfer_method": "fax"}},
            "Invalid value for file input 'proof': unsupported transfer method",
        ),
        (
            node(FILE),
            {"proof": {"type": "image", "transfer_method": "local_file", "upload_file_id": "u"}},
            "Invalid value for file input 'proof': file not found",
        ),
        (
            node(LIMITED),
            {"proof": remote("video", "a.mov")},
            "Invalid value for file input 'proof': file is not allowed by config",
        ),
        (
            node(LIMITED),
            {"proof": REMOTE | {"transfer_method": "local_file", "upload_file_id": "u"}},
            "Invalid value for file input 'proof': file is not allowed by config",
        ),
        (node(NOTE, REASON), {}, "Missing required inputs: note, reason"),
        (node(NOTE), {"note": "x", "other": "y"}, "Unknown input: other"),
        (
            node(NOTE),
            {"note": "x" * 20_001},
            "Invalid value for paragraph input 'note': at most 20000 characters",
        ),
    ],
)
def test_s9_answer_that_does_not_fit_is_refused(form: Json, inputs: Json, expected: str) -> None:
    assert message(form, inputs) == expected


@pytest.mark.parametrize(
    ("form", "inputs"),
    [
        (node(NOTE), {"note": ""}),
        (node(FILES), {"proofs": []}),
        (node(FILES), {"proofs": [REMOTE, REMOTE]}),
        (node(FILE), {"proof": REMOTE}),
        (node(LIMITED), {"proof": remote("image", "a.heic")}),
        (node(LIMITED), {"proof": remote("document", "a.pdf")}),
    ],
)
def test_s9_presence_is_enough_and_limits_let_pass(form: Json, inputs: Json) -> None:
    assert message(form, inputs) is None


def test_s9_order_is_action_then_presence_then_fields() -> None:
    form = node(NOTE, REASON)

    assert message(form, {"reason": "x"}, "steal") == "Invalid action: steal"
    assert message(form, {"reason": "x"}) == "Missing required inputs: note"
    assert message(form, {"reason": "x", "note": ""}) == (
        "Invalid value for select input 'reason': x"
    )


def test_s9_the_whole_answer_is_bounded() -> None:
    fields = [NOTE | {"output_variable_name": f"n{number}"} for number in range(12)]
    inputs = {one["output_variable_name"]: "ä" * 20_000 for one in fields}

    assert message(node(*fields), inputs) == (
        f"The answer is too large: at most {MAX_ANSWER_BYTES} bytes"
    )


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ({"type": "text", "max_length": 3}, "abcd", "at most 3 characters"),
        ({"type": "text", "min_length": 3}, "ab", "at least 3 characters"),
        ({"type": "text"}, "a\nb", "expected one line"),
        ({"type": "text", "pattern": "[A-Z]{2}-\\d+"}, "AB-", "does not have the form asked for"),
        ({"type": "email"}, "nobody", "expected a mail address"),
        ({"type": "url"}, "javascript:alert(1)", "expected an http or https address"),
        ({"type": "number"}, "12", "expected number"),
        ({"type": "number"}, True, "expected number"),
        ({"type": "number", "minimum": 0, "maximum": 15}, -1, "at least 0"),
        ({"type": "number", "minimum": 0, "maximum": 15}, 15.5, "at most 15"),
        ({"type": "integer"}, 1.5, "expected a whole number"),
        ({"type": "boolean"}, "true", "expected boolean"),
        ({"type": "date"}, "2026-02-30", "expected a date such as 2026-12-31"),
        ({"type": "date", "earliest": "2026-02-01"}, "2026-01-31", "not before 2026-02-01"),
        ({"type": "date", "latest": "2026-02-01"}, "2026-02-02", "not after 2026-02-01"),
    ],
)
def test_s9_own_kinds_check_their_bounds(field: Json, value: Any, problem: str) -> None:
    form = node(field | {"output_variable_name": "x", "required": True})

    assert message(form, {"x": value}) == (
        f"Invalid value for {field['type']} input 'x': {problem}"
    )


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("a", "expected list of strings"),
        (["z"], "expected options of the field"),
        (["a", "a"], "an option comes twice"),
        (["a"], "at least 2 options"),
        (["a", "b", "c"], "at most 2 options"),
    ],
)
def test_s9_multi_select_checks_its_choices(value: Any, problem: str) -> None:
    field = {
        "type": "multi-select",
        "output_variable_name": "x",
        "option_source": {"type": "constant", "value": ["a", "b", "c"]},
        "min_choices": 2,
        "max_choices": 2,
    }

    assert message(node(field), {"x": value}) == (
        f"Invalid value for multi select input 'x': {problem}"
    )


def test_s9_7_an_action_says_which_fields_it_needs() -> None:
    note = NOTE | {"required": True}
    actions = [APPROVE, REJECT | {"required_inputs": []}]

    assert message(node(note, actions=actions), {}, "reject") is None
    assert message(node(note, actions=actions), {"note": " "}) == "Missing required inputs: note"


def test_s9_7_an_action_that_needs_no_fields_takes_the_empty_page() -> None:
    actions = [APPROVE, REJECT | {"required_inputs": []}]
    inputs = [NOTE | {"required": True}, REASON, FILES, CHECKED, FEE]
    forms = Forms({"form": node(*inputs, actions=actions)})

    page = forms.page(kind=MAIL, action="reject", note="", reason="", fee="")

    assert page.status == 303
    assert forms.result()["action"]["id"] == "reject"


def test_s9_7_required_of_a_question_of_the_model_is_honoured_on_the_page() -> None:
    forms = Forms()

    page = forms.page(action="approve", comment="x", reason="")

    assert page.status == 422
    assert "Choose an answer to “Reason”" in page.body
    assert ">\nx</textarea>" in page.body


# --- who decided


def test_s9_same_person_repeating_the_same_answer_gets_the_same_receipt() -> None:
    forms = Forms({"form": node(NOTE)})
    first = forms.page(kind=MAIL, action="approve", note="x")

    again = forms.page(kind=MAIL, action="approve", note="x")

    assert (first.status, again.status) == (303, 303)
    assert "Your decision is recorded" in forms.get("page", MAIL).body


def test_s9_a_program_repeating_its_answer_is_answered_200_again() -> None:
    forms = Forms({"form": node(NOTE)})

    assert forms.post({"note": "x"}).status == 200
    assert forms.post({"note": "x"}).status == 200
    assert forms.post({"note": "x"}, user="another").status == 412
    assert forms.post({"note": "y"}).status == 412


@pytest.mark.parametrize(("shown", "words"), [(True, "c…@example.org"), (False, "Somebody else")])
def test_s18_R_loser_is_told_who_and_when_if_the_policy_allows(*, shown: bool, words: str) -> None:
    forms = Forms({"form": node(NOTE), "policy": {"show_decider": shown}})
    forms.page(kind=MAIL, action="approve", note="first")

    late = forms.page(kind=WEB, action="reject", note="my words")

    assert late.status == 409
    assert words in late.body
    assert ("c…@example.org" in late.body) is shown
    assert "5 January 2026" in late.body
    assert "my words" in late.body


def test_s18_R_page_shows_no_credential() -> None:
    forms = Forms({"form": node(NOTE)})
    forms.page(kind=MAIL, action="approve", note="x")

    assert forms.token(MAIL) not in forms.get("page", MAIL).body


def test_error_names_code_message_and_status_only() -> None:
    answer = Forms({"form": node(NOTE)}).post({}, "approve")

    assert answer.json == error("invalid_form_data", "Missing required inputs: note", 400)
