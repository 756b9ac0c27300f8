// Webhooks that wait or were given up.
import { post } from "./api.js";
import { copied, number, state, taskLink } from "./bits.js";
import { confirmed, toast } from "./dialog.js";
import { h, keyed } from "./dom.js";
import { mayAct } from "./page.js";
import { when } from "./when.js";

/** @typedef {import("./api.js").Delivery} Delivery */

/**
 * @param {Delivery} delivery
 * @param {"resend" | "skip"} action
 * @param {() => void} done
 */
async function act(delivery, action, done) {
  const title = action === "resend" ? "Send this webhook now" : "Abandon this webhook";
  const did = await confirmed({
    title,
    words: delivery.url,
    verb: action === "resend" ? "Resend" : "Skip",
    danger: action === "skip",
    act: (reason) => post(`/deliveries/${delivery.key}/${action}`, { reason }),
  });
  if (!did) return;
  toast(`Delivery ${delivery.key}: ${action} was accepted.`);
  done();
}

// Webhooks of a task go out one after the other: one that was not tried yet waits for those before it.
/** @param {Delivery} one */
function tries({ attempts, state: now, dueAt }) {
  if (attempts === 0 && now === "waiting" && !dueAt) return "behind another";
  return `${number(attempts)} ${attempts === 1 ? "attempt" : "attempts"}`;
}

/**
 * @param {Delivery} one
 * @param {() => void} done
 */
function line(one, done) {
  const resend = h("button", { type: "button" }, "Resend…");
  resend.addEventListener("click", () => act(one, "resend", done));
  const skip = h("button", { type: "button" }, "Skip…");
  skip.addEventListener("click", () => act(one, "skip", done));
  return h(
    "li",
    { class: "row delivery", "data-row": "" },
    h("span", { class: "c-state" }, state(one.state)),
    h("span", { class: "c-agent" }, "task ", taskLink(one.task), `, event ${one.event}`),
    h("span", { class: "c-url" }, copied(one.url)),
    h("span", { class: "c-text", dir: "auto" }, one.error ?? ""),
    h(
      "span",
      { class: "c-marks" },
      h("span", { class: "mark" }, tries(one)),
      one.dueAt ? h("span", { class: "mark" }, "next ", when(one.dueAt)) : null,
    ),
    h("span", { class: "c-when" }, when(one.createdAt)),
    mayAct() ? h("span", { class: "c-act" }, resend, skip) : null,
  );
}

export function deliveryList() {
  return h("ol", { class: "rows", "aria-label": "Deliveries" });
}

/**
 * @param {Element} list
 * @param {Delivery[]} rows
 * @param {() => void} done
 */
export function showDeliveries(list, rows, done) {
  keyed(
    list,
    rows,
    ({ key }) => key,
    (one) => line(one, done),
  );
}
