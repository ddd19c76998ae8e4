"""Form links: only what we signed opens anything, in exactly one spelling."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.domain.errors import UnknownLinkError
from sayso.domain.ids import FormId
from sayso.domain.links import Link, LinkSigner

FORM = FormId("6a1f5f0e-5d0c-5c9b-9d5b-0a6c3a5e7b11")
LINK = Link(form_id=FORM, recipient=3, revision=1)
OLD, NEW = b"o" * 32, b"n" * 40
URL_SAFE = string.ascii_letters + string.digits + "-_"


@given(form=st.uuids(), recipient=st.integers(1, 65_535), revision=st.integers(1, 255))
def test_a_token_opens_what_it_was_made_for(form: object, recipient: int, revision: int) -> None:
    signer = LinkSigner({1: OLD}, current=1)
    link = Link(form_id=FormId(str(form)), recipient=recipient, revision=revision)

    token = signer.sign(link)

    assert signer.verify(token) == link
    assert set(token) <= set(URL_SAFE)
    assert len(token) == 50


@given(position=st.integers(0, 49), letter=st.sampled_from(URL_SAFE))
def test_a_token_with_one_other_letter_is_unknown(position: int, letter: str) -> None:
    signer = LinkSigner({1: OLD}, current=1)
    token = signer.sign(LINK)
    forged = token[:position] + letter + token[position + 1 :]

    if forged != token:
        with pytest.raises(UnknownLinkError):
            signer.verify(forged)


@given(token=st.text(max_size=120))
def test_any_other_text_is_unknown(token: str) -> None:
    with pytest.raises(UnknownLinkError):
        LinkSigner({1: OLD}, current=1).verify(token)


@pytest.mark.parametrize("change", ["{}=", "{}==", " {}", "{}\n", "{}A", "./{}"])
def test_another_spelling_of_a_token_is_unknown(change: str) -> None:
    signer = LinkSigner({1: OLD}, current=1)

    with pytest.raises(UnknownLinkError):
        signer.verify(change.format(signer.sign(LINK)))


def test_old_links_work_while_the_old_key_is_kept() -> None:
    before = LinkSigner({1: OLD}, current=1).sign(LINK)
    rotated = LinkSigner({1: OLD, 2: NEW}, current=2)

    assert rotated.verify(before) == LINK
    assert rotated.verify(rotated.sign(LINK)) == LINK
    with pytest.raises(UnknownLinkError):
        LinkSigner({2: NEW}, current=2).verify(before)


def test_a_short_key_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 32 bytes"):
        LinkSigner({1: b"short"}, current=1)
