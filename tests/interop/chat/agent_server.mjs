// Only Agent Server.
import assert from "node:assert/strict";
import { toldIn } from "./tools.mjs";
import { framesOf } from "../lib/sse.mjs";

const url = (world) => `${world.stage.base("stage")}stream`;

export const required = {
  operation: "user, session and input are required",
  async run(client, world) {
    for (const member of ["user_id", "session_id", "input"]) {
      const body = client.conversation().say("say x");
      delete body[member];
      await assert.rejects(framesOf(url(world), body), (error) => error.status === 400, member);
    }
  },
};

export const users = {
  operation: "the agent receives the user as a label",
  async run(client, world) {
    const conversation = client.conversation();
    const as = async (user_id, text) =>
      conversation.read(await framesOf(url(world), { ...conversation.say(text), user_id })).text;
    assert.equal(await as("ada", "say I am Ada"), "I am Ada");
    assert.equal(toldIn(await as("bob", "told history")).length, 2);
    assert.match(await as("bob", "told metadata"), /"user_id": "bob"/);
  },
};
