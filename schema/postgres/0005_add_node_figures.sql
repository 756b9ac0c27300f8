-- What a node says of itself with each sign of life: how long the turn has waited there that has waited longest, and how
-- long the database took to answer the sign of life before.
ALTER TABLE nodes
  ADD COLUMN lag_ms      bigint NOT NULL DEFAULT 0,
  ADD COLUMN database_us bigint NOT NULL DEFAULT 0;
