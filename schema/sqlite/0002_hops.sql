-- The agents on other servers through which a request has come, a list; empty: it came from its caller.
ALTER TABLE turn_requests ADD COLUMN hops TEXT NOT NULL DEFAULT '';
