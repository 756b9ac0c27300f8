-- The node that has made a delivery due, and sends it.
ALTER TABLE deliveries ADD COLUMN sender bigint NOT NULL DEFAULT 0;
DROP INDEX deliveries_due;
CREATE INDEX deliveries_due ON deliveries (sender, due_ms) WHERE due_ms IS NOT NULL;
