import assert from "node:assert/strict";
import { openConsole } from "./support/console_page.ts";
import { startConsoleService } from "./support/service.ts";

Deno.test("a turn: what was said, the agent's Markdown, and what it used", async () => {
  await using service = await startConsoleService();
  await using ui = await openConsole(service.url);
  await ui.tell("help");
  const said = ui.conversation.locator(".entry.text").last();
  assert.equal(await said.getByRole("heading").innerText(), "Demo kernel");
  assert.ok(await said.getByRole("listitem").count() > 5);
  assert.equal(await said.locator("li code").first().innerText(), "help");
  assert.match(
    await ui.conversation.locator(".entry.end").innerText(),
    /Finished · [\d.]+ s · demo\/no-model: \d+ tokens in/,
  );
  assert.equal(await ui.conversation.locator(".entry.user .said").innerText(), "help");
});

Deno.test("a tool with its arguments and its result, and reasoning, both folded", async () => {
  await using service = await startConsoleService();
  await using ui = await openConsole(service.url);
  await ui.tell("a tool, please");
  const tool = ui.conversation.locator(".entry.tool");
  assert.match(await tool.locator("summary").innerText(), /list_files.*done/);
  assert.equal(await tool.locator("pre").first().isVisible(), false);
  await tool.locator("summary").press("Enter");
  assert.deepEqual(JSON.parse(await tool.locator("pre").first().innerText()), { path: "." });
  assert.match(await tool.locator("pre").last().innerText(), /main\.yml/);
  await ui.tell("think");
  const reasoning = ui.conversation.locator(".entry.reasoning");
  assert.equal(await reasoning.locator(".said").isVisible(), false);
  await reasoning.locator("summary").press("Enter");
  assert.match(await reasoning.locator(".said").innerText(), /words were written beforehand/);
});

Deno.test("an error: its code, its reason and what to do; the next message works", async () => {
  await using service = await startConsoleService();
  await using ui = await openConsole(service.url);
  await ui.tell("error");
  const error = ui.conversation.getByRole("alert");
  assert.match(await error.innerText(), /A2A_EXECUTION_FAILED[\s\S]*HTTP 400 from a model[\s\S]*could not finish/);
  await ui.tell("hello");
  assert.match(await ui.conversation.locator(".entry.text").last().innerText(), /You wrote: “hello”/);
});

Deno.test("the stop button stops the work by the extension, and the thread goes on", async () => {
  await using service = await startConsoleService({ pace: 1 });
  await using ui = await openConsole(service.url);
  await ui.say("slow");
  await ui.conversation.getByText("slow2").waitFor();
  await ui.page.getByRole("button", { name: "Stop", exact: true }).click();
  await ui.ended();
  assert.match(await ui.conversation.locator(".entry.error").innerText(), /Stopped[\s\S]*CANCELLED/);
  assert.equal(await ui.page.locator(".rows button", { hasText: "/cancel" }).count(), 1);
  await ui.tell("hello");
  assert.match(await ui.conversation.locator(".entry.text").last().innerText(), /You wrote: “hello”/);
});

Deno.test("a wrong token: nothing is sent on, the message comes back, and the right one works", async () => {
  await using service = await startConsoleService({ token: "right-token" });
  await using ui = await openConsole(service.url);
  assert.match(await ui.page.locator("#message-hint").innerText(), /token/);
  assert.equal(await ui.page.getByRole("button", { name: "Send" }).isDisabled(), true);
  // Whoever has no token is not told where the workspaces are.
  assert.equal(await ui.page.getByLabel("Workspace").inputValue(), "");
  await ui.page.getByLabel("Workspace").fill(service.workspace);
  const token = ui.page.getByLabel("Token of the service");
  assert.equal(await token.getAttribute("type"), "password");
  await token.fill("wrong-token");
  await ui.tell("hello");
  assert.match(
    await ui.conversation.getByRole("alert").innerText(),
    /UNAUTHORIZED[\s\S]*Enter the service's token/,
  );
  assert.equal(await ui.message.inputValue(), "hello");
  assert.deepEqual(await service.threads(), []);
  await token.fill("right-token");
  await ui.message.press("Enter");
  await ui.conversation.locator(".entry.text").waitFor();
  await ui.ended();
  const kept = await ui.page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
  assert.doesNotMatch(kept, /right-token|wrong-token/);
});

Deno.test("a workspace that is not allowed is named as what is wrong, and can be corrected", async () => {
  await using service = await startConsoleService();
  await using ui = await openConsole(service.url);
  await ui.page.getByLabel("Workspace").fill("/root/elsewhere");
  await ui.tell("hello");
  assert.match(await ui.conversation.getByRole("alert").innerText(), /INVALID_INPUT[\s\S]*cwd[\s\S]*settings/);
  await ui.page.getByLabel("Workspace").fill(service.workspace);
  await ui.message.press("Enter");
  await ui.conversation.locator(".entry.text").waitFor();
});

Deno.test("a service that is gone is told from one that refuses", async () => {
  const service = await startConsoleService();
  await using ui = await openConsole(service.url);
  await ui.tell("hello");
  await service[Symbol.asyncDispose]();
  await ui.tell("are you there?");
  assert.match(await ui.conversation.getByRole("alert").innerText(), /UNREACHABLE[\s\S]*Look whether it runs/);
  assert.equal(await ui.message.inputValue(), "are you there?");
});

Deno.test("what is set goes with the message; keys are shown nowhere and kept nowhere", async () => {
  await using service = await startConsoleService();
  await using ui = await openConsole(service.url);
  const { page } = ui;
  await page.getByLabel("Model", { exact: true }).fill("some-model");
  await page.getByLabel("Show the agent's reasoning").check();
  await page.getByLabel("Budget of reasoning").fill("2048");
  await page.getByText("Keys for this page").click();
  for (const label of ["Key of the model's provider", "AccessKey ID", "AccessKey secret", "STS token"]) {
    assert.equal(await page.getByLabel(label).getAttribute("type"), "password", label);
    await page.getByLabel(label).fill("marked-secret");
  }
  const [request] = await Promise.all([page.waitForRequest((sent) => sent.method() === "POST"), ui.tell("hello")]);
  const { iacCode } = request.postDataJSON().forwardedProps;
  assert.deepEqual([iacCode.model, iacCode.thinking], ["some-model", { enabled: true, budget: 2048 }]);
  assert.deepEqual([iacCode.llmApiKey, iacCode.alibabaCloud.accessKeySecret], ["marked-secret", "marked-secret"]);
  await page.getByRole("button", { name: "Last request" }).click();
  const shown = await page.locator(".detail pre").innerText();
  assert.match(shown, /"llmApiKey": "•••"/);
  assert.match(shown, /some-model/);
  assert.doesNotMatch(await page.locator("#page").innerText(), /marked-secret/);
  const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href]));
  assert.doesNotMatch(kept, /marked-secret/);
  assert.match(kept, /some-model/);
});

Deno.test("threads: a new one, and back; only ids are kept", async () => {
  await using service = await startConsoleService();
  await using ui = await openConsole(service.url);
  const { page } = ui;
  await ui.tell("first words");
  await page.getByRole("button", { name: "New thread" }).click();
  await ui.conversation.getByText("See an agent work").waitFor();
  await ui.tell("second words");
  const threads = page.locator(".threads .thread");
  assert.equal(await threads.count(), 2);
  await threads.last().click();
  await ui.conversation.getByText("first words").first().waitFor();
  const kept = await page.evaluate(() => Object.values({ ...localStorage }).join());
  const ids = (JSON.parse(kept) as { id: string; waiting: string[] }[]).map(({ id }) => id);
  assert.equal(kept, JSON.stringify(ids.map((id) => ({ id, waiting: [] }))));
  assert.deepEqual((await service.threads()).map((file) => (file as { threadId: string }).threadId).sort(), ids.sort());
  await page.reload();
  await ui.conversation.getByText("begun before this page was loaded").waitFor();
  await ui.tell("third words");
  assert.match(await ui.conversation.locator(".entry.text").last().innerText(), /third words/);
});

Deno.test("the page speaks Chinese, and asks the service to", async () => {
  await using service = await startConsoleService();
  await using ui = await openConsole(service.url, { locale: "zh-CN" });
  const { page } = ui;
  assert.equal(await page.locator("html").getAttribute("lang"), "zh");
  await page.getByRole("button", { name: "发送" }).waitFor();
  await page.getByLabel("工作目录").fill("/root/elsewhere");
  await ui.tell("hello");
  assert.match(await ui.conversation.getByRole("alert").innerText(), /[\u4e00-\u9fff]/);
  await page.getByLabel("语言").selectOption("en");
  await page.getByRole("button", { name: "Send" }).waitFor();
  assert.equal(await page.locator("html").getAttribute("lang"), "en");
});
