// Cases of a visitor of the start page.
import assert from "node:assert/strict";
import { faultsOf } from "./lib/axe.mjs";
import { tokens } from "./lib/console.mjs";

const named = (page, name) => page.locator(".agents .card", { hasText: name }).first();

export const startOpen = {
  name: "Start: the page shows the agents, leads to the chat with one, and its commands name the server",
  start: "",
  async run(page, { server }) {
    await named(page, "stage").waitFor();
    assert.deepEqual(await faultsOf(page), []);
    const [curl] = await page.locator("pre code").allInnerTexts();
    assert.ok(curl.startsWith(`curl -s http://${server.address}/agents/`), curl);
    await named(page, "stage").locator("a", { hasText: "Talk to it" }).click();
    await page.locator(".compose button.primary:enabled").waitFor();
    assert.equal(new URL(page.url()).hash, "#agent=stage");
  },
};

export const startSignedOut = {
  name: "Start: a visitor without a token sees no agent until it signs in",
  start: "",
  withTokens: true,
  device: { viewport: { width: 390, height: 800 } },
  expectsErrors: true, // the refusal of /agents
  async run(page) {
    const sign = page.locator(".sign button", { hasText: "Sign in" });
    await sign.waitFor();
    assert.equal(await page.locator(".agents").count(), 0);
    assert.ok(await page.locator(".command").first().isHidden());
    await sign.click();
    await page.fill("#token", tokens.caller);
    await page.press("#token", "Enter");
    await named(page, "lab").waitFor();
    assert.ok((await page.locator("pre code").first().innerText()).includes("$BATON_TOKEN"));
    assert.ok(!(await page.content()).includes(tokens.caller));
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    assert.deepEqual(await faultsOf(page), []);
  },
};
