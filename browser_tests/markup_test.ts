/** Every string of every event carries markup that runs a script when a page takes it for HTML. */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { isObject, type Json, type JsonObject } from "../src/json.ts";
import { openConsole } from "./support/console_page.ts";
import { startConsoleService } from "./support/service.ts";

/** What must not be there, whatever was shown. */
async function assertHarmless(page: Page): Promise<void> {
  assert.equal(await page.evaluate<unknown>("globalThis.hit"), undefined);
  const elements = page.locator("#page");
  assert.equal(await elements.locator("script, iframe, object, embed, b, base, meta, link, style").count(), 0);
  assert.equal(await elements.locator("img:not([src^='blob:'])").count(), 0);
  const dangerous = await elements.evaluate((root) => {
    const found: string[] = [];
    for (const element of root.querySelectorAll("*")) {
      for (const { name, value } of element.attributes) {
        if (/^on/i.test(name) || /^\s*(javascript|data|vbscript):/i.test(value)) found.push(`${name}=${value}`);
      }
    }
    return found;
  });
  assert.deepEqual(dangerous, []);
}

/** Opens everything that is folded. */
async function unfold(page: Page): Promise<void> {
  const folded = page.locator("#page details:not([open]) > summary");
  while (await folded.count() > 0) await folded.first().press("Enter");
}

async function shows(page: Page, ...places: string[]): Promise<void> {
  const text = await page.locator("#page").evaluate((root) => root.textContent ?? "");
  for (const place of places) assert.ok(text.includes(`<b>${place}</b>`), `${place} is not shown as text`);
}

for (const decision of ["allow", "deny"]) {
  Deno.test(`markup in every string is shown as text, never run (${decision})`, async () => {
    await using service = await startConsoleService();
    await using ui = await openConsole(service.url);
    const { page, form } = ui;
    await ui.tell("markup");
    await unfold(page);
    await shows(page, "thinking", "text", "code", "tool-name", "tool-key", "tool-argument");
    await shows(page, "prompt", "title", "purpose", "effect", "summary", "target", "allow", "deny");
    await assertHarmless(page);
    // The two decisions are the buttons that are named after the options.
    await form.getByRole("button", { name: `<b>${decision}</b>` }).click();
    await form.getByText("question").first().waitFor();
    await unfold(page);
    await shows(page, "question", "option-label", "option-summary", "free-text-prompt");
    await shows(page, ...(decision === "allow" ? ["tool-result", "artifact"] : ["tool-denied"]));
    await assertHarmless(page);
    const types = page.getByRole("combobox", { name: "Type" });
    const values = await types.locator("option").evaluateAll((options) =>
      options.map((one) => one.getAttribute("value"))
    );
    for (const type of values) {
      await types.selectOption(type ?? "");
      await page.locator(".rows button").last().click();
      await assertHarmless(page);
    }
    await form.getByRole("radio").first().check();
    await page.keyboard.press("Enter");
    await form.waitFor({ state: "detached" });
    await ui.ended();
    await unfold(page);
    await assertHarmless(page);
  });
}

Deno.test("what the user writes, and a thread's id in the address, are text, too", async () => {
  await using service = await startConsoleService();
  await using ui = await openConsole(service.url);
  const { page } = ui;
  const evil = `<img src=x onerror="globalThis.hit=1">`;
  await page.goto(`${service.url}/console#thread=${encodeURIComponent(evil)}`);
  await page.reload();
  await ui.tell(`${evil} [x](javascript:globalThis.hit=2) ![y](https://evil.example/z.png)`);
  // The agent repeats it, as Markdown.
  await assertHarmless(page);
  assert.equal(await page.locator("a[href^='https://evil.example']").count(), 1);
  const hostile = "javascript:alert(1)//<script>";
  await page.getByLabel("Workspace").fill(hostile);
  await ui.tell("hello");
  await assertHarmless(page);
});

const MARKUP = `<b>x</b><img src=x onerror="globalThis.hit=3"><svg onload="globalThis.hit=4">"'\`</p>`;
/** What has to stay as it is, so that the client takes the events for what they are. */
const PROTOCOL = new Set([
  "type",
  "role",
  "name",
  "eventType",
  "reason",
  "activityType",
  "expiresAt",
  "code",
  "kind",
  "format",
]);

/** The value with markup in all its strings and names but those of the protocol. */
function poisoned(value: Json, name = ""): Json {
  if (typeof value === "string") {
    if (PROTOCOL.has(name)) return value;
    // A diagram stays one, with markup in its labels.
    return value.startsWith("flowchart")
      ? value.replaceAll('["', `["${MARKUP.replaceAll('"', "'")}`)
      : `${MARKUP}${value}`;
  }
  if (Array.isArray(value)) return value.map((item) => poisoned(item, name === "enum" ? "type" : ""));
  if (!isObject(value)) return value;
  // A schema's own words are not the agent's.
  const isSchema = name === "responseSchema";
  const entries = Object.entries(value).map((
    [key, item],
  ) => [key, isSchema ? poisonedSchema(item) : poisoned(item, key)]);
  return Object.fromEntries(entries) as JsonObject;
}

function poisonedSchema(value: Json): Json {
  if (Array.isArray(value)) return value.map(poisonedSchema);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, item]) => [
    key,
    ["title", "description", "const"].includes(key) ? `${MARKUP}${String(item)}` : poisonedSchema(item),
  ]);
  return Object.fromEntries(entries) as JsonObject;
}

/** All streams of a recorded conversation. */
async function recorded(name: string): Promise<JsonObject[][]> {
  const file = new URL(`../tests/wires/${name}.agui-0.16.json`, import.meta.url);
  const exchanges = JSON.parse(await Deno.readTextFile(file)) as { response: { events?: JsonObject[] } }[];
  return exchanges.flatMap(({ response: { events } }) => events ? [events] : []);
}

const OTHERS: JsonObject[] = [
  { type: "RUN_STARTED", threadId: "t", runId: "r" },
  { type: "CUSTOM", name: "iac-code.pipeline.v1", value: { eventType: "pipeline_warning", data: { message: "m" } } },
  {
    type: "CUSTOM",
    name: "iac-code.pipeline.v1",
    value: {
      eventType: "stack_progress",
      data: { stackId: "s", stackName: "n", status: "st", resources: [{ name: "r", status: "s" }] },
    },
  },
  { type: "CUSTOM", name: "iac-code.artifact.v1", value: { artifactId: "a", name: "n.md", parts: [{ text: "# t" }] } },
  { type: "CUSTOM", name: "iac-code.artifact.v1", value: { artifactId: "b", name: "n", parts: [{ raw: "AAAA" }] } },
  { type: "CUSTOM", name: "iac-code.artifact.v1", value: { artifactId: "c", parts: [{ url: "u", mediaType: "m" }] } },
  { type: "RUN_ERROR", code: `${MARKUP}CODE`, message: "m" },
];

Deno.test("markup in every string of every recorded event is shown as text, never run", async () => {
  await using service = await startConsoleService();
  await using ui = await openConsole(service.url);
  const { page } = ui;
  let stream: JsonObject[] = [];
  await page.route(`${service.url}/`, (route) => {
    const body = stream.map((event) => `data: ${JSON.stringify(poisoned(event))}\n\n`).join("");
    return route.fulfill({ status: 200, contentType: "text/event-stream", body });
  });
  const names = ["pipeline-selling-rich", "pipeline-candidates", "pipeline-question", "permission-allow", "thinking"];
  const streams = (await Promise.all(names.map(recorded))).flat();
  for (stream of [...streams, OTHERS]) {
    await page.getByRole("button", { name: "New thread" }).click();
    await ui.tell("go on");
    await unfold(page);
    await assertHarmless(page);
    assert.ok(await page.locator(".entries").evaluate((entries) => entries.textContent?.includes("<b>x</b>")));
  }
});
