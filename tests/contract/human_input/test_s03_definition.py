"""§2.1 and §3: what a form is, and which definitions are refused while they can be mended."""

from __future__ import annotations

from typing import Any

import pytest

from sayso.domain.form import FormKind
from sayso.domain.transitions import FormStatus
from support.human_input import (
    APPROVE,
    BACKSTAGE,
    EMAIL,
    NOTE,
    REASON,
    REJECT,
    Forms,
    Json,
    node,
)

FROM_VARIABLE = {
    "type": "select",
    "output_variable_name": "reason",
    "option_source": {"type": "variable", "selector": ["start", "reasons"], "value": ["static"]},
}
BAD_ID = (
    "'1st' is not a valid identifier. It must start with a letter or underscore, and contain only"
    " letters, numbers, or underscores."
)
EXAMPLE: Json = {
    "type": "human-input",
    "title": "Refund check",
    "form_content": "Refund **{{#calc.amount#}}** to {{#start.customer#}}?\n\n"
    "{{#$output.note#}}\n{{#$output.reason#}}\n{{#$output.proof#}}",
    "inputs": [
        NOTE | {"default": {"type": "variable", "selector": ["llm", "draft"], "value": ""}},
        REASON,
        {
            "type": "file-list",
            "output_variable_name": "proof",
            "number_limits": 3,
            "allowed_file_types": ["image", "custom"],
            "allowed_file_extensions": [".pdf"],
            "allowed_file_upload_methods": ["local_file", "remote_url"],
        },
    ],
    "user_actions": [APPROVE, REJECT],
}
"""The example of §3.6, but for whom it is brought to."""
VARIABLES = {"calc": {"amount": "3200"}, "start": {"customer": "Ann"}, "llm": {"draft": "A draft"}}


def refused(form: Json, **policy: Any) -> str:
    """Return the message with which a create request is refused."""
    forms = Forms()
    forms.policy = {"form": form, **policy}
    answer = forms.create()
    assert answer.status == 422, answer.body
    return " | ".join(entry["msg"] for entry in answer.json["detail"])


def test_s2_1_runtime_form_has_a_run_and_waits() -> None:
    form = Forms().form

    assert (form.kind, form.status) == (FormKind.RUNTIME, FormStatus.WAITING)
    assert form.run_id


def test_s2_1_I1_one_record_is_shared_by_all_recipients() -> None:
    forms = Forms({"form": node(NOTE)})

    assert forms.post({"note": "x"}).status == 200

    assert forms.get().status == 412
    assert forms.get("public").status == 412


def test_s2_1_I2_I3_submission_fields_stand_only_in_submitted_forms() -> None:
    forms = Forms({"form": node(NOTE)})
    assert forms.form.decision is None

    forms.manage("withdraw", {})

    assert forms.form.status is FormStatus.CANCELLED
    assert forms.form.decision is None


def test_s3_6_example_node_is_shown_as_the_contract_shows_it() -> None:
    shown = Forms({"form": EXAMPLE, "variables": VARIABLES}).get().json

    assert shown["form_content"] == (
        "Refund **3200** to Ann?\n\n{{#$output.note#}}\n{{#$output.reason#}}\n{{#$output.proof#}}"
    )
    assert shown["inputs"] == EXAMPLE["inputs"]
    assert shown["resolved_default_values"] == {"note": "A draft"}
    assert shown["user_actions"] == EXAMPLE["user_actions"]


@pytest.mark.parametrize(
    ("form", "message"),
    [
        (node(NOTE, NOTE), "duplicated output_variable_name 'note' in inputs"),
        (node(actions=[APPROVE, APPROVE]), "duplicated user action id 'approve'"),
        (node() | {"user_actions": []}, "at least 1 item"),
        (node(actions=[APPROVE | {"id": "x" * 21}]), "at most 20 characters"),
        (
            node(actions=[APPROVE | {"id": "1st"}]),
            BAD_ID,
        ),
        (node(actions=[APPROVE | {"id": "__timeout"}]), "'__timeout' is what a form without"),
        (node(actions=[APPROVE | {"title": "x" * 101}]), "at most 100 characters"),
        (node(actions=[APPROVE | {"button_style": "loud"}]), "'primary', 'default', 'accent'"),
        (
            node(NOTE | {"default": {"type": "variable", "selector": ["llm"], "value": ""}}),
            "the length of selector should be at least 2, selector=['llm']",
        ),
        (node(REASON | {"option_source": None}), "valid dictionary"),
        (
            node(REASON | {"option_source": {"type": "constant", "value": []}}),
            "input 'reason' cannot be answered: it has 0 options",
        ),
        (
            node(REASON | {"option_source": {"type": "constant", "value": ["a", "a"]}}),
            "its options are empty or not all different",
        ),
        (
            node({"type": "file", "output_variable_name": "f", "allowed_file_types": ["custom"]}),
            "allowed_file_extensions must not be empty for the file type 'custom'",
        ),
        (
            node(
                {
                    "type": "file",
                    "output_variable_name": "f",
                    "allowed_file_upload_methods": ["carrier_pigeon"],
                }
            ),
            "'local_file' or 'remote_url'",
        ),
        (
            node({"type": "file-list", "output_variable_name": "f", "number_limits": -1}),
            "greater than or equal to 0",
        ),
        (node(NOTE | {"output_variable_name": "a b"}), "'a b' is not a valid identifier"),
        (node({"type": "colour", "output_variable_name": "c"}), "does not match any"),
        (node() | {"inputs": [NOTE]}, "input 'note' has no placeholder {{#$output.note#}}"),
        (
            node(actions=[APPROVE | {"required_inputs": ["gone"]}]),
            "action 'approve' requires the input 'gone', which is none",
        ),
    ],
)
def test_s3_definition_that_cannot_be_answered_is_refused(form: Json, message: str) -> None:
    assert message in refused(form)


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ({"type": "text", "min_length": 5, "max_length": 4}, "at least 5 and at most 4"),
        ({"type": "text", "pattern": "(a"}, "pattern is not understood at character 3"),
        ({"type": "text", "pattern": "(?=a)b"}, "only plain groups are allowed"),
        ({"type": "text", "pattern": "a{5}", "max_length": 4}, "pattern matches no text"),
        ({"type": "email", "pattern": "a"}, "takes no pattern"),
        ({"type": "number", "minimum": 2, "maximum": 1}, "no number is within its bounds"),
        ({"type": "integer", "minimum": 1.2, "maximum": 1.8}, "no number is within its bounds"),
        ({"type": "number", "minimum": 0, "default": -1}, "the default of input 'x' does not fit"),
        ({"type": "date", "earliest": "2026-02-30"}, "a bound is no date"),
        ({"type": "date", "earliest": "2026-02-02", "latest": "2026-01-01"}, "no date is within"),
        ({"type": "boolean", "default": "maybe"}, "valid boolean"),
        (
            {
                "type": "multi-select",
                "option_source": {"type": "constant", "value": ["a"]},
                "min_choices": 2,
            },
            "wants more choices than there can be",
        ),
    ],
)
def test_s3_own_kinds_with_bounds_that_leave_nothing_are_refused(field: Json, message: str) -> None:
    assert message in refused(node(field | {"output_variable_name": "x"}))


def test_s3_2_and_3_5_old_spellings_are_read() -> None:
    old = {
        "form_content": "{{#$output.note#}}",
        "inputs": [NOTE | {"type": "text_input"}],
        "actions": [APPROVE],
        "resolved_default_values": {"note": "from an old row"},
        "node_title": "Old",
    }

    shown = Forms({"form": old}).get("console", kind=BACKSTAGE).json

    assert shown["inputs"][0]["type"] == "paragraph"
    assert shown["user_actions"] == [APPROVE]
    assert shown["default_values"] == {"note": "from an old row"}
    assert shown["node_title"] == "Old"


def test_s3_1_node_may_bring_its_own_timeout_and_methods() -> None:
    forms = Forms({"form": node(NOTE, timeout=2, timeout_unit="day")})

    assert (forms.form.deadline - forms.form.created_at).days == 2
    assert "given in human_input and in its form: timeout" in refused(
        node(NOTE, timeout=2), timeout=3
    )


def test_s3_4_substituted_text_is_not_expanded_again() -> None:
    variables = {"a": {"b": "{{#run.title#}} {{#$output.note#}}"}}
    content = "{{#a.b#}}\n\n{{#$output.note#}}"

    shown = Forms({"form": node(NOTE, form_content=content), "variables": variables}).get().json

    assert shown["form_content"].count("{{#$output.note#}}") == 1
    assert "Refund 17" not in shown["form_content"]


def test_s3_4_run_and_ask_are_variables() -> None:
    content = "{{#run.title#}}: {{#ask.question#}} {{#ask.markdown#}}"

    shown = Forms({"form": node(form_content=content)}).get().json

    assert shown["form_content"] == "Refund 17: Refund order 17? The amount is **3200**."


def test_s3_4_values_fill_placeholders_on_completion() -> None:
    proof = {"type": "file-list", "output_variable_name": "proof"}
    forms = Forms({"form": node(NOTE, REASON, proof)})
    files = [{"type": "image", "transfer_method": "remote_url", "url": "https://x.example/a.png"}]

    forms.post({"note": "fine", "reason": "late", "proof": files})

    assert forms.result()["rendered_content"] == "Refund?\n\nfine\n\nlate\n\n[1 files]"


def test_s3_5_options_from_a_variable_are_resolved_and_stay_of_type_variable() -> None:
    forms = Forms(
        {"form": node(FROM_VARIABLE), "variables": {"start": {"reasons": ["late", "lost"]}}}
    )

    source = forms.get().json["inputs"][0]["option_source"]

    assert source == {
        "type": "variable",
        "selector": ["start", "reasons"],
        "value": ["late", "lost"],
    }


def test_s3_5_missing_options_leave_the_static_ones_and_a_wrong_type_is_refused() -> None:
    forms = Forms({"form": node(FROM_VARIABLE)})

    assert forms.get().json["inputs"][0]["option_source"]["value"] == ["static"]
    assert "must be a list of texts" in refused(
        node(FROM_VARIABLE), variables={"start": {"reasons": "late"}}
    )


def test_s3_5_a_missing_default_makes_no_entry() -> None:
    default = {"type": "variable", "selector": ["llm", "draft"], "value": ""}
    forms = Forms({"form": node(NOTE | {"default": default})})

    assert forms.get().json["resolved_default_values"] == {}
    assert forms.whole.content.warnings == ("llm.draft",)


def test_s3_5_display_in_ui_follows_the_web_app() -> None:
    with_web = Forms({"form": node()})
    without = Forms({"form": node(), "delivery_methods": [EMAIL]})

    assert with_web.whole.content.display_in_ui
    assert not without.whole.content.display_in_ui


def test_s3_6_submitted_gives_values_action_and_content() -> None:
    forms = Forms({"form": node(NOTE)})

    forms.post({"note": "yes"}, "reject")

    assert forms.result() == {
        "status": "submitted",
        "action": {"id": "reject", "label": "Reject"},
        "values": {"note": "yes"},
        "message": None,
        "rendered_content": "Refund?\n\nyes",
    }


def test_s3_model_words_stand_only_where_the_author_put_them() -> None:
    """A form of the policy takes title, fields and buttons from its author (docs/decisions)."""
    forms = Forms({"form": node(NOTE, title="Refund check")})

    shown, page = forms.get().json, forms.get("page").body

    assert "Refund order 17?" not in shown["form_content"]
    assert "Refund order 17?" not in page
    assert "Refund check" in page
    assert [one["output_variable_name"] for one in shown["inputs"]] == ["note"]


def test_s3_variables_named_run_or_ask_are_refused() -> None:
    assert "these names are ours" in refused(node(), variables={"ask": {}})
