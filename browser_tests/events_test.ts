import assert from "node:assert/strict";
import { BURST_DELTAS } from "../demo/stories.ts";
import { openConsole } from "./support/console_page.ts";
import { startConsoleService } from "./support/service.ts";

/** A page that does nothing for longer than this seems frozen, in ms. */
const FROZEN_MS = 1_000;

Deno.test("every event stands in the list with its time; a type can be picked out", async () => {
  await using service = await startConsoleService();
  await using ui = await openConsole(service.url);
  const { page } = ui;
  await ui.tell("a tool, please");
  const rows = page.locator(".rows li");
  assert.match(await rows.first().innerText(), /^\d\d:\d\d:\d\d\.\d{3}\s+→ POST \//);
  assert.equal(await ui.eventCount("TOOL_CALL_START"), 1);
  await page.getByRole("combobox", { name: "Type" }).selectOption("TOOL_CALL_START");
  assert.equal(await rows.count(), 1);
  assert.match(await rows.innerText(), /TOOL_CALL_START\s+list_files/);
});

Deno.test("an event is copied as JSON; all of them are downloaded as NDJSON", async () => {
  await using service = await startConsoleService();
  await using ui = await openConsole(service.url);
  const { page } = ui;
  await ui.tell("a tool, please");
  await page.getByRole("combobox", { name: "Type" }).selectOption("TOOL_CALL_START");
  await page.locator(".rows button").click();
  await page.getByRole("button", { name: "Copy as JSON" }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  const copied = JSON.parse(await page.evaluate<string>("navigator.clipboard.readText()"));
  assert.deepEqual([copied.type, copied.toolCallName], ["TOOL_CALL_START", "list_files"]);
  await page.getByRole("combobox", { name: "Type" }).selectOption("");
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download NDJSON" }).click(),
  ]);
  assert.match(download.suggestedFilename(), /\.ndjson$/);
  const lines = (await Deno.readTextFile(await download.path())).trimEnd().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual([lines[0]?.type, lines.at(-1)?.type], ["RUN_STARTED", "RUN_FINISHED"]);
  assert.ok(lines.every(({ timestamp }) => Number.isInteger(timestamp)));
});

Deno.test(`${BURST_DELTAS} events at once: the page never freezes, and shows all of them`, async () => {
  await using service = await startConsoleService();
  await using ui = await openConsole(service.url);
  const { page } = ui;
  await page.evaluate(`{
    globalThis.longest = 0;
    let last = performance.now();
    const tick = () => {
      const now = performance.now();
      longest = Math.max(longest, now - last);
      last = now;
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }`);
  await ui.tell("burst");
  const longest = await page.evaluate<number>("longest");
  assert.ok(longest < FROZEN_MS, `no frame for ${Math.round(longest)} ms`);
  assert.equal(await ui.eventCount("TEXT_MESSAGE_CONTENT"), BURST_DELTAS);
  const said = await ui.conversation.locator(".entry.text").innerText();
  assert.ok(said.includes("w0 w1 w2 "));
  assert.ok(said.includes(`w${BURST_DELTAS - 1}`));
  // Rows that are out of sight are no elements.
  assert.ok(await page.locator(".rows li").count() < 100);
  await page.locator(".rows").evaluate((rows) => rows.scrollTo(0, 0));
  await page.locator(".rows li").first().getByText("POST /").waitFor();
});
