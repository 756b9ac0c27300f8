// A durable workflow of three steps on DBOS, with its default settings. More than its ten connections did not help.
import { DBOS } from "@dbos-inc/dbos-sdk";
import { database, serve } from "./answer.mjs";

async function threeSteps(text) {
  let result = text;
  for (const name of ["one", "two", "three"]) result = await DBOS.runStep(async () => text, { name });
  return result;
}

const workflow = DBOS.registerWorkflow(threeSteps, { name: "three" });
DBOS.setConfig({ name: "bench", systemDatabaseUrl: database, logLevel: "error" });
await DBOS.launch();
serve((text) => workflow(text));
