-- What operators see and do. A quick task that completes enters one of these indexes, once, at its right end.

-- Tasks at rest in order of time, with what lists narrow by.
CREATE INDEX tasks_by_time ON tasks (status_ms, task_key, state, agent, caller)
  WHERE turn_state = 'none' AND hidden = 0;
-- Those that ended otherwise than well, or wait for people.
CREATE INDEX tasks_not_completed ON tasks (state, status_ms, task_key, agent, caller)
  WHERE turn_state = 'none' AND hidden = 0 AND state <> 'completed';
CREATE INDEX tasks_by_parent ON tasks (parent_key) WHERE parent_key IS NOT NULL;

-- Which schedule has made a task. Apart from tasks, as few are made by one.
CREATE TABLE scheduled_tasks (
  task_key INTEGER PRIMARY KEY REFERENCES tasks,
  agent    TEXT    NOT NULL,
  schedule TEXT    NOT NULL
) STRICT;
CREATE INDEX scheduled_tasks_by_name ON scheduled_tasks (schedule, agent);

-- What operators have done, or tried to do. Rows outlive their tasks.
CREATE TABLE audit (
  audit_key INTEGER PRIMARY KEY,
  at_ms     INTEGER NOT NULL,
  actor     TEXT    NOT NULL,
  action    TEXT    NOT NULL,
  reason    TEXT    NOT NULL,
  detail    TEXT    NOT NULL,
  task_key  INTEGER NOT NULL,  -- 0: none
  agent     TEXT    NOT NULL,
  caller    TEXT    NOT NULL,
  public_id TEXT    NOT NULL,
  outcome   TEXT    NOT NULL   -- 'done', or the code of an error
) STRICT;
CREATE INDEX audit_by_task ON audit (task_key) WHERE task_key <> 0;

-- What operators have switched at an agent; no row: nothing.
CREATE TABLE agent_controls (
  agent  TEXT    PRIMARY KEY,
  paused INTEGER NOT NULL,
  actor  TEXT    NOT NULL,
  reason TEXT    NOT NULL,
  at_ms  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- One action on each of many tasks.
CREATE TABLE bulk_jobs (
  job_key INTEGER PRIMARY KEY,
  at_ms   INTEGER NOT NULL,
  actor   TEXT    NOT NULL,
  action  TEXT    NOT NULL,
  reason  TEXT    NOT NULL,
  filter  TEXT    NOT NULL,  -- as the operator gave it
  tasks   INTEGER NOT NULL,
  state   TEXT    NOT NULL CHECK (state IN ('preparing', 'running', 'done', 'abandoned')),
  done    INTEGER NOT NULL,
  refused INTEGER NOT NULL
) STRICT;
CREATE TABLE bulk_items (
  job_key  INTEGER NOT NULL REFERENCES bulk_jobs,
  task_key INTEGER NOT NULL,
  outcome  TEXT    NOT NULL,  -- empty: not acted on yet; else as in audit
  detail   TEXT    NOT NULL,
  PRIMARY KEY (job_key, task_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX bulk_items_open ON bulk_items (job_key, task_key) WHERE outcome = '';
