"""Content of a form: stretches of text and fields between them."""

from __future__ import annotations

import pytest

from sayso.domain.form import FieldBlock, HtmlBlock
from sayso.rendering.content import MAIL_CHARS, MarkdownContentRenderer, mail_text
from sayso.rendering.plaintext import render_text
from sayso.rendering.safe import POLICY_VERSION
from unit.rendering.reading import Page

RENDERER = MarkdownContentRenderer()


def test_fields_stand_where_their_placeholders_are() -> None:
    rendered = RENDERER.render(
        "Why: {{#$output.reason#}} and {{#$output.note#}}", ["note", "reason"]
    )

    assert rendered.blocks == (
        HtmlBlock(html="<p>Why:</p>"),
        FieldBlock(name="reason"),
        HtmlBlock(html="<p>and</p>"),
        FieldBlock(name="note"),
    )
    assert rendered.sanitiser_version == POLICY_VERSION


def test_fields_without_a_placeholder_follow_in_their_order() -> None:
    rendered = RENDERER.render("text", ["b", "a"])

    assert rendered.blocks[1:] == (FieldBlock(name="b"), FieldBlock(name="a"))


def test_a_field_stands_on_the_page_once() -> None:
    rendered = RENDERER.render("{{#$output.a#}} {{#$output.a#}}", ["a"])

    assert rendered.blocks == (FieldBlock(name="a"),)


def test_a_placeholder_of_an_unknown_field_is_nothing() -> None:
    rendered = RENDERER.render("x {{#$output.ghost#}} y", [])

    assert rendered.blocks == (HtmlBlock(html="<p>x</p>"), HtmlBlock(html="<p>y</p>"))


def test_table_regions_of_one_page_have_different_names() -> None:
    table = "|a|\n|-|\n|1|\n"
    rendered = RENDERER.render(f"{table}\n{{{{#$output.f#}}}}\n{table}", ["f"])

    html = "".join(block.html for block in rendered.blocks if isinstance(block, HtmlBlock))

    assert [region["aria-label"] for region in Page(html).all("div")] == ["a", "a (2)"]


def test_the_mail_gets_the_content_without_fields_and_links() -> None:
    rendered = RENDERER.render("See [x](https://e.example){{#$output.f#}}\n\n# End", ["f"])

    assert rendered.mail_html == "<p>See x (e.example)</p>\n<p><strong>End</strong></p>"


def test_a_mail_holds_the_beginning_of_long_content() -> None:
    html = RENDERER.render("word " * MAIL_CHARS, []).mail_html

    assert len(html) < MAIL_CHARS + 200
    assert "Only the beginning is shown here" in html


def test_the_text_part_leaves_out_a_table_head_that_says_nothing() -> None:
    assert render_text("| | |\n|-|-|\n|Paid|10|") == "Paid | 10"


def test_the_text_part_gets_lists_tables_quotes_and_code_as_people_write_them() -> None:
    source = (
        "# Head\n\npara **bold**  \nbreak\n\n- a\n- b\n  1. c\n\n> q\n\n|x|y|\n|-|-|\n|1|2|\n\n"
        "```\ncode\n```\n---\n5. five\n6. six"
    )

    assert render_text(source) == (
        "Head\n\npara bold\nbreak\n\n- a\n- b\n  1. c\n\n> q\n\nx | y\n1 | 2\n\n"
        "code\n\n---\n\n5. five\n6. six"
    )


@pytest.mark.parametrize("source", ["https://e.example/x", "[a](https://e.example)", "`http://e`"])
def test_the_text_part_has_nothing_a_mail_program_makes_a_link_of(source: str) -> None:
    assert "://" not in mail_text(source)


def test_lines_of_the_text_part_are_at_most_70_characters_long() -> None:
    text = render_text("- " + "word " * 60)

    assert max(len(line) for line in text.splitlines()) <= 70
    assert all(line.startswith(("- ", "  ")) for line in text.splitlines())
