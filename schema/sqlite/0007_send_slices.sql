-- Sends are found by slices of sorted digests, each of which is written once. The pages of an index were written in
-- random order, one for each send.
DROP INDEX sends_by_digest;

CREATE TABLE send_slices (
  last_key  INTEGER PRIMARY KEY,  -- the slice has the sends from first_key up to this one; later ones are in none
  first_key INTEGER NOT NULL,
  newest_ms INTEGER NOT NULL,     -- of the last of them
  digests   BLOB NOT NULL         -- for each, sorted: digest_high (8 bytes), send_key - first_key (4), little-endian
) STRICT;
