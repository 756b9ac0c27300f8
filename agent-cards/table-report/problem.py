"""The one kind of failure that the caller is told about."""


class TableProblem(Exception):
    """Why there is no report, in words for the caller: no path, no stack trace."""


class Cancelled(Exception):
    """Baton asked this turn to stop."""
