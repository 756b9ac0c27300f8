-- What callers call their conversations. One without a title is called by its first words.
CREATE TABLE titles (
  agent   text COLLATE "C" NOT NULL,
  caller  text COLLATE "C" NOT NULL,
  context text COLLATE "C" NOT NULL,
  title   text COLLATE "C" NOT NULL,
  PRIMARY KEY (agent, caller, context)
);
