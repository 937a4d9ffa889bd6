import assert from "node:assert/strict";
import type { ConsolePage } from "./support/console_page.ts";
import { openConsole } from "./support/console_page.ts";
import { startConsoleService } from "./support/service.ts";

/** What the last tool answered. */
async function toolResult({ conversation }: ConsolePage): Promise<string> {
  const tool = conversation.locator(".entry.tool").last();
  return await tool.locator("pre").last().textContent() ?? "";
}

async function answered({ conversation, form, ended }: ConsolePage): Promise<string> {
  await form.waitFor({ state: "detached" });
  await ended();
  return await conversation.locator(".entry.answer").last().innerText();
}

Deno.test("a permission is shown with what it is about, and allowed", async () => {
  await using service = await startConsoleService();
  await using console = await openConsole(service.url);
  await console.tell("permission");
  assert.match(await console.status.innerText(), /waits for your answer/);
  assert.match(
    await console.form.innerText(),
    /Change a workspace file[\s\S]*Target\s+demo\.txt[\s\S]*Tool\s+write_file[\s\S]*Summary\s+write_file: \{"path":"demo\.txt"\}/,
  );
  assert.match(await console.form.getByRole("timer").innerText(), /Time left: [89]:\d\d/);
  assert.equal(await console.focused.getAttribute("id"), "answer-title");
  await console.form.getByRole("button", { name: "Allow once" }).click();
  assert.match(await answered(console), /demo\.txt\s+Allow once/);
  assert.match(await toolResult(console), /Successfully wrote demo\.txt/);
  const artifact = console.conversation.locator(".entry.artifact");
  await artifact.getByText("Preview").click();
  assert.equal(await artifact.locator("pre").innerText(), "Hello from the demo kernel.\n");
  const [download] = await Promise.all([
    console.page.waitForEvent("download"),
    artifact.getByRole("button", { name: "Download" }).click(),
  ]);
  assert.equal(download.suggestedFilename(), "demo.txt");
  assert.equal(await Deno.readTextFile(await download.path()), "Hello from the demo kernel.\n");
});

Deno.test("a permission is denied by the keyboard alone, and the next message works", async () => {
  await using service = await startConsoleService();
  await using console = await openConsole(service.url);
  const { keyboard } = console.page;
  await console.tell("permission");
  for (let presses = 0; await console.focused.textContent() !== "Deny"; presses++) {
    assert.ok(presses < 5, "Deny is not reached");
    await keyboard.press("Tab");
  }
  await keyboard.press("Enter");
  assert.match(await answered(console), /Deny/);
  assert.match(await toolResult(console), /explicitly denied/);
  // The field for the next message has the focus again.
  await keyboard.type("hello");
  await keyboard.press("Enter");
  await console.conversation.getByText("You wrote: “hello”").waitFor();
});

Deno.test("two permissions, one after the other", async () => {
  await using service = await startConsoleService();
  await using console = await openConsole(service.url);
  await console.tell("two permissions");
  await console.form.getByText("one.txt", { exact: true }).waitFor();
  await console.form.getByRole("button", { name: "Allow once" }).click();
  await console.form.getByText("two.txt", { exact: true }).waitFor();
  await console.form.getByRole("button", { name: "Deny" }).click();
  await answered(console);
  await console.conversation.getByText("1 of 2 allowed.").waitFor();
});

Deno.test("a question is answered by an option", async () => {
  await using service = await startConsoleService();
  await using console = await openConsole(service.url);
  await console.tell("question");
  assert.deepEqual(await console.form.getByRole("radio").count(), 4);
  await console.form.getByLabel("Hangzhou").check();
  await console.page.keyboard.press("Enter");
  assert.match(await answered(console), /In which region[\s\S]*Hangzhou/);
  await console.conversation.locator(".entry.text", { hasText: "Hangzhou" }).first().waitFor();
});

Deno.test("a question is answered in free text, and is not sent without one", async () => {
  await using service = await startConsoleService();
  await using console = await openConsole(service.url);
  await console.tell("question");
  await console.form.getByRole("button", { name: "Send the answer" }).click();
  assert.match(await console.form.getByRole("alert").innerText(), /missing/);
  await console.form.getByRole("radio", { name: "Another region" }).check();
  await console.focused.and(console.form.getByRole("textbox")).fill("Frankfurt");
  await console.page.keyboard.press("Control+Enter");
  assert.match(await answered(console), /Another region: Frankfurt/);
  await console.conversation.locator(".entry.text", { hasText: "Frankfurt" }).first().waitFor();
});

Deno.test("not to answer stops the work at a question, and the next message works", async () => {
  await using service = await startConsoleService();
  await using console = await openConsole(service.url);
  await console.tell("question");
  await console.form.getByLabel("Do not answer").check();
  await console.page.keyboard.press("Enter");
  assert.match(await answered(console), /Do not answer/);
  assert.match(await console.conversation.locator(".entry.error").last().innerText(), /CANCELLED/);
  await console.tell("hello");
  await console.conversation.getByText("You wrote: “hello”").waitFor();
});

Deno.test("the work is stopped at a question by the extension, and the next message works", async () => {
  await using service = await startConsoleService();
  await using console = await openConsole(service.url);
  await console.tell("permission");
  await console.form.getByRole("button", { name: "Stop the work" }).click();
  await console.form.waitFor({ state: "detached" });
  assert.equal(await console.conversation.locator(".entry.answer").count(), 0);
  await console.tell("hello");
  await console.conversation.getByText("You wrote: “hello”").waitFor();
});

Deno.test("a question whose time is over can only be discarded, and the next message works", async () => {
  await using service = await startConsoleService({ interruptTtl: 2 });
  await using console = await openConsole(service.url);
  await console.tell("permission");
  await console.form.getByText("The time for an answer is over.").waitFor();
  assert.equal(await console.form.getByRole("button", { name: "Allow once" }).isDisabled(), true);
  await console.form.getByRole("button", { name: "Discard the question" }).click();
  await console.form.waitFor({ state: "detached" });
  await console.ended();
  await console.tell("hello");
  await console.conversation.getByText("You wrote: “hello”").waitFor();
});

Deno.test("after a reload an open question is shown again, and its answer counts", async () => {
  await using service = await startConsoleService();
  await using console = await openConsole(service.url);
  await console.tell("permission");
  await console.page.reload();
  await console.conversation.getByText("This thread waits for an answer").waitFor();
  await console.conversation.getByRole("button", { name: "Show the question" }).click();
  await console.form.getByText("demo.txt", { exact: true }).waitFor();
  await console.form.getByRole("button", { name: "Allow once" }).click();
  await console.form.waitFor({ state: "detached" });
  await console.ended();
  assert.match(await toolResult(console), /Successfully wrote demo\.txt/);
  await console.conversation.getByText("Written, as an artifact only.").waitFor();
});

Deno.test("after a reload a message instead of an answer shows the question, and is not lost", async () => {
  await using service = await startConsoleService();
  await using console = await openConsole(service.url);
  await console.tell("question");
  await console.page.reload();
  await console.say("hello");
  await console.form.getByText("In which region shall the web site live?").waitFor();
  await console.form.getByLabel("Beijing").check();
  await console.page.keyboard.press("Enter");
  await console.form.waitFor({ state: "detached" });
  await console.ended();
  assert.equal(await console.message.inputValue(), "hello");
  await console.message.press("Enter");
  await console.conversation.getByText("You wrote: “hello”").waitFor();
});

Deno.test("after a reload a question that was answered elsewhere is told to be gone", async () => {
  await using service = await startConsoleService();
  await using console = await openConsole(service.url);
  const { page } = console;
  await console.tell("permission");
  const other = await page.context().newPage();
  await other.goto(page.url());
  await other.getByRole("button", { name: "Show the question" }).click();
  await other.locator("form.asking").getByRole("button", { name: "Deny" }).click();
  await other.locator("form.asking").waitFor({ state: "detached" });
  await other.locator('.conversation[aria-busy="false"]').waitFor();
  // This page has not heard of it: its answer comes too late.
  await console.form.getByRole("button", { name: "Allow once" }).click();
  await console.form.waitFor({ state: "detached" });
  assert.match(await console.conversation.locator(".entry.error").innerText(), /ALREADY_APPLIED|UNKNOWN_INTERRUPT/);
  await console.tell("hello");
  await console.conversation.getByText("You wrote: “hello”").waitFor();
});
