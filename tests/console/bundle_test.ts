import assert from "node:assert/strict";

Deno.test("the committed bundle is what the sources give, and light enough", async () => {
  const root = new URL("../../", import.meta.url);
  const args = ["run", "-A", "--no-prompt", "scripts/bundle_console.ts", "--check"];
  const { success, stderr } = await new Deno.Command(Deno.execPath(), { args, cwd: root }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
});
