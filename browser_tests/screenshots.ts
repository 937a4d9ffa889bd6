/** Takes the pictures of docs/console.md anew: `deno run -A browser_tests/screenshots.ts`. */
import type { ConsolePage } from "./support/console_page.ts";
import { openConsole } from "./support/console_page.ts";
import type { PageOptions } from "./support/browser.ts";
import { startConsoleService } from "./support/service.ts";

const FOLDER = new URL("../docs/images/", import.meta.url).pathname;

async function take(name: string, options: PageOptions, tell: (ui: ConsolePage) => Promise<void>): Promise<void> {
  await using service = await startConsoleService();
  await using ui = await openConsole(service.url, options);
  await tell(ui);
  // The path of a temporary folder says nothing.
  await ui.page.locator("#setting-cwd").evaluate((field) => Object.assign(field, { value: "/workspace/web-site" }));
  await ui.page.mouse.move(0, 0);
  await ui.page.screenshot({ path: `${FOLDER}${name}.png` });
}

async function tellPipeline(ui: ConsolePage): Promise<void> {
  await ui.tell("A web site on ECS, please: pipeline");
  for (const choice of await ui.form.getByLabel("Allow once").all()) await choice.check();
  await ui.page.keyboard.press("Enter");
  await ui.form.getByText("Which solution").waitFor();
  await ui.ended();
}

await Deno.mkdir(FOLDER, { recursive: true });
await take("console-light", { width: 1320, height: 880 }, async (ui) => {
  await tellPipeline(ui);
  await ui.conversation.evaluate((log) => {
    const candidates = log.querySelector(".entry.candidates");
    log.scrollTo(0, log.scrollTop + (candidates?.getBoundingClientRect().top ?? 0) - 160);
  });
});
await take("console-dark", { width: 1320, height: 880, scheme: "dark" }, async (ui) => {
  await ui.tell("Please think, then use a tool");
  await ui.tell("Ask me for a permission");
  await ui.conversation.locator(".entry.tool summary").last().press("Enter");
  await ui.page.getByRole("combobox", { name: "Type" }).selectOption("TOOL_CALL_ARGS");
  await ui.page.locator(".rows button").last().click();
  await ui.page.getByRole("combobox", { name: "Type" }).selectOption("");
  await ui.conversation.evaluate((log) => log.scrollTo(0, log.scrollHeight));
});
await take("console-phone", { width: 390, height: 844 }, async (ui) => {
  await ui.tell("I have a question");
  await ui.form.getByRole("radio", { name: "Another region" }).check();
});
