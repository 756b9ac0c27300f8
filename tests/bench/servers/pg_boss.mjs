// One job for each request on pg-boss. BENCH_NOTIFY=1: its workers are woken by LISTEN/NOTIFY, otherwise they poll as
// often as it lets them. BENCH_GATHER=1: jobs that are to be sent at the same time are inserted in one call.
import { PgBoss } from "pg-boss";
import { Gathered, Waiting, database, serve } from "./answer.mjs";

const notify = process.env.BENCH_NOTIFY === "1";
const waiting = new Waiting();
const boss = new PgBoss({ connectionString: database, useListenNotify: notify });
boss.on("error", console.error);
await boss.start();
await boss.createQueue("echo", { notify });
// Woken workers all look at once, so one with large batches does more than several. Polling ones wait only after a
// batch that is not full.
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
