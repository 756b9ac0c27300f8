-- What callers call their conversations. One without a title is called by its first words.
CREATE TABLE titles (
  agent   TEXT NOT NULL,
  caller  TEXT NOT NULL,
  context TEXT NOT NULL,
  title   TEXT NOT NULL,
  PRIMARY KEY (agent, caller, context)
) STRICT, WITHOUT ROWID;
