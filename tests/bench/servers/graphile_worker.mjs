// One job for each request on graphile-worker, with the preset of its guide to performance. With BENCH_GATHER=1,
// concurrent jobs are added in one call.
import { Logger, makeWorkerUtils, run } from "graphile-worker";
import { Gathered, Waiting, database, serve } from "./answer.mjs";

const waiting = new Waiting();
const preset = {
  worker: {
    connectionString: database,
    concurrentJobs: 24,
    maxPoolSize: 25,
    localQueue: { size: 500 },
    completeJobBatchDelay: 0,
    failJobBatchDelay: 0,
    logger: new Logger(() => () => {}), // the default logger writes a line for each job
  },
};
const taskList = { echo: async ({ id, text }) => waiting.ended(id, text) };
await run({ preset, taskList, noHandleSignals: true, parsedCronItems: [] });
const utils = await makeWorkerUtils({ preset });
const gathered = new Gathered((jobs) => utils.addJobs(jobs.map((payload) => ({ identifier: "echo", payload }))));
const add = process.env.BENCH_GATHER === "1" ? (job) => gathered.add(job) : (job) => utils.addJob("echo", job);
serve((text) => waiting.endedAfter((id) => add({ id, text })));
