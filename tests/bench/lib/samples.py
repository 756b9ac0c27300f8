"""Statistics of several rounds of one measurement, and their format."""
import statistics


class Samples(list):
    """A list of dicts with the same figures."""

    def of(self, name):
        return [sample[name] for sample in self]

    def median(self, name):
        return statistics.median(self.of(name))

    def spread(self, name):
        """Returns the difference between maximum and minimum, as a share of the median."""
        values, middle = self.of(name), self.median(name)
        return (max(values) - min(values)) / middle if middle else 0.0


def number(value):
    """Formats a number with its significant digits only."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def times(value):
    return f"{number(value)}x"


def rate_with_spread(samples, name="rate"):
    spread = f" ±{samples.spread(name) * 50:.0f} %" if len(samples) > 1 else ""
    return f"{number(samples.median(name))}{spread}"


def table(head, rows):
    """Formats a table in Markdown."""
    lines = ["| " + " | ".join(str(cell) for cell in row) + " |" for row in [head, *rows]]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]])
