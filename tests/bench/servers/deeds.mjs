// The agent of both SDK servers, the same as Baton's in the bench (agents/deeds, embedded/deeds.cpp): it echoes its
// message, or executes the command in the first word. `shapes` builds messages for the SDK's version.
import { existsSync } from "node:fs";

const gate = process.env.BENCH_GATE ?? "";
const waiting = { event: [], end: [] }; // the callbacks for the opening of each gate
let looking;

// Checks the files once for all callbacks.
function look() {
  for (const name of ["event", "end"]) {
    if (waiting[name].length === 0 || !existsSync(`${gate}.${name}`)) continue;
    for (const go of waiting[name].splice(0)) go();
  }
}

function opened(name) {
  looking ??= setInterval(look, 5);
  return new Promise((resolve) => waiting[name].push(resolve));
}

export class Deeds {
  constructor(shapes) {
    this.shapes = shapes;
  }

  cancelTask = async () => {};

  async execute(context, bus) {
    const { shapes } = this;
    const text = shapes.textOf(context.userMessage);
    const [word, count] = text.split(" ", 2);
    const names = { taskId: context.taskId, contextId: context.contextId };
    const say = (event) => bus.publish(event);
    if (!context.task) say(shapes.task(names, context.userMessage));
    say(shapes.status(names, "working"));
    if (word === "chunks") {
      for (let number = 1; number <= Number(count); ++number) {
        say(shapes.artifact(names, `chunk ${number} `, number > 1, number === Number(count)));
      }
    } else if (word === "hold") {
      await this.hold(names, say);
    } else if (word !== "ask") {
      say(shapes.artifact(names, text, false, true));
    }
    say(shapes.status(names, word === "ask" ? "input-required" : "completed"));
    bus.finished();
  }

  // Sends one event when the gate "event" opens, and ends when the gate "end" opens.
  async hold(names, say) {
    let over = false;
    opened("event").then(() => over || say(this.shapes.artifact(names, "news", false, true)));
    await opened("end");
    over = true;
  }
}
