-- The first schema. What each table promises is written in schema/README.md.

CREATE TABLE migrations (
  number     INTEGER PRIMARY KEY,
  name       TEXT    NOT NULL,
  applied_ms INTEGER NOT NULL
) STRICT;

-- Contexts of more than one task, or with a long task.
CREATE TABLE contexts (
  context_key INTEGER PRIMARY KEY,
  agent       TEXT    NOT NULL,
  caller      TEXT    NOT NULL,
  public_id   TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX contexts_by_id ON contexts (agent, caller, public_id);
-- Referenced by tasks that are alone in a context without a row.
INSERT INTO contexts (context_key, agent, caller, public_id) VALUES (0, '', '', '');

-- One small row per task: its identity and its head. Every change updates it.
CREATE TABLE tasks (
  task_key         INTEGER PRIMARY KEY,
  agent            TEXT    NOT NULL,
  caller           TEXT    NOT NULL,
  public_id        TEXT    NOT NULL,
  context_key      INTEGER NOT NULL REFERENCES contexts,  -- 0: alone in a context without a row
  parent_key       INTEGER REFERENCES tasks,              -- the task that delegated this one
  origin           INTEGER NOT NULL,                      -- protocol version of the client that made it
  created_ms       INTEGER NOT NULL,
  version          INTEGER NOT NULL,
  state            TEXT    NOT NULL,
  status_event     INTEGER NOT NULL,
  last_event       INTEGER NOT NULL,
  turn             INTEGER NOT NULL,
  turn_state       TEXT    NOT NULL,
  attempt          INTEGER NOT NULL,
  turn_message     INTEGER NOT NULL,
  turn_begin       INTEGER NOT NULL,  -- the last event before the turn's own output
  awaited          INTEGER NOT NULL,  -- children that the turn waits for
  waiting_messages INTEGER NOT NULL,
  cancel_requested INTEGER NOT NULL,
  ask              TEXT    NOT NULL,
  artifact_count   INTEGER NOT NULL,
  message_count    INTEGER NOT NULL,
  status_ms        INTEGER NOT NULL,  -- the time in the status; of a task without one, its creation
  indexed          INTEGER NOT NULL,  -- 1: has rows in landmarks and artifacts
  bytes            INTEGER NOT NULL,  -- of the event bodies in its log
  hidden           INTEGER NOT NULL   -- 1: in no list and no total, because a message alone answered it
) STRICT;
CREATE UNIQUE INDEX tasks_by_id ON tasks (agent, caller, public_id);
-- The indexes of lists hold tasks at rest, and everything that a list filters by. Tasks with a turn are few; they
-- have an index of their own, and are merged into the page.
CREATE INDEX tasks_listed ON tasks (agent, caller, status_ms, public_id, state)
  WHERE turn_state = 'none' AND hidden = 0;
CREATE INDEX tasks_in_context ON tasks (context_key, status_ms, public_id, state)
  WHERE turn_state = 'none' AND hidden = 0 AND context_key <> 0;
CREATE INDEX tasks_unfinished ON tasks (agent, caller) WHERE turn_state <> 'none';
CREATE INDEX tasks_open_children ON tasks (parent_key)
  WHERE parent_key IS NOT NULL AND state NOT IN ('completed', 'canceled', 'failed', 'rejected');

-- How many tasks are in tasks_listed, so that a list's total is not counted.
CREATE TABLE task_totals (
  agent  TEXT    NOT NULL,
  caller TEXT    NOT NULL,
  state  TEXT    NOT NULL,
  tasks  INTEGER NOT NULL,
  PRIMARY KEY (agent, caller, state)
) STRICT, WITHOUT ROWID;

-- Apart from tasks, because a head is rewritten often and metadata may be long.
CREATE TABLE task_metadata (
  task_key INTEGER PRIMARY KEY REFERENCES tasks,
  metadata TEXT    NOT NULL
) STRICT;

-- The log: the only copy of content. event_key is task_key * 2^28 + number, so that a task's events lie together, in
-- order, and the tree's inner pages hold only numbers.
CREATE TABLE events (
  event_key INTEGER PRIMARY KEY,
  kind      INTEGER NOT NULL,
  at_ms     INTEGER NOT NULL,
  body      TEXT    NOT NULL
) STRICT;

-- The next two tables are an index of long logs. Only tasks with `indexed` have rows here: reading all of a short log
-- tells the same.

-- Events of the task's history, and statuses with which it stopped. Between two of those is a run.
CREATE TABLE landmarks (
  event_key INTEGER PRIMARY KEY REFERENCES events
) STRICT;

CREATE TABLE artifacts (
  task_key  INTEGER NOT NULL REFERENCES tasks,
  public_id TEXT    NOT NULL,
  ordinal   INTEGER NOT NULL,
  withdrawn INTEGER NOT NULL,
  PRIMARY KEY (task_key, public_id)
) STRICT, WITHOUT ROWID;

-- Events of the conversation in a context with a row: messages, and where streamed replies begin.
CREATE TABLE conversation (
  context_key INTEGER NOT NULL REFERENCES contexts,
  at_ms       INTEGER NOT NULL,
  task_key    INTEGER NOT NULL,
  number      INTEGER NOT NULL,
  PRIMARY KEY (context_key, at_ms, task_key, number)
) STRICT, WITHOUT ROWID;

-- Ids of tool calls in a context with a row: chat clients know calls by their ids, so none is used twice.
CREATE TABLE calls (
  context_key INTEGER NOT NULL REFERENCES contexts,
  call_id     TEXT    NOT NULL,
  PRIMARY KEY (context_key, call_id)
) STRICT, WITHOUT ROWID;

-- What came with a message, where anything did.
CREATE TABLE turn_requests (
  task_key     INTEGER NOT NULL REFERENCES tasks,
  number       INTEGER NOT NULL,  -- of the message
  metadata     TEXT    NOT NULL,
  tools        TEXT    NOT NULL,
  client_state TEXT    NOT NULL,
  extensions   TEXT    NOT NULL,  -- a JSON list of strings, or empty
  history      TEXT    NOT NULL,  -- a JSON list of messages, or empty
  PRIMARY KEY (task_key, number)
) STRICT, WITHOUT ROWID;

-- Recent sends, in order of time, to recognise repeated ones.
CREATE TABLE sends (
  send_key    INTEGER PRIMARY KEY,
  digest_high INTEGER NOT NULL,
  digest_low  INTEGER NOT NULL,
  at_ms       INTEGER NOT NULL,
  task_key    INTEGER NOT NULL,
  before      INTEGER NOT NULL  -- the event that its own events follow
) STRICT;

-- Sends are found by slices of sorted digests, each written once: an index would write a page in a random place for
-- each send. A slice has the sends from first_key to last_key; those after the last slice are in none.
CREATE TABLE send_slices (
  last_key  INTEGER PRIMARY KEY,
  first_key INTEGER NOT NULL,
  newest_ms INTEGER NOT NULL  -- the latest time of its sends
) STRICT;

-- A slice's digests in pieces: page_key is last_key * 1024 for the first one, and counts on from there.
CREATE TABLE send_slice_pages (
  page_key INTEGER PRIMARY KEY,
  digests  BLOB NOT NULL  -- for each send, sorted: digest_high (8 bytes), send_key - first_key (4), little-endian
) STRICT;

CREATE TABLE push_configs (
  config_key           INTEGER PRIMARY KEY,
  task_key             INTEGER NOT NULL REFERENCES tasks,
  public_id            TEXT    NOT NULL,
  url                  TEXT    NOT NULL,
  token                TEXT    NOT NULL,
  schemes              TEXT    NOT NULL,  -- a JSON list of strings
  credentials          TEXT    NOT NULL,
  authentication_extra TEXT    NOT NULL,
  version              INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX push_configs_by_id ON push_configs (task_key, public_id);

-- One webhook call: this event, to this config.
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
