/** Streams that no kernel at hand gives: a stand-in for the service answers in the browser. */
import assert from "node:assert/strict";
import type { Route } from "playwright-core";
import { type ConsolePage, openConsole } from "./support/console_page.ts";
import { startConsoleService } from "./support/service.ts";

const START = { type: "RUN_STARTED", threadId: "t", runId: "r" };
const SUCCESS = { type: "RUN_FINISHED", threadId: "t", runId: "r", outcome: { type: "success" } };

function stream(...events: object[]): Parameters<Route["fulfill"]>[0] {
  const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  return { status: 200, contentType: "text/event-stream", body };
}

/** What of a run's request is looked at. */
interface RunBody {
  readonly resume?: unknown;
  readonly forwardedProps: { readonly iacCode: { readonly rosInvocationId: string } };
}

/** Answers the runs of a page one after the other; gives the bodies of the requests. */
async function standIn(
  { page }: ConsolePage,
  url: string,
  answers: ReturnType<typeof stream>[],
): Promise<RunBody[]> {
  const requests: RunBody[] = [];
  await page.route(`${url}/`, (route) => {
    requests.push(route.request().postDataJSON());
    return route.fulfill(answers[requests.length - 1] ?? { status: 500 });
  });
  return requests;
}

Deno.test("a stream that ends before its run is told as such, and what was said stays", async () => {
  await using service = await startConsoleService();
  await using ui = await openConsole(service.url);
  const text = [
    { type: "TEXT_MESSAGE_START", messageId: "m", role: "assistant" },
    { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "half a sen" },
  ];
  await standIn(ui, service.url, [stream(START, ...text)]);
  await ui.tell("hello");
  assert.match(await ui.conversation.getByRole("alert").innerText(), /STREAM_CUT[\s\S]*Send again/);
  await ui.conversation.getByText("half a sen").waitFor();
  assert.equal(await ui.conversation.locator(".said.open").count(), 0);
});

Deno.test("before the service has answered, stopping leaves the run", async () => {
  await using service = await startConsoleService();
  await using ui = await openConsole(service.url);
  await ui.page.route(`${service.url}/`, () => new Promise<void>(() => {}));
  await ui.say("hello");
  await ui.page.getByRole("button", { name: "Stop", exact: true }).click();
  assert.match(await ui.conversation.locator(".entry.error").innerText(), /You stopped the run/);
  await ui.ended();
});

Deno.test("an answer that is no JSON is an error like any other", async () => {
  await using service = await startConsoleService();
  await using ui = await openConsole(service.url);
  await standIn(ui, service.url, [{ status: 502, contentType: "text/html", body: "<h1>Bad gateway</h1>" }]);
  await ui.tell("hello");
  assert.match(await ui.conversation.getByRole("alert").innerText(), /HTTP 502/);
  assert.equal(await ui.message.inputValue(), "hello");
});

Deno.test("a form is made from any schema, and gives back values of its types", async () => {
  await using service = await startConsoleService();
  await using ui = await openConsole(service.url);
  const responseSchema = {
    oneOf: [
      { title: "Keep it", type: "object", properties: { keep: { const: true } }, required: ["keep"] },
      {
        title: "Change it",
        type: "object",
        properties: {
          name: { type: "string", title: "Name" },
          count: { type: "integer", title: "Count" },
          size: { enum: ["small", 2], title: "Size" },
          open: { type: "boolean", title: "Open" },
          tags: { type: "array", title: "Tags" },
        },
        required: ["name", "count", "size"],
      },
    ],
  };
  const interrupt = { id: "i", reason: "something_new", message: "What shall be done?", responseSchema };
  const asks = { ...SUCCESS, outcome: { type: "interrupt", interrupts: [interrupt] } };
  const requests = await standIn(ui, service.url, [stream(START, asks), stream(START, SUCCESS)]);
  const { form, page } = ui;
  await ui.tell("hello");
  assert.equal(await form.getByRole("timer").count(), 0);
  await form.getByRole("radio", { name: "Change it" }).check();
  await form.getByLabel("Name").fill("web");
  await form.getByLabel("Count").fill("3");
  await form.getByLabel("Size").selectOption({ label: "2" });
  await form.getByLabel("Open").check();
  await form.getByLabel("Tags").fill('["a"]');
  await page.keyboard.press("Control+Enter");
  await form.waitFor({ state: "detached" });
  await ui.ended();
  assert.deepEqual(requests[1]?.resume, [{
    interruptId: "i",
    status: "resolved",
    payload: { name: "web", count: 3, size: 2, open: true, tags: ["a"] },
  }]);
  assert.equal(
    requests[1]?.forwardedProps.iacCode.rosInvocationId,
    requests[0]?.forwardedProps.iacCode.rosInvocationId,
  );
});

Deno.test("events that nobody knows yet are passed over", async () => {
  await using service = await startConsoleService();
  await using ui = await openConsole(service.url);
  const news = [{ type: "NEWS_OF_TOMORROW", a: 1 }, { type: "CUSTOM", name: "somebody.else.v9", value: [1, null] }];
  await standIn(ui, service.url, [stream(START, ...news, SUCCESS)]);
  await ui.tell("hello");
  assert.match(await ui.conversation.locator(".entry.end").innerText(), /Finished/);
  assert.equal(await ui.eventCount("CUSTOM somebody.else.v9"), 1);
});
