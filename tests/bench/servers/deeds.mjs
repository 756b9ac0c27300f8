// The agent both SDK servers run, the same one that Baton is measured with (agents/deeds, embedded/deeds.cpp):
// echoes its message, or does what the first word says. `shapes` knows how the SDK's version writes things.
import { existsSync } from "node:fs";

const gate = process.env.BENCH_GATE ?? "";
const waiting = { event: [], end: [] }; // who waits for a gate to open
let looking;

// One look at the files for all who wait.
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

  // One event when the gate "event" opens, the end when the gate "end" does.
  async hold(names, say) {
    let over = false;
    opened("event").then(() => over || say(this.shapes.artifact(names, "news", false, true)));
    await opened("end");
    over = true;
  }
}
