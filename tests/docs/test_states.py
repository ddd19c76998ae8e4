"""Diagrams and tables of states are those of the code."""

from __future__ import annotations

from docs.pages import DOCS, bare, blocks, table_of, text_of
from docs.tables import FORM_DIAGRAM, RUN_DIAGRAM, as_markdown, state_rows
from sayso.domain.ask_result import _RESULTS
from sayso.domain.transitions import FORM_TABLE, RUN_TABLE, FormStatus, RunStatus

CONCEPTS = DOCS / "concepts.md"


def test_the_diagrams_are_the_tables_of_the_code() -> None:
    assert [block.text.strip() for block in blocks("mermaid")] == [RUN_DIAGRAM, FORM_DIAGRAM]


def test_the_tables_of_states_are_those_of_the_code() -> None:
    assert as_markdown(state_rows(RUN_TABLE)) in text_of(CONCEPTS)
    assert as_markdown(state_rows(FORM_TABLE)) in text_of(CONCEPTS)


def test_each_form_status_says_what_the_model_reads() -> None:
    rows = table_of(CONCEPTS, "form", "status in the result", "")

    assert {bare(row[0]): bare(row[1]) for row in rows} == {
        status.value: _RESULTS.get(status, "none") for status in FormStatus if status.is_final
    }


def test_the_glossary_knows_every_status() -> None:
    glossary = text_of(DOCS / "glossary.md")

    assert [one for one in (*RunStatus, *FormStatus) if f"`{one}`" not in glossary] == []
