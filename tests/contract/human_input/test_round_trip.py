"""Any definition that is accepted can be answered through its page and through its JSON route.

What comes out is what went in. The page is read as a browser without JavaScript reads it: the
controls that its HTML holds, and nothing else, are filled in and sent.
"""

from __future__ import annotations

from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.human_input import MAIL, Forms, Json, node, path

if TYPE_CHECKING:
    from sayso.domain.form import Form

TEXT = st.text(
    st.characters(codec="utf-8", exclude_characters="\r\x00", exclude_categories=["Cs", "Cc"]),
    min_size=1,
    max_size=30,
).filter(lambda text: text.strip() != "")
DAYS = st.dates().map(str)
OPTIONS = st.lists(TEXT, min_size=1, max_size=5, unique=True)
PATTERNS = [("[A-Z]{2}-\\d{1,4}", "AB-17"), ("(yes|no)+", "yesno"), (".*x", "ax"), ("\\w+", "a_1")]


@st.composite
def texts(draw: st.DrawFn) -> tuple[Json, Any]:
    kind = draw(st.sampled_from(["paragraph", "text"]))
    if draw(st.booleans()):
        pattern, value = draw(st.sampled_from(PATTERNS))
        return {"type": kind, "pattern": pattern}, value
    value = draw(TEXT)
    if len(value.splitlines()) > 1 and kind == "text":
        kind = "paragraph"
    bounds = {"min_length": draw(st.integers(0, len(value))), "max_length": len(value)}
    return {"type": kind, **bounds, "placeholder": draw(st.none() | TEXT)}, value


@st.composite
def numbers(draw: st.DrawFn) -> tuple[Json, Any]:
    if draw(st.booleans()):
        value: int | float = draw(st.integers(-(10**12), 10**12))
        return {"type": "integer", "minimum": value - draw(st.integers(0, 5))}, value
    value = draw(st.integers(-(10**9), 10**9)) / 8
    return {"type": "number", "maximum": value + draw(st.integers(0, 5))}, value


@st.composite
def choices(draw: st.DrawFn) -> tuple[Json, Any]:
    options = draw(OPTIONS)
    source = {"type": "constant", "value": options}
    if draw(st.booleans()):
        return {"type": "select", "option_source": source}, draw(st.sampled_from(options))
    chosen = draw(st.lists(st.sampled_from(options), min_size=1, unique=True))
    chosen.sort(key=options.index)
    bounds = {"min_choices": draw(st.integers(0, len(chosen))), "max_choices": len(chosen)}
    return {"type": "multi-select", "option_source": source, **bounds}, chosen


OTHERS = st.one_of(
    st.tuples(st.just({"type": "boolean"}), st.booleans()),
    st.tuples(st.just({"type": "date"}), DAYS),
    st.tuples(st.just({"type": "email"}), st.sampled_from(["a@b.example", "x.y+z@mail.example"])),
    st.tuples(st.just({"type": "url"}), st.sampled_from(["https://a.example/b?c=d#e"])),
)


@st.composite
def questions(draw: st.DrawFn) -> tuple[Json, Json, str]:
    """Return node data, an answer that fits, and the action to press."""
    names = draw(
        st.lists(st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True), unique=True, max_size=5)
    )
    inputs, answer = [], {}
    for name in [*names, *draw(st.lists(st.sampled_from(["action", "form_nonce"]), unique=True))]:
        if name in answer:
            continue
        field, value = draw(st.one_of(texts(), numbers(), choices(), OTHERS))
        required = draw(st.sampled_from([True, False]))
        inputs.append({**field, "output_variable_name": name, "required": required})
        answer[name] = value
    actions = draw(
        st.lists(
            st.from_regex(r"[a-z][a-z_]{0,8}", fullmatch=True), min_size=1, max_size=3, unique=True
        )
    )
    buttons = [{"id": one, "title": f"Press {one}"} for one in actions]
    return node(*inputs, actions=buttons), answer, draw(st.sampled_from(actions))


class Controls(HTMLParser):
    """What a browser finds in the form of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden: list[tuple[str, str]] = []
        self.boxes: dict[str, list[str]] = {}
        self.names: set[str] = set()
        self.buttons: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a control."""
        found = {name: value or "" for name, value in attrs}
        if tag == "button" and found.get("name") == "action":
            self.buttons.add(found["value"])
        elif tag in {"input", "select", "textarea"} and "name" in found:
            if found.get("type") == "hidden":
                self.hidden.append((found["name"], found["value"]))
            elif found.get("type") in {"checkbox", "radio"}:
                self.boxes.setdefault(found["name"], []).append(found["value"])
            self.names.add(found["name"])


def filled(html: str, answer: Json, action: str) -> str:
    """Return the body that a browser sends once a person has filled in the page."""
    page = Controls()
    page.feed(html)
    pairs = [*page.hidden, ("action", action)]
    assert action in page.buttons
    for field, value in answer.items():
        name = f"field.{field}" if field in {"action", "form_nonce"} else field
        assert name in page.names
        wanted = [_typed(one) for one in value] if isinstance(value, list) else [_typed(value)]
        if name in page.boxes:
            assert set(wanted) <= set(page.boxes[name])
        pairs += [(name, text) for text in wanted]
    return urlencode(pairs)


def _typed(value: object) -> str:
    """Return what a person types for a value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:f}" if isinstance(value, float) else str(value)


def decided(form: Form) -> tuple[str, Json]:
    """Return the stored decision; texts that were left empty are left out."""
    assert form.decision is not None
    return form.decision.action_id, dict(form.decision.values)


SLOW = settings(deadline=None, max_examples=12, suppress_health_check=[HealthCheck.too_slow])


@given(questions())
@SLOW
def test_an_accepted_definition_can_be_answered_through_its_page(
    question: tuple[Json, Json, str],
) -> None:
    form, answer, action = question
    forms = Forms({"form": form})
    html = forms.get("page", MAIL).body
    headers = {"content-type": "application/x-www-form-urlencoded"}

    sent = forms.functions.call(
        "POST",
        path("page", forms.token(MAIL)),
        key=None,
        body=filled(html, answer, action),
        headers=headers,
    )

    assert sent.status == 303, sent.body
    assert decided(forms.form) == (action, answer)
    told = forms.result()
    assert (told["action"]["id"], told["values"]) == (action, answer)


@given(questions())
@SLOW
def test_an_accepted_definition_can_be_answered_through_its_json_route(
    question: tuple[Json, Json, str],
) -> None:
    form, answer, action = question
    forms = Forms({"form": form})
    shown = forms.get("public", MAIL).json
    assert [one["output_variable_name"] for one in shown["inputs"]] == list(answer)

    sent = forms.post(answer, action, surface="public", kind=MAIL)

    assert sent.status == 200, sent.body
    assert decided(forms.form) == (action, answer)
    told = forms.result()
    assert (told["action"]["id"], told["values"]) == (action, answer)
