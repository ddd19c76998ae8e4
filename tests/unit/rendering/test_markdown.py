"""What a model wrote becomes HTML that can do nothing but be read (DESIGN decision 11)."""

from __future__ import annotations

import nh3
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.rendering import markdown, sanitise
from sayso.rendering.blocks import RegionNames
from sayso.rendering.markdown import AUTHOR, MAIL, PAGE, Profile, render_markdown
from sayso.rendering.plain import strip_invisible
from unit.rendering.reading import Page, dangers
from unit.rendering.samples import XSS

PROFILES = pytest.mark.parametrize("profile", [PAGE, MAIL, AUTHOR], ids=["page", "mail", "author"])
HOSTILE_TEXT = st.lists(
    st.sampled_from(
        (*XSS, *"<>\"'`*_[]()!#|~&;:/\\{}-=\n\t ", "https://e.example", "text", "\u202e", "&lt;", "--")
    ),
    max_size=30,
).map("".join)  # fmt: skip


def oracle(html: str, allowed: sanitise.AllowList) -> str:
    """Return what another sanitiser with an equal allow-list leaves of the HTML."""
    return nh3.clean(
        html,
        tags=set(allowed.tags),
        attributes={tag: set(names) for tag, names in allowed.attributes.items()},
        attribute_filter=lambda tag, name, value: (
            value if allowed.allows(tag, name, value) else None
        ),
        url_schemes=set(sanitise.SCHEMES),
        link_rel=None,
    )


@PROFILES
@pytest.mark.parametrize("payload", XSS)
def test_no_payload_gets_through(payload: str, profile: Profile) -> None:
    html = render_markdown(f"before\n\n{payload}\n\nafter", profile).html

    assert dangers(html) == []
    assert "after" in Page(html).text


@PROFILES
@given(text=HOSTILE_TEXT)
def test_another_sanitiser_with_an_equal_list_finds_nothing_to_remove(
    profile: Profile, text: str
) -> None:
    html = render_markdown(text, profile).html

    assert Page(oracle(html, profile.allowed)).events == Page(html).events
    assert dangers(html) == []


@PROFILES
@given(text=HOSTILE_TEXT)
def test_sanitising_twice_changes_nothing(profile: Profile, text: str) -> None:
    html = render_markdown(text, profile).html

    assert sanitise.sanitise(html, profile.allowed) == html


@given(text=st.text())
def test_any_text_gives_balanced_html_without_invisible_characters(text: str) -> None:
    html = render_markdown(text).html

    assert Page(html).unbalanced == []
    assert strip_invisible(html) == (html, 0)


def test_raw_html_shows_as_text_instead_of_vanishing() -> None:
    html = render_markdown("a <b>bold</b> claim").html

    assert html == "<p>a &lt;b&gt;bold&lt;/b&gt; claim</p>"


def test_headings_start_at_h3_and_leave_no_level_out() -> None:
    html = render_markdown("# A\n\n### B\n\n# C\n\n###### D\n\n## E").html

    tags = [tag for tag, _ in Page(html).elements]
    assert tags == ["h3", "h4", "h3", "h4", "h4"]


def test_a_link_on_the_page_shows_its_host_and_hands_on_nothing() -> None:
    html = render_markdown("[our policy](https://evil.example:8443/x)").html

    (link,) = Page(html).all("a")
    assert link == {"href": "https://evil.example:8443/x", "rel": "noopener noreferrer nofollow"}
    assert Page(html).text == "our policy (evil.example:8443)"


def test_a_link_whose_text_is_its_address_does_not_repeat_the_host() -> None:
    html = render_markdown("<https://a.example/b>").html

    assert Page(html).text == "https://a.example/b"


def test_a_host_in_another_script_is_shown_in_its_ascii_form() -> None:
    html = render_markdown("[bank](https://\u0430pple.example/)").html

    assert Page(html).text == "bank (xn--pple-43d.example)"


@pytest.mark.parametrize(
    "address",
    ["/form/x", "#decide", "?a=b", "ftp://e.example", "tel:1", "https://u@e.example", "https://"],
)
def test_an_address_that_is_not_absolute_or_hides_its_host_is_no_link(address: str) -> None:
    html = render_markdown(f"[text]({address})").html

    assert Page(html).links() == []
    assert "text" in Page(html).text


def test_a_link_without_words_is_named_by_its_host() -> None:
    html = render_markdown("[](https://a.example/b)").html

    assert Page(html).text == "a.example"


def test_a_picture_becomes_a_link_so_that_nothing_is_fetched() -> None:
    html = render_markdown("![chart](https://a.example/c.png)").html

    assert Page(html).all("img") == []
    assert Page(html).text == "chart (a.example)"


def test_a_picture_inside_a_link_leaves_its_description() -> None:
    html = render_markdown("[![chart](https://a.example/c.png)](https://b.example)").html

    assert Page(html).links() == ["https://b.example"]
    assert Page(html).text == "chart (b.example)"


def test_a_table_scrolls_in_a_focusable_region_named_by_its_heading() -> None:
    html = render_markdown("## Found\n\n|a|b|\n|-|-:|\n|1|2|").html

    (region,) = Page(html).all("div")
    assert region == {"class": "scroll", "role": "region", "aria-label": "Found", "tabindex": "0"}
    assert Page(html).all("th") == [{"scope": "col"}, {"scope": "col", "class": "num"}]
    assert Page(html).all("td") == [{}, {"class": "num"}]


def test_tables_without_a_heading_are_named_by_their_columns_and_never_alike() -> None:
    table = "|Item|Paid|\n|-|-|\n|1|2|"
    names = RegionNames()

    first, second = (Page(render_markdown(table, names=names).html) for _ in range(2))

    assert first.all("div")[0]["aria-label"] == "Item, Paid"
    assert second.all("div")[0]["aria-label"] == "Item, Paid (2)"


@PROFILES
def test_a_table_head_that_says_nothing_is_not_shown(profile: Profile) -> None:
    html = render_markdown("| | |\n|-|-|\n|Paid|10|\n\n|Item||\n|-|-|\n|Coat|1|", profile).html

    assert html.count("<thead>") == 1
    assert Page(html).text.split() == ["Paid", "10", "Item", "Coat", "1"]


def test_in_a_mail_links_are_text_and_addresses_lose_their_scheme() -> None:
    text = "[pay](https://evil.example/x) <https://b.example> https://c.example `http://d.example`"

    page = Page(render_markdown(text, MAIL).html)

    assert page.links() == []
    assert page.text == "pay (evil.example) b.example c.example d.example"


def test_in_a_mail_headings_are_bold_paragraphs() -> None:
    assert render_markdown("## A *b*", MAIL).html == "<p><strong>A <em>b</em></strong></p>"


def test_in_a_mail_alignment_is_an_attribute() -> None:
    html = render_markdown("|a|\n|-:|\n|1|", MAIL).html

    assert Page(html).all("td") == [{"align": "right"}]


def test_struck_text_keeps_its_tildes_since_a_mail_cannot_strike() -> None:
    assert render_markdown("do ~~not~~ pay").html == "<p>do ~~not~~ pay</p>"


def test_a_text_that_is_too_long_is_cut_at_a_paragraph_and_says_so() -> None:
    text = "first paragraph\n\n" + "x" * 100

    page = Page(render_markdown(text, limit=30).html)

    assert page.text == "first paragraph\n[The text goes on. Only the beginning is shown here.]"


def test_removed_characters_are_counted() -> None:
    rendered = render_markdown("a\u202eb\u200bc")

    assert rendered.html == "<p>abc</p>"
    assert rendered.removed == 2


@pytest.mark.parametrize("text", ["[" * 3000, "*a " * 1000, ">" * 3000, "`" * 3000, "![a](" * 700])
def test_deep_and_broken_nesting_is_rendered(text: str) -> None:
    assert dangers(render_markdown(text).html) == []


def test_the_cap_is_the_same_for_every_caller_by_default() -> None:
    assert markdown.MAX_MARKDOWN_CHARS == 100_000
