"""The picture's paper: colours for light and dark, and shapes as text. All numbers are pixels of the viewBox."""

from __future__ import annotations

from html import escape

from repack_gitops.report.plain import clip, visible

#: Okabe and Ito's palette, told apart with every common colour blindness; black stays for text.
PALETTE = ("#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#f0e442", "#0072b2", "#d55e00")
_WHITE_INK = frozenset({"#0072b2"})
#: Advance of one character of the monospaced face, as a share of the font size; wide enough for the usual faces.
_ADVANCE = 0.61

# Presentation attributes repeat the light colours, so that a viewer which drops <style> still shows a readable picture.
_LIGHT = {
    "paper": "fill:#ffffff;stroke:#d1d9e0",
    "ink": "fill:#1f2328",
    "dim": "fill:#59636e",
    "free": "fill:#f6f8fa;stroke:#d1d9e0",
    "stays": "fill:#b6bfc8;stroke:#b6bfc8",
    "casing": "stroke:#1f2328",
    "tip": "stroke:#1f2328",
    "band": "fill:#dafbe1",
    "pill": "fill:#1a7f37",
    "pill-ink": "fill:#ffffff",
    "rule": "stroke:#d1d9e0",
    "then": "fill:#0072b2",
    "now": "fill:#b6bfc8",
    "warn": "fill:#a40e26",
}
_DARK = {
    "paper": "fill:#0d1117;stroke:#3d444d",
    "ink": "fill:#e6edf3",
    "dim": "fill:#9ba4ad",
    "free": "fill:#161b22;stroke:#3d444d",
    "stays": "fill:#4d5661;stroke:#4d5661",
    "casing": "stroke:#0d1117",
    "tip": "stroke:#0d1117",
    "band": "fill:#12311f",
    "pill": "fill:#3fb950",
    "pill-ink": "fill:#04260f",
    "rule": "stroke:#3d444d",
    "then": "fill:#56b4e9",
    "now": "fill:#4d5661",
    "warn": "fill:#ff9492",
}
#: What only charts draw, so that other pictures do not carry it.
_CHART_LIGHT = {
    "line": "stroke:#0072b2",
    "dot": "fill:#0072b2;stroke:#ffffff",
    "open": "fill:#ffffff;stroke:#0072b2",
    "area": "fill:#e3f0fa",
    "most": "stroke:#818b98",
    "plan": "fill:#d55e00;stroke:#ffffff",
    "plan-ink": "fill:#a84300;stroke:#ffffff",
    "guide": "stroke:#d55e00",
}
_CHART_DARK = {
    "line": "stroke:#56b4e9",
    "dot": "fill:#56b4e9;stroke:#0d1117",
    "open": "fill:#0d1117;stroke:#56b4e9",
    "area": "fill:#12283a",
    "most": "stroke:#8b949e",
    "plan": "fill:#e69f00;stroke:#0d1117",
    "plan-ink": "fill:#f0b429;stroke:#0d1117",
    "guide": "stroke:#e69f00",
}
_SANS = 'system-ui,-apple-system,"Segoe UI","Noto Sans",Helvetica,Arial,sans-serif'
_MONO = 'ui-monospace,SFMono-Regular,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace'


def document(width: int, height: int, *, title: str, description: str, body: list[str], chart: bool = False) -> str:
    """Return the SVG document around ``body``; ``title`` and ``description`` are what a screen reader says.

    A ``chart`` has its own colours beside the common ones.
    """
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            'role="img" aria-labelledby="title desc">',
            f'<title id="title">{escape(visible(title))}</title>',
            f'<desc id="desc">{escape(visible(description, 2000))}</desc>',
            f"<style>{_style(chart=chart)}</style>",
            *([] if chart else [_HATCH]),
            f'<rect {shade("paper")} x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="8"/>',
            *body,
            "</svg>\n",
        ]
    )


_HATCH = (
    '<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<path d="M0 0v6" stroke="#fff" stroke-opacity=".55" stroke-width="5"/></pattern></defs>'
)


def _style(*, chart: bool) -> str:
    light = "".join(f".{name}{{{rule}}}" for name, rule in (_LIGHT | (_CHART_LIGHT if chart else {})).items())
    dark = "".join(f".{name}{{{rule}}}" for name, rule in (_DARK | (_CHART_DARK if chart else {})).items())
    faces = f"text{{font-family:{_SANS}}}.mono{{font-family:{_MONO}}}"
    return f"{faces}{light}@media(prefers-color-scheme:dark){{{dark}}}"


def shade(name: str) -> str:
    """Return the attributes of a colour that follows the reader's scheme."""
    rules = _LIGHT[name] if name in _LIGHT else _CHART_LIGHT[name]
    attributes = " ".join('{}="{}"'.format(*rule.split(":")) for rule in rules.split(";"))
    return f'class="{name}" {attributes}'


def number(value: float) -> str:
    """Return a coordinate with at most one decimal."""
    return f"{value:.1f}".removesuffix(".0")


def write(
    x: float,
    y: float,
    text: str,
    *,
    shade_name: str = "ink",
    size: int = 12,
    mono: bool = False,
    bold: bool = False,
    anchor: str = "",
) -> str:
    """Return one line of text on baseline ``y``."""
    style = shade(shade_name).replace('class="', 'class="mono ') if mono else shade(shade_name)
    weight = ' font-weight="600"' if bold else ""
    side = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text {style} x="{number(x)}" y="{number(y)}" font-size="{size}"{weight}{side}>{escape(visible(text))}</text>'


def fit_mono(text: str, width: float, size: int) -> str:
    """Return ``text``, clipped to ``width`` pixels of the monospaced face."""
    return clip(visible(text), max(int(width / (size * _ADVANCE)), 3))


def colour(index: int) -> str:
    """Return the palette colour of workload ``index``."""
    return PALETTE[index % len(PALETTE)]


def swatch(index: int, where: str) -> str:
    """Return a box in the colour of workload ``index``; ``where`` holds its geometry as attributes.

    Every second round through the palette is hatched, so that equal colours still differ.
    """
    box = f'<rect fill="{colour(index)}" stroke="#000" stroke-opacity=".3" {where}/>'
    return box + (f'<rect fill="url(#hatch)" {where}/>' if (index // len(PALETTE)) % 2 else "")


def swatch_number(index: int, x: float, y: float, size: int) -> str:
    """Return the number of workload ``index`` on its swatch, centred, with a rim that keeps hatching away from it."""
    base = colour(index)
    ink = "#fff" if base in _WHITE_INK else "#000"
    return (
        f'<text fill="{ink}" stroke="{base}" stroke-width="3" paint-order="stroke" x="{number(x)}" y="{number(y)}" '
        f'font-size="{size}" font-weight="600" text-anchor="middle">{index + 1}</text>'
    )
