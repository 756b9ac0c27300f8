-- Sends are found by slices of sorted digests, each of which is written once. The pages of an index were written in
-- random order, one for each send.
DROP INDEX sends_by_digest;

-- A slice has the sends from first_key up to last_key; those after the last slice are in none.
CREATE TABLE send_slices (
  last_key  INTEGER PRIMARY KEY,
  first_key INTEGER NOT NULL,
  newest_ms INTEGER NOT NULL  -- the highest time of its sends
) STRICT;

-- Its digests in pieces: page_key is last_key * 1024 and counts on from there.
CREATE TABLE send_slice_pages (
  page_key INTEGER PRIMARY KEY,
  digests  BLOB NOT NULL  -- for each send, sorted: digest_high (8 bytes), send_key - first_key (4), little-endian
) STRICT;
