// Webhook bodies, in the shape of the generation of their config: the whole task before 1.0, one item of the stream
// since.
import assert from "node:assert/strict";
import { StreamResponse } from "a2a-sdk-10";
import { againstProto, againstSchema } from "../lib/shapes.mjs";
import * as old from "./view_v03.mjs";
import * as v1 from "./view_v1.mjs";

function wholeTask({ body, headers }) {
  assert.equal(againstSchema("0.3", "Task", body), undefined);
  assert.match(headers["content-type"], /^application\/json\b/);
  const task = old.task(body);
  return { taskId: task.id, state: task.state, artifacts: task.artifacts };
}

function streamItem({ body, headers }) {
  assert.match(headers["content-type"], /^application\/a2a\+json\b/);
  assert.equal(Object.keys(body).length, 1, `one member: ${Object.keys(body)}`);
  assert.equal(againstProto("1.0", "StreamResponse", body), undefined);
  const { taskId, state, artifact } = v1.event(StreamResponse.fromJSON(body));
  return { taskId, state, artifacts: artifact ? [artifact] : [] };
}

export function readDelivery(protocol, delivery) {
  assert.equal(delivery.method, "POST");
  return protocol === "1.0" ? streamItem(delivery) : wholeTask(delivery);
}
