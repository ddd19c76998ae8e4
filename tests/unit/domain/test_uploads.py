"""Which files are taken, and what becomes of the names that people and attackers give them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.domain.file_names import MAX_NAME_CHARS, clean_name, extension_of, is_blocked
from sayso.domain.file_types import content_fits, type_of


@pytest.mark.parametrize(
    ("name", "clean"),
    [
        ("scan.pdf", "scan.pdf"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\ada\\scan.pdf", "scan.pdf"),
        ("a\x00b\r\nc.txt", "abc.txt"),
        ("invoice\u202efdp.exe", "invoicefdp.exe"),
        ("  .hidden. ", "hidden"),
        ("..", ""),
        ("/", ""),
        ('a"<b>|?*:.txt', "a__b_____.txt"),
        ("Rechnung\u0308.pdf", "Rechnung\u0308.pdf"),
        ("u\u0308.pdf", "\u00fc.pdf"),
        ("\ud800.txt", "txt"),
    ],
)
def test_a_name_is_made_safe_to_show_and_store(name: str, clean: str) -> None:
    assert clean_name(name) == clean


def test_a_long_name_keeps_its_ending() -> None:
    clean = clean_name("x" * 1000 + ".pdf")

    assert len(clean) == MAX_NAME_CHARS
    assert clean.endswith("x.pdf")


@given(st.text())
def test_a_clean_name_stays_as_it_is_and_is_no_path(name: str) -> None:
    clean = clean_name(name)

    assert clean_name(clean) == clean
    assert len(clean) <= MAX_NAME_CHARS
    assert not set(clean) & set('/\\\r\n\x00"')


@pytest.mark.parametrize(
    "name", ["a.exe", "A.EXE", "a.exe.pdf", "a.pdf.exe", "a.js.png", "a. exe", "photo.jpg.scr"]
)
def test_programs_are_blocked_however_they_hide(name: str) -> None:
    assert is_blocked(name)


@pytest.mark.parametrize(
    "name", ["a.pdf", "exe", "report 1.2.pdf", "for example.com.pdf", "exe.pdf"]
)
def test_harmless_names_are_not_blocked(name: str) -> None:
    assert not is_blocked(name)


def test_an_ending_is_what_follows_the_last_dot() -> None:
    assert [extension_of(name) for name in ("a.PDF", "a.tar.gz", "a", ".x")] == [
        "pdf",
        "gz",
        "",
        "",
    ]


@pytest.mark.parametrize(
    ("extension", "data"),
    [
        ("png", b"\x89PNG\r\n\x1a\n\x00"),
        ("jpg", b"\xff\xd8\xff\xe0"),
        ("webp", b"RIFF\x00\x00\x00\x00WEBPVP8 "),
        ("pdf", b"%PDF-1.4"),
        ("docx", b"PK\x03\x04\x14\x00"),
        ("mp4", b"\x00\x00\x00\x18ftypmp42"),
        ("txt", b"MZ is how this text begins"),
        ("csv", "a;ü".encode("utf-16")),
        ("xyz", b"anything"),
        ("", b"anything"),
    ],
)
def test_content_that_fits_its_ending_is_taken(extension: str, data: bytes) -> None:
    assert content_fits(extension, data)


@pytest.mark.parametrize(
    ("extension", "data"),
    [
        ("png", b"%PDF-1.4"),
        ("pdf", b"\x89PNG\r\n\x1a\n"),
        ("pdf", b"<html>"),
        ("txt", b"a\x00b"),
        ("xyz", b"MZ\x90\x00"),
        ("", b"\x7fELF"),
        ("jpg", b""),
    ],
)
def test_content_that_contradicts_its_ending_is_refused(extension: str, data: bytes) -> None:
    assert not content_fits(extension, data)


def test_kinds_are_those_of_the_contract() -> None:
    kinds = [type_of(one).kind for one in ("png", "pdf", "mp3", "mov", "dwg")]

    assert kinds == ["image", "document", "audio", "video", "custom"]
