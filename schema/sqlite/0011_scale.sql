-- How many processes an agent keeps and how many turns it runs at once, as an operator has said. 0: as its card says.
ALTER TABLE agent_controls ADD COLUMN workers INTEGER NOT NULL DEFAULT 0;
ALTER TABLE agent_controls ADD COLUMN concurrency INTEGER NOT NULL DEFAULT 0;
