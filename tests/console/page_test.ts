import assert from "node:assert/strict";
import { servePage } from "../../src/console/page.ts";

const SETTINGS = { workspace: "/work", wantsToken: false };

async function get(file: string, settings = SETTINGS, init: RequestInit = {}): Promise<Response> {
  const path = file === "" ? "/console" : `/console/${file}`;
  const response = await servePage(file, new Request(`http://localhost${path}`, init), settings);
  assert.ok(response, `no ${file}`);
  return response;
}

/** The files that the page names, with their types. */
async function linked(): Promise<string[]> {
  const html = await (await get("")).text();
  return [...html.matchAll(/"console\/([^"]+)"/g)].map(([, file = ""]) => file);
}

Deno.test("the page allows its own script and style only, nothing inline, no frame, no other host", async () => {
  const response = await get("");
  const policy = response.headers.get("content-security-policy") ?? "";
  const directives = new Map(
    policy.split("; ").map((part) => [part.split(" ")[0], part.split(" ").slice(1).join(" ")]),
  );
  assert.equal(directives.get("default-src"), "'none'");
  for (const name of ["script-src", "style-src", "connect-src"]) assert.equal(directives.get(name), "'self'", name);
  for (const name of ["base-uri", "form-action", "frame-ancestors"]) assert.equal(directives.get(name), "'none'", name);
  assert.doesNotMatch(policy, /unsafe|https?:|\*/);
  const html = await response.text();
  assert.doesNotMatch(html, /<style|style=|<script(?![^>]*\bsrc=)|\son\w+=/i);
});

Deno.test("every answer forbids sniffing and framing", async () => {
  for (const file of ["", ...await linked()]) {
    const { headers, body } = await get(file);
    await body?.cancel();
    assert.equal(headers.get("x-content-type-options"), "nosniff", file);
    assert.equal(headers.get("x-frame-options"), "DENY", file);
    assert.equal(headers.get("referrer-policy"), "no-referrer", file);
  }
});

Deno.test("the page is never cached; its files are for ever, under names that change with them", async () => {
  assert.equal((await get("")).headers.get("cache-control"), "no-store");
  const files = await linked();
  assert.equal(files.length, 3);
  for (const file of files) {
    const response = await get(file);
    assert.equal(response.headers.get("cache-control"), "public, max-age=31536000, immutable");
    const digest = await crypto.subtle.digest("SHA-256", await response.arrayBuffer());
    assert.match(file, new RegExp(`-${new Uint8Array(digest).toHex().slice(0, 12)}\\.`));
  }
});

Deno.test("the script is served compressed to those who take it, and is the same for those who do not", async () => {
  const file = (await linked()).find((name) => name.endsWith(".js")) ?? "";
  const plain = await get(file);
  assert.equal(plain.headers.get("content-encoding"), null);
  assert.equal(plain.headers.get("content-type"), "text/javascript; charset=utf-8");
  const packed = await get(file, SETTINGS, { headers: { "accept-encoding": "gzip, br" } });
  assert.equal(packed.headers.get("content-encoding"), "gzip");
  assert.ok(packed.body);
  const unpacked = await new Response(packed.body.pipeThrough(new DecompressionStream("gzip"))).text();
  assert.equal(unpacked, await plain.text());
});

Deno.test("the page is told the workspace and whether a token is needed; markup in a path stays text", async () => {
  const html = await (await get("", { workspace: '/a"><script>b</script>&$&', wantsToken: true })).text();
  assert.ok(html.includes('name="workspace" content="/a&quot;&gt;&lt;script&gt;b&lt;/script&gt;&amp;$&amp;"'));
  assert.ok(html.includes('name="token" content="required"'));
  assert.ok((await (await get("")).text()).includes('name="token" content="none"'));
});

Deno.test("HEAD has the headers and no body; an unknown file is none of the page's", async () => {
  const head = await get("", SETTINGS, { method: "HEAD" });
  assert.equal(head.body, null);
  assert.equal(head.headers.get("content-type"), "text/html; charset=utf-8");
  for (const file of ["index.html", "constructor", "assets.json"]) {
    assert.equal(await servePage(file, new Request(`http://localhost/console/${file}`), SETTINGS), undefined);
  }
});

Deno.test("the address with a slash leads to the one without", async () => {
  const response = await servePage("", new Request("http://localhost/x/console/"), SETTINGS);
  assert.deepEqual([response?.status, response?.headers.get("location")], [308, "../console"]);
});
