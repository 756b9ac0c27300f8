"""Which Python tests belong to the ring "everything" alone (tests/README.md, "Rings").

BATON_RING=whole leaves them out: they are neither passed nor failed. Without it every test runs."""
import os

WHOLE = os.environ.get("BATON_RING") == "whole"


def everything(why):
    """Marks a test, or a class with all its tests. `why`: where the rule is asserted instead, or what else makes the
    test one for the larger ring. Classes that are derived from a marked one are not marked."""
    assert why

    def mark(test):
        test.only_in_everything = why
        return test
    return mark


def is_left_out(test):
    """Whether this unittest.TestCase does not run in the ring that is asked for."""
    method = getattr(type(test), test._testMethodName, None)
    return WHOLE and ("only_in_everything" in vars(type(test)) or hasattr(method, "only_in_everything"))


def some(cases, count=1):
    """Of cases that only vary a rule which is asserted elsewhere: all, or the first `count` in the ring "whole"."""
    return list(cases)[:count if WHOLE else None]


def pairs(things):
    """Every ordered pair; in the ring "whole" each thing only with its neighbours, the last being the first one's."""
    count = len(things)
    return [(a, b) for i, a in enumerate(things) for k, b in enumerate(things)
            if not WHOLE or (k - i) % count in (1, count - 1)]


# Long-running test files. When several files run at a time these begin first, because a long file that begins last
# would delay the end of the run.
LONG = {"cancel_race_test", "kill_doors_test", "kill_test", "power_cut_test", "restart_test", "streams_test", "test_a2a_matrix",
        "test_approval", "test_author_commands", "test_bad_agents", "test_chat_matrix", "test_chat_runs", "test_cli_a2a",
        "test_cli_newcomer", "test_growth", "test_large_answers", "test_model_agents", "test_operator_walk",
        "test_outbound_memory", "test_plan_rules", "test_quarterly", "test_recorded_answers", "test_remote_agents",
        "test_remote_cards", "test_replay", "test_retention", "test_table_report", "test_traces"}

# The note that scripts/run_python_tests prints for tests that it did not run.
LEFT_OUT = 'left to the ring "everything"'
