"""The one kind of failure that the caller is told about."""

from baton import Fail


class TableProblem(Fail):
    """Why there is no report, in words for the caller: no path, no stack trace."""
