-- API keys, without their secrets. Few: two that are valid for each caller, and those that ended in the last days.
CREATE TABLE api_keys (
  key_id         TEXT NOT NULL PRIMARY KEY,  -- the part of a key that is no secret
  digest         TEXT NOT NULL,              -- SHA-256 of the secret, in hexadecimal
  caller         TEXT NOT NULL,
  role           TEXT NOT NULL,              -- caller, viewer or operator
  scopes         TEXT NOT NULL,              -- separated by spaces
  agents         TEXT NOT NULL,              -- separated by spaces; empty: all
  binds_children INTEGER NOT NULL,           -- its tasks may delegate to `agents` only
  created_by     TEXT NOT NULL,              -- the operator
  created_ms     INTEGER NOT NULL,
  lifetime_ms    INTEGER NOT NULL,           -- as given; 0: without end
  expires_ms     INTEGER NOT NULL,           -- 0: never
  revoked_ms     INTEGER NOT NULL,           -- 0: it is not
  used_ms        INTEGER NOT NULL,           -- for the last time, to the minute; 0: never
  changed        INTEGER NOT NULL            -- grows with each change but that of used_ms; for PostgreSQL's nodes
) STRICT, WITHOUT ROWID;
