-- The first schema. What each table promises is written in schema/README.md.

CREATE TABLE migrations (
  number     INTEGER PRIMARY KEY,
  name       TEXT    NOT NULL,
  applied_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE contexts (
  context_key INTEGER PRIMARY KEY,
  agent       TEXT    NOT NULL,
  caller      TEXT    NOT NULL,
  public_id   TEXT    NOT NULL,
  created_ms  INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX contexts_by_id ON contexts (agent, caller, public_id);

-- One small row for each task: who and where it is, and its head. Updated by every change.
CREATE TABLE tasks (
  task_key         INTEGER PRIMARY KEY,
  agent            TEXT    NOT NULL,
  caller           TEXT    NOT NULL,
  public_id        TEXT    NOT NULL,
  context_key      INTEGER NOT NULL REFERENCES contexts,
  parent_key       INTEGER REFERENCES tasks,
  origin           INTEGER NOT NULL,
  trace            TEXT    NOT NULL,
  created_ms       INTEGER NOT NULL,
  updated_ms       INTEGER NOT NULL,
  version          INTEGER NOT NULL,
  state            TEXT    NOT NULL,
  status_event     INTEGER NOT NULL,
  last_event       INTEGER NOT NULL,
  turn             INTEGER NOT NULL,
  turn_state       TEXT    NOT NULL,
  attempt          INTEGER NOT NULL,
  turn_message     INTEGER NOT NULL,
  waiting_messages INTEGER NOT NULL,
  cancel_requested INTEGER NOT NULL,
  ask              TEXT    NOT NULL,
  artifact_count   INTEGER NOT NULL,
  message_count    INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX tasks_by_id ON tasks (agent, caller, public_id);
CREATE INDEX tasks_open_children ON tasks (parent_key)
  WHERE parent_key IS NOT NULL AND state NOT IN ('completed', 'canceled', 'failed', 'rejected');
CREATE INDEX tasks_unfinished ON tasks (task_key) WHERE turn_state <> 'none';

-- Apart from tasks, because a head is rewritten often and metadata may be long.
CREATE TABLE task_metadata (
  task_key INTEGER PRIMARY KEY REFERENCES tasks,
  metadata TEXT    NOT NULL
) STRICT;

-- The log: the only place where content is.
CREATE TABLE events (
  task_key INTEGER NOT NULL REFERENCES tasks,
  number   INTEGER NOT NULL,
  kind     INTEGER NOT NULL,
  at_ms    INTEGER NOT NULL,
  body     TEXT    NOT NULL,
  PRIMARY KEY (task_key, number)
) STRICT, WITHOUT ROWID;

-- Which events are the task's history.
CREATE TABLE messages (
  task_key INTEGER NOT NULL REFERENCES tasks,
  number   INTEGER NOT NULL,
  role     INTEGER NOT NULL CHECK (role IN (0, 1)),  -- 0 user, 1 agent
  PRIMARY KEY (task_key, number)
) STRICT, WITHOUT ROWID;

-- Which events are the conversation of a context: messages, and where streamed replies begin.
CREATE TABLE conversation (
  context_key   INTEGER NOT NULL REFERENCES contexts,
  at_ms         INTEGER NOT NULL,
  task_key      INTEGER NOT NULL,
  number        INTEGER NOT NULL,
  reply_ordinal INTEGER,  -- of the reply that begins here; NULL for a message
  PRIMARY KEY (context_key, at_ms, task_key, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE artifacts (
  task_key  INTEGER NOT NULL REFERENCES tasks,
  ordinal   INTEGER NOT NULL,
  public_id TEXT    NOT NULL,
  PRIMARY KEY (task_key, ordinal)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX artifacts_by_id ON artifacts (task_key, public_id);

-- Which events are the content of an artifact.
CREATE TABLE artifact_parts (
  task_key INTEGER NOT NULL,
  ordinal  INTEGER NOT NULL,
  number   INTEGER NOT NULL,
  mark     INTEGER NOT NULL CHECK (mark IN (0, 1, 2)),  -- 0 goes on, 1 begins (anew), 2 is withdrawn
  PRIMARY KEY (task_key, ordinal, number),
  FOREIGN KEY (task_key, ordinal) REFERENCES artifacts
) STRICT, WITHOUT ROWID;
CREATE INDEX artifact_marks ON artifact_parts (task_key, ordinal, number, mark) WHERE mark > 0;

-- What came with a message beside it, where anything did.
CREATE TABLE turn_requests (
  task_key     INTEGER NOT NULL REFERENCES tasks,
  number       INTEGER NOT NULL,
  metadata     TEXT    NOT NULL,
  tools        TEXT    NOT NULL,
  client_state TEXT    NOT NULL,
  PRIMARY KEY (task_key, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE push_configs (
  config_key           INTEGER PRIMARY KEY,
  task_key             INTEGER NOT NULL REFERENCES tasks,
  public_id            TEXT    NOT NULL,
  url                  TEXT    NOT NULL,
  token                TEXT    NOT NULL,
  schemes              TEXT    NOT NULL,  -- a JSON list of strings
  credentials          TEXT    NOT NULL,
  authentication_extra TEXT    NOT NULL,
  generation           INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX push_configs_by_id ON push_configs (task_key, public_id);

-- One webhook call to be made: this event, to this config.
CREATE TABLE deliveries (
  delivery_key INTEGER PRIMARY KEY,
  config_key   INTEGER NOT NULL REFERENCES push_configs,
  task_key     INTEGER NOT NULL,
  event_number INTEGER NOT NULL,
  state        TEXT    NOT NULL CHECK (state IN ('waiting', 'delivered', 'given-up')),
  due_ms       INTEGER,  -- NULL unless it is the first waiting one of its config
  created_ms   INTEGER NOT NULL,
  attempts     INTEGER NOT NULL,
  error        TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX deliveries_by_event ON deliveries (config_key, event_number);
CREATE INDEX deliveries_due ON deliveries (due_ms) WHERE due_ms IS NOT NULL;
CREATE INDEX deliveries_open ON deliveries (state) WHERE state <> 'delivered';
