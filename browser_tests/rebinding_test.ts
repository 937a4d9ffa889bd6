/** Pages of other sites, in a real browser: by another origin, by a name that leads to the service, by a frame or a form. */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { startBrowser } from "./support/browser.ts";
import { type ConsoleService, startConsoleService } from "./support/service.ts";

const ROS_INVOCATION = "invocation-1";

/** A request body that would start a run. */
function runBody({ workspace }: ConsoleService, threadId: string, more: object = {}): string {
  return JSON.stringify({
    threadId,
    runId: crypto.randomUUID(),
    state: {},
    messages: [{ id: crypto.randomUUID(), role: "user", content: "permission" }],
    tools: [],
    context: [],
    forwardedProps: {
      iacCode: { schemaVersion: 1, rosInvocationId: ROS_INVOCATION, cwd: workspace, runMode: "normal" },
    },
    ...more,
  });
}

interface Victim {
  readonly threadId: string;
  readonly executionId: string;
  readonly interruptId: string;
}

/** A thread of somebody else that waits for a permission. */
async function openPermission(service: ConsoleService): Promise<Victim> {
  const headers = { "content-type": "application/json" };
  const stream = await fetch(`${service.url}/`, { method: "POST", headers, body: runBody(service, "victim") });
  const events = (await stream.text()).split("\n\n").filter((frame) => frame.startsWith("data: "))
    .map((frame) => JSON.parse(frame.slice(6)));
  const end = events.at(-1);
  assert.equal(end.outcome.type, "interrupt");
  const session = events.find(({ name }) => name === "iac-code.session.v1");
  return { threadId: "victim", executionId: session.value.executionId, interruptId: end.outcome.interrupts[0].id };
}

/** What the attacker's page tries with scripts; gives what it could read of each answer. */
const ATTACK = `async ({ base, run, resume, cancel, cancelPath }) => {
  const read = async (path, init) => {
    try {
      const response = await fetch(base + path, init);
      return response.type === "opaque" ? "opaque" : response.status + " " + (await response.text()).slice(0, 80);
    } catch {
      return "blocked";
    }
  };
  const json = { "content-type": "application/json" };
  const plain = { method: "POST", mode: "no-cors", headers: { "content-type": "text/plain" } };
  return {
    health: await read("/health"),
    page: await read("/console"),
    run: await read("/", { method: "POST", headers: json, body: run }),
    plainRun: await read("/", { ...plain, body: run }),
    resume: await read("/", { method: "POST", headers: json, body: resume }),
    plainResume: await read("/", { ...plain, body: resume }),
    cancel: await read(cancelPath, { method: "POST", headers: json, body: cancel }),
    plainCancel: await read(cancelPath, { ...plain, body: cancel }),
    beacon: navigator.sendBeacon(base + "/", new Blob([run], { type: "text/plain" })) ? "sent" : "refused",
  };
}`;

async function attack(
  page: Page,
  base: string,
  service: ConsoleService,
  victim: Victim,
): Promise<Record<string, string>> {
  const { threadId, executionId, interruptId } = victim;
  const answer = { interruptId, status: "resolved", payload: { decision: "allow_once" } };
  return await page.evaluate<Record<string, string>>(`(${ATTACK})(${
    JSON.stringify({
      base,
      run: runBody(service, "attack"),
      resume: runBody(service, threadId, { messages: [], resume: [answer] }),
      cancel: JSON.stringify({ threadId, rosInvocationId: ROS_INVOCATION }),
      cancelPath: `/extensions/iac-code/v1/executions/${executionId}/cancel`,
    })
  })`);
}

/** A server of somebody else, which answers every request with an empty page. */
function startSite(): { url: (host: string) => string; [Symbol.asyncDispose]: () => Promise<void> } {
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    () => new Response("<!DOCTYPE html><title>elsewhere</title>", { headers: { "content-type": "text/html" } }),
  );
  return {
    url: (host) => `http://${host}:${server.addr.port}`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/**
 * Every name below `.example` leads to this machine, as a rebound name does. What new versions of Chromium do themselves
 * against pages that reach for the local network is off, since other browsers do not: the service has to defend itself.
 */
const REBOUND = [
  "--host-resolver-rules=MAP *.example 127.0.0.1",
  "--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests",
];

/** Nothing was begun, answered or cancelled: the thread's file is as it was, and there is no other one. */
async function assertUntouched(service: ConsoleService, before: unknown[]): Promise<void> {
  assert.deepEqual(await service.threads(), before);
}

Deno.test("a page whose name was rebound to the service can read, run, answer and cancel nothing", async () => {
  await using service = await startConsoleService();
  const victim = await openPermission(service);
  const before = await service.threads();
  const browser = await startBrowser(REBOUND);
  try {
    const page = await browser.newPage();
    const { port } = new URL(service.url);
    const base = `http://rebound.example:${port}`;
    // The attacker's own server has answered the first request; now its name leads to the service.
    await page.route(
      `${base}/attack`,
      (route) => route.fulfill({ contentType: "text/html", body: "<!DOCTYPE html><title>attack</title>" }),
    );
    const statuses: number[] = [];
    page.on("response", (response) => response.url().endsWith("/attack") || statuses.push(response.status()));
    await page.goto(`${base}/attack`);
    const { beacon, ...answers } = await attack(page, "", service, victim);
    assert.equal(beacon, "sent");
    for (const [name, answer] of Object.entries(answers)) {
      assert.match(answer, /^403 .*FORBIDDEN_HOST/, `${name}: ${answer}`);
    }
    // Every request has reached the service: it is the service that refused.
    assert.ok(statuses.length >= 8 && statuses.every((status) => status === 403), statuses.join());
    const navigated = await page.goto(`${base}/console`);
    assert.equal(navigated?.status(), 403);
    await assertUntouched(service, before);
  } finally {
    await browser.close();
  }
});

Deno.test("a page of another origin can read, run, answer and cancel nothing", async () => {
  await using service = await startConsoleService();
  await using site = startSite();
  const victim = await openPermission(service);
  const before = await service.threads();
  const browser = await startBrowser(REBOUND);
  try {
    for (const from of [site.url("elsewhere.example"), site.url("127.0.0.1"), site.url("localhost")]) {
      const page = await browser.newPage();
      await page.goto(from);
      const statuses: number[] = [];
      page.on("response", (response) => statuses.push(response.status()));
      const answers = await attack(page, service.url, service, victim);
      for (const name of ["health", "page", "run", "resume", "cancel"]) assert.equal(answers[name], "blocked", name);
      for (const name of ["plainRun", "plainResume", "plainCancel"]) assert.equal(answers[name], "opaque", name);
      assert.ok(statuses.length >= 3 && statuses.every((status) => status === 403), statuses.join());
      await assertUntouched(service, before);
      await page.close();
    }
  } finally {
    await browser.close();
  }
});

Deno.test("a form of another origin is refused, and so is one in a frame without an origin", async () => {
  await using service = await startConsoleService();
  await using site = startSite();
  const victim = await openPermission(service);
  const before = await service.threads();
  const browser = await startBrowser(REBOUND);
  try {
    const page = await browser.newPage();
    // The oldest trick: a form whose text/plain body is JSON.
    const body = runBody(service, "attack");
    const post = `({ url, body, target }) => {
      const form = document.createElement("form");
      const field = document.createElement("input");
      Object.assign(form, { action: url, method: "POST", enctype: "text/plain", target });
      Object.assign(field, { name: body.slice(0, -1) + ',"x":"', value: '"}' });
      form.append(field);
      document.body.append(form);
      form.submit();
    }`;
    const submit = async (url: string, content: string): Promise<number | undefined> => {
      const victimPage = await browser.newPage();
      await victimPage.goto(site.url("elsewhere.example"));
      const [response] = await Promise.all([
        victimPage.waitForNavigation({ url }),
        victimPage.evaluate(`(${post})(${JSON.stringify({ url, body: content, target: "_self" })})`),
      ]);
      return response?.status();
    };
    assert.equal(await submit(`${service.url}/`, body), 403);
    const cancel = `${service.url}/extensions/iac-code/v1/executions/${victim.executionId}/cancel`;
    assert.equal(
      await submit(cancel, JSON.stringify({ threadId: victim.threadId, rosInvocationId: ROS_INVOCATION })),
      403,
    );

    await page.goto(site.url("elsewhere.example"));
    const answered = page.waitForEvent("framenavigated", (frame) => frame.url() === `${service.url}/`);
    const call = `(${post})(${JSON.stringify({ url: `${service.url}/`, body, target: "_self" })})`;
    // A frame that is still loading may drop what it is told to load next.
    const script = `<script>addEventListener("load", () => setTimeout(() => ${call}))</script>`;
    await page.evaluate(`{
      const frame = document.createElement("iframe");
      frame.sandbox = "allow-scripts allow-forms";
      frame.srcdoc = ${JSON.stringify(`<body>${script}`).replaceAll("<", "\\u003c")};
      document.body.append(frame);
    }`);
    const answer = JSON.parse(await (await answered).locator("pre").innerText());
    assert.equal(answer.error.code, "FORBIDDEN_ORIGIN");
    await assertUntouched(service, before);
  } finally {
    await browser.close();
  }
});

Deno.test("the console cannot be framed, so nobody can be made to click in it", async () => {
  await using service = await startConsoleService();
  await using site = startSite();
  const browser = await startBrowser(REBOUND);
  try {
    const page = await browser.newPage();
    const refused: string[] = [];
    page.on("console", (message) => refused.push(message.text()));
    await page.goto(site.url("elsewhere.example"));
    const loaded = page.waitForResponse(`${service.url}/console`);
    await page.evaluate(`{
      const frame = document.createElement("iframe");
      frame.src = ${JSON.stringify(`${service.url}/console`)};
      document.body.append(frame);
    }`);
    await loaded;
    const frame = page.frames().find((one) => one !== page.mainFrame());
    await frame?.waitForLoadState();
    assert.equal(await frame?.locator("#page").count(), 0);
    assert.ok(refused.some((message) => /frame/i.test(message)), refused.join("\n"));
  } finally {
    await browser.close();
  }
});

Deno.test("the service's own page works under every name of this machine", async () => {
  await using service = await startConsoleService();
  const { port } = new URL(service.url);
  const browser = await startBrowser();
  try {
    for (const host of ["127.0.0.1", "localhost"]) {
      const page = await browser.newPage();
      await page.goto(`http://${host}:${port}/console`);
      await page.locator("#message").fill("hello");
      await page.locator("#message").press("Enter");
      await page.getByText("You wrote: “hello”").waitFor();
      await page.close();
    }
  } finally {
    await browser.close();
  }
});
