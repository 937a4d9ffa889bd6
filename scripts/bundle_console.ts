/**
 * Bundles the console into src/console/assets.json, which the service serves. With --check: compares instead, and fails when
 * the committed file is not what the sources give, or when the page has become too heavy. Run by `deno task console`.
 */
import { gzipSync } from "node:zlib";

const ROOT = new URL("../", import.meta.url);
const ASSETS = new URL("src/console/assets.json", ROOT);
/** All files of the page together, compressed. */
const MAX_BYTES = 150_000;

/** The page's files by the names under which they are served. */
async function bundle(): Promise<Record<string, string>> {
  const named = await Promise.all([
    name("console.js", await bundleScript()),
    name("style.css", await read("console/style.css")),
    name("icon.svg", await read("console/icon.svg")),
  ]);
  let html = await read("console/index.html");
  for (const { plain, hashed } of named) html = html.replace(`{${plain}}`, hashed);
  return { "": html, ...Object.fromEntries(named.map(({ hashed, content }) => [hashed, content])) };
}

async function bundleScript(): Promise<string> {
  const args = ["bundle", "--quiet", "--platform", "browser", "--minify", "console/main.tsx"];
  const command = new Deno.Command(Deno.execPath(), { args, cwd: ROOT, stderr: "inherit" });
  const { success, stdout } = await command.output();
  if (!success) throw new Error("deno bundle failed");
  return new TextDecoder().decode(stdout);
}

async function read(path: string): Promise<string> {
  return (await Deno.readTextFile(new URL(path, ROOT))).replaceAll("\r\n", "\n");
}

/** A name that changes with the content, so that browsers may keep the file for ever. */
async function name(plain: string, content: string): Promise<{ plain: string; hashed: string; content: string }> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(content));
  const hash = new Uint8Array(digest).toHex().slice(0, 12);
  return { plain, hashed: plain.replace(".", `-${hash}.`), content };
}

const assets = await bundle();
const sizes = Object.entries(assets).map(([file, content]) => ({
  file,
  bytes: gzipSync(content, { level: 9 }).length,
}));
const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
const json = `${JSON.stringify(assets, null, 1)}\n`;
const lines = sizes.map(({ file, bytes }) => `${String(bytes).padStart(8)}  ${file || "index.html"}`);
const said = [...lines, `${String(total).padStart(8)}  all, compressed (at most ${MAX_BYTES})`, ""].join("\n");
Deno.stdout.writeSync(new TextEncoder().encode(said));
if (total > MAX_BYTES) throw new Error("The console is too heavy.");
if (!Deno.args.includes("--check")) await Deno.writeTextFile(ASSETS, json);
else if (await Deno.readTextFile(ASSETS) !== json) {
  throw new Error("src/console/assets.json is not what the sources give: run `deno task console` and commit it.");
}
