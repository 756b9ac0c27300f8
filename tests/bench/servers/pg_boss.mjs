// One job for each request on pg-boss. With BENCH_NOTIFY=1, LISTEN/NOTIFY wakes its workers; otherwise they poll as
// often as it allows. With BENCH_GATHER=1, concurrent jobs are inserted in one call.
import { PgBoss } from "pg-boss";
import { Gathered, Waiting, database, serve } from "./answer.mjs";

const notify = process.env.BENCH_NOTIFY === "1";
const waiting = new Waiting();
const boss = new PgBoss({ connectionString: database, useListenNotify: notify });
boss.on("error", console.error);
await boss.start();
await boss.createQueue("echo", { notify });
// Workers that are woken all query at the same time, so one with large batches is faster than several. Polling workers
// wait only after a batch that is not full.
const options = {
  batchSize: notify ? 64 : 8,
  localConcurrency: notify ? 1 : 16,
  pollingIntervalSeconds: 0.5,
  burstWhenBatchFull: true,
};
await boss.work("echo", options, async (jobs) => {
  for (const { data } of jobs) waiting.ended(data.id, data.text);
});
const gathered = new Gathered((jobs) => boss.insert("echo", jobs.map((data) => ({ data }))));
const send = process.env.BENCH_GATHER === "1" ? (job) => gathered.add(job) : (job) => boss.send("echo", job);
serve((text) => waiting.endedAfter((id) => send({ id, text })));
