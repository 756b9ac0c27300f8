-- What the newer A2A versions ask of the store: lists of tasks, repeated sends, extensions of a turn.

-- The time that the status itself tells; of a task without one, the time it was made.
ALTER TABLE tasks ADD COLUMN status_ms INTEGER NOT NULL DEFAULT 0;
UPDATE tasks SET status_ms = coalesce(
  (SELECT coalesce(iif(json_valid(e.body), json_extract(e.body, '$.at'), NULL), e.at_ms)
   FROM events e WHERE e.task_key = tasks.task_key AND e.number = tasks.status_event),
  created_ms);

-- Both hold all that a list chooses by, so that counting reads nothing else.
CREATE INDEX tasks_listed ON tasks (agent, caller, status_ms, public_id, state);
CREATE INDEX tasks_in_context ON tasks (context_key, status_ms, public_id, state);

-- A JSON list of strings, or empty.
ALTER TABLE turn_requests ADD COLUMN extensions TEXT NOT NULL DEFAULT '';

-- Sends of the last time, in order of time, by which repeated ones are known. The digest has two halves; one is
-- enough for the index, whose entries come in random places and must be small.
CREATE TABLE sends (
  send_key    INTEGER PRIMARY KEY,
  digest_high INTEGER NOT NULL,
  digest_low  INTEGER NOT NULL,
  at_ms       INTEGER NOT NULL,
  task_key    INTEGER NOT NULL,
  before      INTEGER NOT NULL  -- the event that its own events follow
) STRICT;
CREATE INDEX sends_by_digest ON sends (digest_high);
