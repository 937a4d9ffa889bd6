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
  await using ui = await openConsole(service.url);
  await ui.tell("permission");
  assert.match(await ui.status.innerText(), /Waits for your answer/);
  assert.match(
    await ui.form.innerText(),
    /Change a workspace file[\s\S]*Target\s+demo\.txt[\s\S]*Tool\s+write_file[\s\S]*Summary\s+write_file: \{"path":"demo\.txt"\}/,
  );
  assert.match(await ui.form.getByRole("timer").innerText(), /Time left: [89]:\d\d/);
  assert.equal(await ui.focused.getAttribute("id"), "answer-title");
  await ui.form.getByRole("button", { name: "Allow once" }).click();
  assert.match(await answered(ui), /demo\.txt\s+Allow once/);
  assert.match(await toolResult(ui), /Successfully wrote demo\.txt/);
  const artifact = ui.conversation.locator(".entry.artifact");
  await artifact.getByText("Preview").click();
  assert.equal(await artifact.locator("pre").innerText(), "Hello from the demo kernel.\n");
  const [download] = await Promise.all([
    ui.page.waitForEvent("download"),
    artifact.getByRole("button", { name: "Download" }).click(),
  ]);
  assert.equal(download.suggestedFilename(), "demo.txt");
  assert.equal(await Deno.readTextFile(await download.path()), "Hello from the demo kernel.\n");
});

Deno.test("a permission is denied by the keyboard alone, and the next message works", async () => {
  await using service = await startConsoleService();
  await using ui = await openConsole(service.url);
  const { keyboard } = ui.page;
  await ui.tell("permission");
  for (let presses = 0; await ui.focused.textContent() !== "Deny"; presses++) {
    assert.ok(presses < 5, "Deny is not reached");
    await keyboard.press("Tab");
  }
  await keyboard.press("Enter");
  assert.match(await answered(ui), /Deny/);
  assert.match(await toolResult(ui), /explicitly denied/);
  // The field for the next message has the focus again.
  await ui.page.locator("#message:focus").waitFor();
  await keyboard.type("hello");
  await keyboard.press("Enter");
  await ui.conversation.getByText("You wrote: “hello”").waitFor();
});

Deno.test("two permissions, one after the other", async () => {
  await using service = await startConsoleService();
  await using ui = await openConsole(service.url);
  await ui.tell("two permissions");
  await ui.form.getByText("one.txt", { exact: true }).waitFor();
  await ui.form.getByRole("button", { name: "Allow once" }).click();
  await ui.form.getByText("two.txt", { exact: true }).waitFor();
  await ui.form.getByRole("button", { name: "Deny" }).click();
  await answered(ui);
  await ui.conversation.getByText("1 of 2 allowed.").waitFor();
});

Deno.test("a question is answered by an option", async () => {
  await using service = await startConsoleService();
  await using ui = await openConsole(service.url);
  await ui.tell("question");
  assert.deepEqual(await ui.form.getByRole("radio").count(), 4);
  await ui.form.getByLabel("Hangzhou").check();
  await ui.page.keyboard.press("Enter");
  assert.match(await answered(ui), /In which region[\s\S]*Hangzhou/);
  await ui.conversation.locator(".entry.text", { hasText: "Hangzhou" }).first().waitFor();
});

Deno.test("a question is answered in free text, and is not sent without one", async () => {
  await using service = await startConsoleService();
  await using ui = await openConsole(service.url);
  await ui.tell("question");
  await ui.form.getByRole("button", { name: "Send the answer" }).click();
  assert.match(await ui.form.getByRole("alert").innerText(), /missing/);
  await ui.form.getByRole("radio", { name: "Another region" }).check();
  await ui.focused.and(ui.form.getByRole("textbox")).fill("Frankfurt");
  await ui.page.keyboard.press("Control+Enter");
  assert.match(await answered(ui), /Another region: Frankfurt/);
  await ui.conversation.locator(".entry.text", { hasText: "Frankfurt" }).first().waitFor();
});

Deno.test("not to answer stops the work at a question, and the next message works", async () => {
  await using service = await startConsoleService();
  await using ui = await openConsole(service.url);
  await ui.tell("question");
  await ui.form.getByLabel("Do not answer").check();
  await ui.page.keyboard.press("Enter");
  assert.match(await answered(ui), /Do not answer/);
  assert.match(await ui.conversation.locator(".entry.error").last().innerText(), /CANCELLED/);
  await ui.tell("hello");
  await ui.conversation.getByText("You wrote: “hello”").waitFor();
});

Deno.test("the work is stopped at a question by the extension, and the next message works", async () => {
  await using service = await startConsoleService();
  await using ui = await openConsole(service.url);
  await ui.tell("permission");
  await ui.form.getByRole("button", { name: "Stop the work" }).click();
  await ui.form.waitFor({ state: "detached" });
  assert.equal(await ui.conversation.locator(".entry.answer").count(), 0);
  await ui.tell("hello");
  await ui.conversation.getByText("You wrote: “hello”").waitFor();
});

Deno.test("a question whose time is over can only be discarded, and the next message works", async () => {
  await using service = await startConsoleService({ interruptTtl: 2 });
  await using ui = await openConsole(service.url);
  await ui.tell("permission");
  await ui.form.getByText("The time for an answer is over.").waitFor();
  assert.equal(await ui.form.getByRole("button", { name: "Allow once" }).isDisabled(), true);
  await ui.form.getByRole("button", { name: "Discard the question" }).click();
  await ui.form.waitFor({ state: "detached" });
  await ui.ended();
  await ui.tell("hello");
  await ui.conversation.getByText("You wrote: “hello”").waitFor();
});

Deno.test("after a reload an open question is shown again, and its answer counts", async () => {
  await using service = await startConsoleService();
  await using ui = await openConsole(service.url);
  await ui.tell("permission");
  await ui.page.reload();
  await ui.conversation.getByText("This thread waits for an answer").waitFor();
  await ui.conversation.getByRole("button", { name: "Show the question" }).click();
  await ui.form.getByText("demo.txt", { exact: true }).waitFor();
  await ui.form.getByRole("button", { name: "Allow once" }).click();
  await ui.form.waitFor({ state: "detached" });
  await ui.ended();
  assert.match(await toolResult(ui), /Successfully wrote demo\.txt/);
  await ui.conversation.getByText("Written, as an artifact only.").waitFor();
});

Deno.test("after a reload a message instead of an answer shows the question, and is not lost", async () => {
  await using service = await startConsoleService();
  await using ui = await openConsole(service.url);
  await ui.tell("question");
  await ui.page.reload();
  await ui.say("hello");
  await ui.form.getByText("In which region shall the web site live?").waitFor();
  await ui.form.getByLabel("Beijing").check();
  await ui.page.keyboard.press("Enter");
  await ui.form.waitFor({ state: "detached" });
  await ui.ended();
  assert.equal(await ui.message.inputValue(), "hello");
  await ui.message.press("Enter");
  await ui.conversation.getByText("You wrote: “hello”").waitFor();
});

Deno.test("after a reload a question that was answered elsewhere is told to be gone", async () => {
  await using service = await startConsoleService();
  await using ui = await openConsole(service.url);
  const { page } = ui;
  await ui.tell("permission");
  const other = await page.context().newPage();
  await other.goto(page.url());
  await other.getByRole("button", { name: "Show the question" }).click();
  await other.locator("form.asking").getByRole("button", { name: "Deny" }).click();
  await other.locator("form.asking").waitFor({ state: "detached" });
  await other.locator('.conversation[aria-busy="false"]').waitFor();
  // This page has not heard of it: its answer comes too late.
  await ui.form.getByRole("button", { name: "Allow once" }).click();
  await ui.form.waitFor({ state: "detached" });
  assert.match(await ui.conversation.locator(".entry.error").innerText(), /ALREADY_APPLIED|UNKNOWN_INTERRUPT/);
  await ui.tell("hello");
  await ui.conversation.getByText("You wrote: “hello”").waitFor();
});
