-- Several nodes share the database. What each says of itself, and what an operator has asked of it.
ALTER TABLE nodes
  ADD COLUMN name           text   COLLATE "C" NOT NULL DEFAULT '',  -- its machine's, or what is set
  ADD COLUMN version        text   COLLATE "C" NOT NULL DEFAULT '',  -- of the program
  ADD COLUMN state          text   COLLATE "C" NOT NULL DEFAULT 'serving' CHECK (state IN ('joining', 'serving', 'left')),
  ADD COLUMN knows          bigint NOT NULL DEFAULT 0,  -- the highest node_id that it has seen, itself included
  ADD COLUMN running        bigint NOT NULL DEFAULT 0,  -- turns
  ADD COLUMN queued         bigint NOT NULL DEFAULT 0,
  ADD COLUMN draining       bigint NOT NULL DEFAULT 0,
  ADD COLUMN asked_to_drain bigint NOT NULL DEFAULT 0,
  ADD COLUMN agents         text   COLLATE "C" NOT NULL DEFAULT '[]';  -- a JSON list of [name, digest of the card]
-- Rows that are updated all the time, and are few.
ALTER TABLE nodes SET (fillfactor = 20);
