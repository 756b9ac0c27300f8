-- What the chat protocols ask of the store: runs, users, clients that keep the conversation themselves.

-- Empty: nobody's.
ALTER TABLE contexts ADD COLUMN owner TEXT NOT NULL DEFAULT '';

-- A JSON list of messages, or empty.
ALTER TABLE turn_requests ADD COLUMN history TEXT NOT NULL DEFAULT '';

-- The statuses with which a task stopped: between them are its runs.
CREATE TABLE stops (
  task_key INTEGER NOT NULL REFERENCES tasks,
  number   INTEGER NOT NULL,
  PRIMARY KEY (task_key, number)
) STRICT, WITHOUT ROWID;
INSERT INTO stops SELECT task_key, number FROM events
  WHERE kind = 1 AND iif(json_valid(body), json_extract(body, '$.s'), NULL)
    IN ('completed', 'canceled', 'failed', 'rejected', 'input-required', 'auth-required');
