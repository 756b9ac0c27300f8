-- Less to write for a short task, less to read for a long list.

-- The tables messages, artifacts, artifact_parts and stops have rows only of tasks whose log is long: of a short
-- one, reading all of it tells the same. 1: this task has its rows there.
ALTER TABLE tasks ADD COLUMN indexed INTEGER NOT NULL DEFAULT 1;

-- The indexes of lists hold the tasks at rest. Those with a turn are few; they move to the lists when it is over.
DROP INDEX tasks_listed;
DROP INDEX tasks_in_context;
DROP INDEX tasks_unfinished;
CREATE INDEX tasks_listed ON tasks (agent, caller, status_ms, public_id, state) WHERE turn_state = 'none';
CREATE INDEX tasks_in_context ON tasks (context_key, status_ms, public_id, state) WHERE turn_state = 'none';
CREATE INDEX tasks_unfinished ON tasks (agent, caller) WHERE turn_state <> 'none';

-- How many tasks at rest there are, so that a long list's total need not be counted.
CREATE TABLE task_totals (
  agent  TEXT    NOT NULL,
  caller TEXT    NOT NULL,
  state  TEXT    NOT NULL,
  tasks  INTEGER NOT NULL,
  PRIMARY KEY (agent, caller, state)
) STRICT, WITHOUT ROWID;
INSERT INTO task_totals
  SELECT agent, caller, state, count(*) FROM tasks WHERE turn_state = 'none' GROUP BY agent, caller, state;
