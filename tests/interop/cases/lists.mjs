import assert from "node:assert/strict";
import { textOf, withDesk } from "./tools.mjs";

async function makeTasks(desk) {
  const first = await desk.send("echo task 1");
  const tasks = [first];
  for (let number = 2; number <= 4; ++number)
    tasks.push(await desk.send(`echo task ${number}`, { contextId: first.contextId }));
  tasks.push(await desk.send("ask task 5", { contextId: first.contextId }));
  return tasks;
}

async function readPages(desk, contextId) {
  const pages = [];
  let pageToken = "";
  do {
    const page = await desk.list({ contextId, pageSize: 2, pageToken });
    assert.deepEqual([page.pageSize, page.totalSize], [2, 5]);
    pages.push(page.tasks.map((task) => task.id));
    pageToken = page.nextPageToken;
  } while (pageToken !== "" && pages.length < 9);
  return pages;
}

export const paging = {
  operation: "list with paging",
  needs: "list",
  run: (client, world) =>
    withDesk(client, world, async (desk) => {
      const tasks = await makeTasks(desk);
      const newestFirst = tasks.map((task) => task.id).reverse();
      const pages = await readPages(desk, tasks[0].contextId);
      assert.deepEqual(
        pages.map((page) => page.length),
        [2, 2, 1],
      );
      assert.deepEqual(pages.flat(), newestFirst);
    }),
};

export const filters = {
  operation: "list with filters",
  needs: "list",
  run: (client, world) =>
    withDesk(client, world, async (desk) => {
      const tasks = await makeTasks(desk);
      const { contextId } = tasks[0];
      const ids = async (filter) => (await desk.list({ contextId, ...filter })).tasks.map((task) => task.id);
      assert.deepEqual(await ids({ state: "input-required" }), [tasks[4].id]);
      assert.deepEqual(await ids({ state: "failed" }), []);
      assert.deepEqual(await ids({ after: tasks[3].at }), [tasks[4].id, tasks[3].id]);
      const bare = await desk.list({ contextId, state: "completed", historyLength: 0 });
      assert.deepEqual(
        bare.tasks.map((task) => [task.artifacts.length, task.history.length]),
        [
          [0, 0],
          [0, 0],
          [0, 0],
          [0, 0],
        ],
      );
      const full = await desk.list({ contextId, includeArtifacts: true, pageSize: 1, state: "completed" });
      assert.equal(textOf(full.tasks[0]), "task 4");
    }),
};
