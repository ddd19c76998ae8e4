"""Reads rendered HTML as a browser would and says what could do harm in it."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = frozenset({"br", "hr", "input", "meta", "link", "img"})
_ACTIVE_TAGS = frozenset(
    {
        "script", "iframe", "object", "embed", "svg", "math", "img", "video", "audio", "base", "link",
        "meta", "form", "input", "button", "textarea", "select", "style", "template", "noscript",
    }
)  # fmt: skip
_SAFE_SCHEMES = ("http://", "https://", "mailto:")


class Page(HTMLParser):
    """Elements and text of an HTML document, in order."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.events: list[tuple[str, ...]] = []
        self.texts: list[str] = []
        self.unbalanced: list[str] = []
        self._open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take a start tag."""
        values = {name: value or "" for name, value in attrs}
        self.elements.append((tag, values))
        self.events.append((tag, *(f"{name}={values[name]}" for name in sorted(values))))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Take an end tag."""
        self.events.append((f"/{tag}",))
        if not self._open or self._open.pop() != tag:
            self.unbalanced.append(tag)

    def handle_data(self, data: str) -> None:
        """Take text; neighbouring stretches count as one."""
        self.texts.append(data)
        if self.events and self.events[-1][0] == "#":
            data = self.events.pop()[1] + data
        self.events.append(("#", data))

    @property
    def text(self) -> str:
        """All text."""
        return "".join(self.texts)

    def all(self, tag: str) -> list[dict[str, str]]:
        """Return the attributes of all elements of a tag."""
        return [attrs for name, attrs in self.elements if name == tag]

    def links(self) -> list[str]:
        """Return where anchors lead."""
        return [attrs.get("href", "") for attrs in self.all("a")]


def dangers(html: str) -> list[str]:
    """Return what in a fragment could run, load, submit or restyle."""
    found = []
    for tag, attrs in Page(html).elements:
        if tag in _ACTIVE_TAGS:
            found.append(f"<{tag}>")
        for name, value in attrs.items():
            if name.startswith("on") or name in {"style", "srcdoc", "formaction", "id", "name"}:
                found.append(f"{tag} {name}")
            if name in {"href", "src"} and not value.lower().startswith(_SAFE_SCHEMES):
                found.append(f"{tag} {name}={value}")
    return found
