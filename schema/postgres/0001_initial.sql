-- The tables of the PostgreSQL store; what they promise is in schema/README.md. Names are those of the SQLite store's,
-- as both use the same statements. Every number is a bigint, and texts are ordered by their bytes.

CREATE TABLE migrations (
  number     bigint PRIMARY KEY,
  name       text   NOT NULL,
  applied_ms bigint NOT NULL
);

-- One life of one process each; an id is never used again. It has the database until it gives it back, or has not
-- renewed its lease.
CREATE SEQUENCE node_ids AS bigint;
CREATE TABLE nodes (
  node_id     bigint PRIMARY KEY,
  started_ms  bigint NOT NULL,
  lease_until timestamptz NOT NULL  -- by the database's clock
);
-- The number of the last group that came through a lane, which is one writing connection of a node. Each group raises
-- it by one, and fails if it cannot: so whoever lost the answer to a commit can tell what became of it, and whoever
-- deletes the row keeps a node that is taken for dead from writing.
CREATE TABLE lanes (
  node_id    bigint NOT NULL,
  lane       bigint NOT NULL,
  last_group bigint NOT NULL,
  PRIMARY KEY (node_id, lane)
) WITH (fillfactor = 20);

-- A writer takes keys in blocks.
CREATE SEQUENCE task_keys AS bigint INCREMENT 1000;
CREATE SEQUENCE context_keys AS bigint INCREMENT 1000;
CREATE SEQUENCE config_keys AS bigint INCREMENT 1000;
CREATE SEQUENCE delivery_keys AS bigint INCREMENT 1000;

CREATE TABLE contexts (
  context_key bigint PRIMARY KEY,
  agent       text COLLATE "C" NOT NULL,
  caller      text COLLATE "C" NOT NULL,
  public_id   text COLLATE "C" NOT NULL
);
CREATE UNIQUE INDEX contexts_by_id ON contexts (agent, caller, public_id);
-- For tasks that are alone in a context without a row.
INSERT INTO contexts (context_key, agent, caller, public_id) VALUES (0, '', '', '');

-- Half of each page is left free, so that a head that changes soon after it was made stays on its page.
CREATE TABLE tasks (
  task_key         bigint PRIMARY KEY,
  agent            text   COLLATE "C" NOT NULL,
  caller           text   COLLATE "C" NOT NULL,
  public_id        text   COLLATE "C" NOT NULL,
  context_key      bigint NOT NULL,  -- 0: alone in a context without a row
  parent_key       bigint,           -- the task that delegated this one
  origin           bigint NOT NULL,  -- protocol version of the client that made it
  created_ms       bigint NOT NULL,
  version          bigint NOT NULL,
  state            text   COLLATE "C" NOT NULL,
  status_event     bigint NOT NULL,
  last_event       bigint NOT NULL,
  turn             bigint NOT NULL,
  turn_state       text   COLLATE "C" NOT NULL,
  attempt          bigint NOT NULL,
  turn_message     bigint NOT NULL,
  turn_begin       bigint NOT NULL,  -- the last event before the turn's own output
  awaited          bigint NOT NULL,  -- children that the turn waits for
  waiting_messages bigint NOT NULL,
  cancel_requested bigint NOT NULL,
  ask              text   COLLATE "C" NOT NULL,
  artifact_count   bigint NOT NULL,
  message_count    bigint NOT NULL,
  status_ms        bigint NOT NULL,  -- the time in the status; of a task without one, its creation
  indexed          bigint NOT NULL,  -- 1: has rows in landmarks and artifacts
  bytes            bigint NOT NULL,  -- of the event bodies in its log
  hidden           bigint NOT NULL,  -- 1: in no list and no total, because a message alone answered it
  waits_open_max   bigint NOT NULL DEFAULT 0,
  waits_on_failure bigint NOT NULL DEFAULT 0,
  waits_until_ms   bigint,
  child_failed     bigint NOT NULL DEFAULT 0,
  detached         bigint NOT NULL DEFAULT 0,
  tokens           bigint NOT NULL DEFAULT 0,
  children         bigint NOT NULL DEFAULT 0,
  budget           text   COLLATE "C",  -- as JSON (src/store/budget_codec.h); NULL: no bound of its own
  trace            text   COLLATE "C" NOT NULL  -- what its first message came with; empty: nothing
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX tasks_by_id ON tasks (agent, caller, public_id);
CREATE INDEX tasks_listed ON tasks (agent, caller, status_ms, public_id, state)
  WHERE turn_state = 'none' AND hidden = 0;
CREATE INDEX tasks_in_context ON tasks (context_key, status_ms, public_id, state)
  WHERE turn_state = 'none' AND hidden = 0 AND context_key <> 0;
CREATE INDEX tasks_by_context ON tasks (context_key) WHERE context_key <> 0;
CREATE INDEX tasks_unfinished ON tasks (agent, caller) WHERE turn_state <> 'none';
CREATE INDEX tasks_open_children ON tasks (parent_key)
  WHERE parent_key IS NOT NULL AND state NOT IN ('completed', 'canceled', 'failed', 'rejected');
CREATE INDEX tasks_by_time ON tasks (status_ms, task_key, state, agent, caller)
  WHERE turn_state = 'none' AND hidden = 0;
CREATE INDEX tasks_not_completed ON tasks (state, status_ms, task_key, agent, caller)
  WHERE turn_state = 'none' AND hidden = 0 AND state <> 'completed';
CREATE INDEX tasks_by_parent ON tasks (parent_key) WHERE parent_key IS NOT NULL;

-- How many tasks are in tasks_listed: the sum over all lanes, as a row that all share would let one write at a time.
CREATE TABLE task_totals (
  node_id bigint NOT NULL,  -- 0: of nodes that are gone
  lane    bigint NOT NULL,
  agent   text   COLLATE "C" NOT NULL,
  caller  text   COLLATE "C" NOT NULL,
  state   text   COLLATE "C" NOT NULL,
  tasks   bigint NOT NULL,
  PRIMARY KEY (agent, caller, state, node_id, lane)
) WITH (fillfactor = 50);

CREATE TABLE task_metadata (
  task_key bigint PRIMARY KEY,
  metadata text   COLLATE "C" NOT NULL
);

-- The log: the only copy of content. event_key is task_key * 2^28 + number.
CREATE TABLE events (
  event_key bigint PRIMARY KEY,
  kind      bigint NOT NULL,
  at_ms     bigint NOT NULL,
  body      text   COLLATE "C" NOT NULL
);
-- Where the server has lz4: from version 14 on, if built with it.
DO $$ BEGIN
  EXECUTE 'ALTER TABLE events ALTER COLUMN body SET COMPRESSION lz4';
EXCEPTION WHEN OTHERS THEN NULL;
END $$;
CREATE TABLE landmarks (
  event_key bigint PRIMARY KEY
);
CREATE TABLE artifacts (
  task_key  bigint NOT NULL,
  public_id text   COLLATE "C" NOT NULL,
  ordinal   bigint NOT NULL,
  withdrawn bigint NOT NULL,
  PRIMARY KEY (task_key, public_id)
);

CREATE TABLE conversation (
  context_key bigint NOT NULL,
  at_ms       bigint NOT NULL,
  task_key    bigint NOT NULL,
  number      bigint NOT NULL,
  PRIMARY KEY (context_key, at_ms, task_key, number)
);
CREATE TABLE calls (
  context_key bigint NOT NULL,
  call_id     text   COLLATE "C" NOT NULL,
  PRIMARY KEY (context_key, call_id)
);

CREATE TABLE turn_requests (
  task_key     bigint NOT NULL,
  number       bigint NOT NULL,  -- of the message
  metadata     text   COLLATE "C" NOT NULL,
  tools        text   COLLATE "C" NOT NULL,
  client_state text   COLLATE "C" NOT NULL,
  extensions   text   COLLATE "C" NOT NULL,  -- a JSON list of strings, or empty
  history      text   COLLATE "C" NOT NULL,  -- a JSON list of messages, or empty
  hops         text   COLLATE "C" NOT NULL,  -- the agents on other servers through which it has come, a list
  trace        text   COLLATE "C" NOT NULL,
  PRIMARY KEY (task_key, number)
);
CREATE INDEX turn_traces ON turn_requests (task_key, number, trace) WHERE trace <> '';

CREATE TABLE sends (
  digest_high bigint NOT NULL,
  digest_low  bigint NOT NULL,
  at_ms       bigint NOT NULL,
  task_key    bigint NOT NULL,
  before      bigint NOT NULL,  -- the event that its own events follow
  PRIMARY KEY (digest_high, digest_low)
);
CREATE INDEX sends_by_time ON sends (at_ms);

CREATE TABLE push_configs (
  config_key           bigint PRIMARY KEY,
  task_key             bigint NOT NULL,
  public_id            text   COLLATE "C" NOT NULL,
  url                  text   COLLATE "C" NOT NULL,
  token                text   COLLATE "C" NOT NULL,
  schemes              text   COLLATE "C" NOT NULL,  -- a JSON list of strings
  credentials          text   COLLATE "C" NOT NULL,
  authentication_extra text   COLLATE "C" NOT NULL,
  version              bigint NOT NULL
);
CREATE UNIQUE INDEX push_configs_by_id ON push_configs (task_key, public_id);

CREATE TABLE deliveries (
  delivery_key bigint PRIMARY KEY,
  config_key   bigint NOT NULL,
  task_key     bigint NOT NULL,
  event_number bigint NOT NULL,
  state        text   COLLATE "C" NOT NULL CHECK (state IN ('waiting', 'delivered', 'given-up')),
  due_ms       bigint,  -- NULL unless it is the first waiting one of its config
  created_ms   bigint NOT NULL,
  attempts     bigint NOT NULL,
  error        text   COLLATE "C" NOT NULL
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX deliveries_by_event ON deliveries (config_key, event_number);
CREATE INDEX deliveries_due ON deliveries (due_ms) WHERE due_ms IS NOT NULL;
CREATE INDEX deliveries_open ON deliveries (state, delivery_key) WHERE state <> 'delivered';

CREATE TABLE server (name text NOT NULL);
INSERT INTO server (name) VALUES (left(replace(gen_random_uuid()::text, '-', ''), 16));

CREATE TABLE scheduled_tasks (
  task_key bigint PRIMARY KEY,
  agent    text   COLLATE "C" NOT NULL,
  schedule text   COLLATE "C" NOT NULL
);
CREATE INDEX scheduled_tasks_by_name ON scheduled_tasks (schedule, agent);

CREATE TABLE audit (
  audit_key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at_ms     bigint NOT NULL,
  actor     text   COLLATE "C" NOT NULL,
  action    text   COLLATE "C" NOT NULL,
  reason    text   COLLATE "C" NOT NULL,
  detail    text   COLLATE "C" NOT NULL,
  task_key  bigint NOT NULL,  -- 0: none
  agent     text   COLLATE "C" NOT NULL,
  caller    text   COLLATE "C" NOT NULL,
  public_id text   COLLATE "C" NOT NULL,
  outcome   text   COLLATE "C" NOT NULL  -- 'done', or the code of an error
);
CREATE INDEX audit_by_task ON audit (task_key) WHERE task_key <> 0;

CREATE TABLE agent_controls (
  agent       text   COLLATE "C" PRIMARY KEY,
  paused      bigint NOT NULL,
  actor       text   COLLATE "C" NOT NULL,
  reason      text   COLLATE "C" NOT NULL,
  at_ms       bigint NOT NULL,
  workers     bigint NOT NULL DEFAULT 0,
  concurrency bigint NOT NULL DEFAULT 0
);

CREATE TABLE bulk_jobs (
  job_key bigint PRIMARY KEY,
  at_ms   bigint NOT NULL,
  actor   text   COLLATE "C" NOT NULL,
  action  text   COLLATE "C" NOT NULL,
  reason  text   COLLATE "C" NOT NULL,
  filter  text   COLLATE "C" NOT NULL,  -- as the operator gave it
  tasks   bigint NOT NULL,
  state   text   COLLATE "C" NOT NULL CHECK (state IN ('preparing', 'running', 'done', 'abandoned')),
  done    bigint NOT NULL,
  refused bigint NOT NULL
);
CREATE TABLE bulk_items (
  job_key  bigint NOT NULL,
  task_key bigint NOT NULL,
  outcome  text   COLLATE "C" NOT NULL,  -- empty: not acted on yet; else as in audit
  detail   text   COLLATE "C" NOT NULL,
  PRIMARY KEY (job_key, task_key)
);
CREATE INDEX bulk_items_open ON bulk_items (job_key, task_key) WHERE outcome = '';

CREATE TABLE retention (
  kept_before bigint NOT NULL,
  last_task   bigint NOT NULL
);
INSERT INTO retention (kept_before, last_task) VALUES (0, 0);
CREATE TABLE removed_logs (
  task_key bigint PRIMARY KEY,
  erased   bigint NOT NULL
);
