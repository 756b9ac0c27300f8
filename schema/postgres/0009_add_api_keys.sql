-- API keys, without their secrets. Few: two that are valid for each caller, and those that ended in the last days.
CREATE TABLE api_keys (
  key_id         text   COLLATE "C" PRIMARY KEY,  -- the part of a key that is no secret
  digest         text   COLLATE "C" NOT NULL,     -- SHA-256 of the secret, in hexadecimal
  caller         text   COLLATE "C" NOT NULL,
  role           text   COLLATE "C" NOT NULL,     -- caller, viewer or operator
  scopes         text   COLLATE "C" NOT NULL,     -- separated by spaces
  agents         text   COLLATE "C" NOT NULL,     -- separated by spaces; empty: all
  binds_children bigint NOT NULL,                 -- its tasks may delegate to `agents` only
  created_by     text   COLLATE "C" NOT NULL,     -- the operator
  created_ms     bigint NOT NULL,
  lifetime_ms    bigint NOT NULL,                 -- as given; 0: without end
  expires_ms     bigint NOT NULL,                 -- 0: never
  revoked_ms     bigint NOT NULL,                 -- 0: it is not
  used_ms        bigint NOT NULL,                 -- for the last time, to the minute; 0: never
  changed        bigint NOT NULL                  -- grows with each change but that of used_ms; for other nodes
);
