-- The trace that a message came with: W3C Trace Context's `traceparent`; empty: none.
ALTER TABLE turn_requests ADD COLUMN trace TEXT NOT NULL DEFAULT '';
-- For webhooks: the last trace of a task before an event.
CREATE INDEX turn_traces ON turn_requests (task_key, number, trace) WHERE trace <> '';
