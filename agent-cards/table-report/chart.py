"""A bar chart as SVG."""

import re
from html import escape

BARS_MAX = 12
LABEL_CHARS_MAX = 18
BAR_WIDTH, GAP, PLOT_HEIGHT, MARGIN, TOP, BOTTOM = 60, 30, 240, 40, 70, 50

# Characters that XML 1.0 cannot contain, and line ends and tabs, which a label does not need.
UNWRITABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def label(text: str) -> str:
    shown = text if len(text) <= LABEL_CHARS_MAX else text[: LABEL_CHARS_MAX - 1] + "…"
    return escape(UNWRITABLE.sub("\ufffd", shown))


def bar_chart(title: str, values: list[tuple[str, float]]) -> str:
    """Returns a bar for each of the first values; negative bars are below the zero line. The title is not escaped."""
    bars = values[:BARS_MAX]
    high = max(0.0, *(value for _, value in bars))
    low = min(0.0, *(value for _, value in bars))
    scale = PLOT_HEIGHT / ((high - low) or 1.0)
    zero = TOP + high * scale
    width = 2 * MARGIN + len(bars) * (BAR_WIDTH + GAP)
    height = TOP + PLOT_HEIGHT + BOTTOM
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        ' font-family="sans-serif" font-size="11" text-anchor="middle">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        f'<text x="{width / 2}" y="24" font-size="15">{title}</text>',
    ]
    for index, (name, value) in enumerate(bars):
        left = MARGIN + GAP / 2 + index * (BAR_WIDTH + GAP)
        lines += _bar(name, value, left, zero, value * scale)
    lines += [f'<line x1="{MARGIN}" y1="{zero:.1f}" x2="{width - MARGIN}" y2="{zero:.1f}" stroke="#333333"/>', "</svg>"]
    return "\n".join(lines) + "\n"


def _bar(name: str, value: float, left: float, zero: float, height: float) -> list[str]:
    top = zero - max(height, 0)
    middle = left + BAR_WIDTH / 2
    return [
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{BAR_WIDTH}" height="{abs(height):.1f}" fill="#3b76b0"/>',
        f'<text x="{middle:.1f}" y="{top - 6:.1f}">{value:.6g}</text>',
        f'<text x="{middle:.1f}" y="{TOP + PLOT_HEIGHT + 30}">{label(name)}</text>',
    ]
