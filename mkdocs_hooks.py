"""What the site needs besides the pages: formulas as MathML, notebooks as pages, links that stay.

The pages are written to be read as they are. Here, while the site is built and without a network,
    ```math blocks and $inline$ become MathML, which browsers draw themselves;
    notebooks of examples/ become pages, with the outputs that they were committed with;
    links to files outside docs/ become plain words;
    `<!-- ::: name -->` becomes the reference of that name, from its docstrings.
"""

from __future__ import annotations

import html
import json
import posixpath
import re
from pathlib import Path
from typing import Any

from griffe import Extension
from latex2mathml.converter import convert
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent
EXAMPLES = "examples"
FENCE = re.compile(r"^(`{3,})(.*?)^\1\s*$", re.S | re.M)
SPAN = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.S)
INLINE = re.compile(r"\$(?=[^\s$])([^$\n]*[^\s$])\$(?![\w$])")
LINK = re.compile(
    r"(?P<span>(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`))|(!?)\[([^\]\[]*)\]\(([^)\s]+)\)", re.S
)
DOCTEST = re.compile(r"^>>> .*?(?=^\s*$|\Z)", re.S | re.M)
REFERENCE = re.compile(r"^<!-- (::: [\w.]+) -->$", re.M)
KEPT = "MathKept{}Here"


def outside(markdown: str, pattern: re.Pattern[str], change: Any) -> str:
    """The text with a change made everywhere but inside of what a pattern finds."""
    begin, found = 0, []
    for match in pattern.finditer(markdown):
        found += [change(markdown[begin : match.start()]), match[0]]
        begin = match.end()
    return "".join([*found, change(markdown[begin:])])


# -- examples in words
def fenced(text: str) -> str:
    """Doctests that stand bare, as code."""
    change = lambda piece: DOCTEST.sub(lambda each: f"```pycon\n{each[0].rstrip()}\n```\n", piece)
    return outside(text, FENCE, change)


class Doctests(Extension):
    """The same in docstrings, before the reference is made of them."""

    def on_instance(self, *, obj: Any, **more: Any) -> None:
        """Look at each docstring once."""
        if not obj.is_alias and obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)


# -- formulas
def with_math(markdown: str, kept: list[str]) -> str:
    """Formulas as marks, which nothing in Markdown changes; they are kept as MathML."""

    def mark(formula: str, display: str) -> str:
        kept.append(convert(html.unescape(formula.strip()), display=display))
        return KEPT.format(len(kept) - 1)

    def block(match: re.Match[str]) -> str:
        words, _, formula = match[2].partition("\n")
        return f"\n{mark(formula, 'block')}\n" if words.strip() == "math" else match[0]

    def inline(text: str) -> str:
        change = lambda piece: INLINE.sub(lambda each: mark(each[1], "inline"), piece)
        return outside(text, SPAN, change)

    return outside(FENCE.sub(block, markdown), FENCE, inline)


# -- links
def with_links(markdown: str, page: str) -> str:
    """Links out of docs/ as plain words, and those to notebooks as links to their pages."""

    def change(match: re.Match[str]) -> str:
        if match["span"]:
            return match[0]
        picture, words, target = match.groups()[-3:]
        path, mark, anchor = target.partition("#")
        if re.match(r"\w+:", target) or not path:
            return match[0]
        folder = posixpath.dirname(page)
        home = folder if folder == EXAMPLES else posixpath.join("docs", folder)
        place = posixpath.normpath(posixpath.join(home, path))
        if place.startswith(f"{EXAMPLES}/") and place.endswith(".ipynb"):
            place = f"docs/{place.removesuffix('.ipynb')}.md"
        if place.startswith("docs/"):
            name = posixpath.relpath(place.removeprefix("docs/"), folder or ".")
            return f"{picture}[{words}]({name}{mark}{anchor})"
        if picture:
            return match[0]
        return words if words.startswith("`") else f"{words} (`{place}`)"

    return outside(markdown, FENCE, lambda piece: LINK.sub(change, piece))


# -- notebooks
def page_of(notebook: dict[str, Any]) -> str:
    """A notebook as Markdown: its words, its code, and what it gave."""
    found = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            found.append(source)
            continue
        found.append(f"```python\n{source}\n```")
        found += [shown(output) for output in cell["outputs"]]
    return "\n\n".join(each for each in found if each)


def shown(output: dict[str, Any]) -> str:
    """One output: its picture, its table, or its words."""
    data = output.get("data", {"text/plain": output.get("text", "")})
    if "image/svg+xml" in data:
        return whole("".join(data["image/svg+xml"]))
    if "image/png" in data:
        return whole(
            f'<img alt="" src="data:image/png;base64,{"".join(data["image/png"]).strip()}">'
        )
    if "text/html" in data:
        return whole("".join(data["text/html"]))
    return f"```text\n{''.join(data.get('text/plain', ''))}\n```"


def whole(markup: str) -> str:
    """HTML on one line, so that Markdown leaves it alone; line breaks inside of <pre> are kept."""
    pieces = re.split(r"(<pre.*?</pre>)", markup, flags=re.S)
    lines = (
        piece.replace("\n", "&#10;") if piece.startswith("<pre") else " ".join(piece.split())
        for piece in pieces
    )
    return f'<div class="output">{"".join(lines)}</div>'


def on_config(config: Any) -> Any:
    """Notebooks stand behind the pages."""
    names = sorted(path.stem for path in (ROOT / EXAMPLES).glob("*.ipynb"))
    if names:
        config.nav.append({"Examples": [f"{EXAMPLES}/{name}.md" for name in names]})
    return config


def on_files(files: Files, config: Any) -> Files:
    """A page for each notebook, and the style of what is special here."""
    for path in sorted((ROOT / EXAMPLES).glob("*.ipynb")):
        text = page_of(json.loads(path.read_text()))
        files.append(File.generated(config, f"{EXAMPLES}/{path.stem}.md", content=text))
    files.append(File.generated(config, "assets/site.css", content=STYLE))
    config.extra_css = [*config.extra_css, "assets/site.css"]
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """References, links and formulas."""
    page.formulas = []
    markdown = REFERENCE.sub(r"\n\1\n", markdown)
    return with_math(with_links(fenced(markdown), page.file.src_uri), page.formulas)


def on_page_content(content: str, page: Any, config: Any, files: Files) -> str:
    """The formulas, where their marks stand."""
    for number, formula in enumerate(page.formulas):
        content = content.replace(KEPT.format(number), formula)
    return content


def on_post_build(config: Any) -> None:
    """Take from the theme's scripts what they would fetch: diagrams and a worker's shim, neither of
    which is used here."""
    for path in Path(config.site_dir, "assets", "javascripts").rglob("*"):
        if path.suffix in (".js", ".map"):
            path.unlink() if path.suffix == ".map" else path.write_text(
                re.sub(r"https://unpkg\.com/[\w@./-]+", "about:blank", path.read_text())
            )
    for path in Path(config.site_dir, "assets", "stylesheets").rglob("*.map"):
        path.unlink()


STYLE = """
math[display="block"] { overflow-x: auto; overflow-y: hidden; padding: .4em 0; font-size: 1.15em; }
.md-typeset img, .output svg { max-width: 100%; height: auto; }
.output { overflow-x: auto; margin: 1em 0; }
.output pre { line-height: 1.3; }
"""
