-- Events by one number instead of two: shorter to compare when one is written, and the inner pages of the tree hold
-- numbers only, where they held whole events; so they stay in memory.

-- event_key is task_key * 2^28 + number: all events of a task in order, task after task.
CREATE TABLE keyed_events (
  event_key INTEGER PRIMARY KEY,
  kind      INTEGER NOT NULL,
  at_ms     INTEGER NOT NULL,
  body      TEXT    NOT NULL
) STRICT;
INSERT INTO keyed_events SELECT (task_key << 28) + number, kind, at_ms, body FROM events ORDER BY task_key, number;
DROP TABLE events;
ALTER TABLE keyed_events RENAME TO events;
