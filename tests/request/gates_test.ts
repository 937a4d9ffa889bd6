import assert from "node:assert/strict";
import fc from "fast-check";
import { type Access, corsHeaders, type Head, passGates } from "../../src/request/gates.ts";

const OPEN: Access = { loopback: true, token: undefined, hosts: [], origins: [], console: false };
const JSON_TYPE = { "content-type": "application/json" };
const CANCEL = "/extensions/iac-code/v1/executions/e-1/cancel";

function head(method: string, path: string, headers: Record<string, string> = {}): Head {
  return { method, url: new URL(`http://127.0.0.1:8000${path}`), headers: new Headers(headers) };
}

/** What the gates make of a request: the route's name, or the code of the refusal. */
function outcome(request: Head, access: Partial<Access> = {}): string {
  const passed = passGates(request, { ...OPEN, ...access });
  return "refusal" in passed ? passed.refusal.code : passed.route.to;
}

Deno.test("each check comes before the next: what fails several is told the first", () => {
  const access = { token: "right", origins: ["https://listed.example"] };
  const wrong = { host: "evil.example", origin: "https://evil.example", authorization: "Bearer wrong" };
  const { host: _host, ...rightHost } = wrong;
  const { origin: _origin, ...rightOrigin } = rightHost;
  const rightToken = { ...rightOrigin, authorization: "Bearer right" };
  const order: [string, Head][] = [
    ["FORBIDDEN_HOST", head("PUT", "/nowhere", wrong)],
    ["FORBIDDEN_ORIGIN", head("PUT", "/nowhere", rightHost)],
    ["NOT_FOUND", head("PUT", "/nowhere", rightOrigin)],
    ["METHOD_NOT_ALLOWED", head("PUT", "/", rightOrigin)],
    ["UNAUTHORIZED", head("POST", "/", rightOrigin)],
    ["UNSUPPORTED_MEDIA_TYPE", head("POST", "/", rightToken)],
    ["run", head("POST", "/", { ...rightToken, ...JSON_TYPE })],
  ];
  for (const [expected, request] of order) assert.equal(outcome(request, access), expected);
});

Deno.test("paths and methods lead to their route, to 404, or to 405 with what is allowed", () => {
  const table: [method: string, path: string, expected: string, allow?: string][] = [
    ["POST", "/", "run"],
    ["POST", "/?x=1", "run"],
    ["GET", "/health", "health"],
    ["HEAD", "/health", "health"],
    ["POST", CANCEL, "cancel"],
    ["GET", "/", "METHOD_NOT_ALLOWED", "POST"],
    ["HEAD", "/", "METHOD_NOT_ALLOWED", "POST"],
    ["post", "/", "METHOD_NOT_ALLOWED", "POST"],
    ["OPTIONS", "/", "METHOD_NOT_ALLOWED", "POST"],
    ["POST", "/health", "METHOD_NOT_ALLOWED", "GET, HEAD"],
    ["GET", CANCEL, "METHOD_NOT_ALLOWED", "POST"],
    ["DELETE", CANCEL, "METHOD_NOT_ALLOWED", "POST"],
    ["POST", "//", "NOT_FOUND"],
    ["POST", "/index.html", "NOT_FOUND"],
    ["GET", "/%68ealth", "NOT_FOUND"],
    ["GET", "/health/", "NOT_FOUND"],
    ["GET", "/HEALTH", "NOT_FOUND"],
    ["GET", "/healthz", "NOT_FOUND"],
    ["GET", "/console", "NOT_FOUND"],
    ["POST", "/extensions/iac-code/v1/executions//cancel", "NOT_FOUND"],
    ["POST", "/extensions/iac-code/v1/executions/a/b/cancel", "NOT_FOUND"],
    ["POST", "/extensions/iac-code/v1/executions/e-1/cancel/", "NOT_FOUND"],
    ["POST", "/extensions/iac-code/v2/executions/e-1/cancel", "NOT_FOUND"],
    ["POST", "/extensions/iac-code/v1/executions/%E0%A4%A/cancel", "NOT_FOUND"],
  ];
  for (const [method, path, expected, allow] of table) {
    const passed = passGates(head(method, path, JSON_TYPE), OPEN);
    assert.equal("refusal" in passed ? passed.refusal.code : passed.route.to, expected, `${method} ${path}`);
    assert.equal("refusal" in passed ? passed.headers?.allow : undefined, allow, `Allow of ${method} ${path}`);
    if ("refusal" in passed && allow) assert.deepEqual(passed.refusal.params, { allowed: allow });
  }
});

Deno.test("a cancel's execution id is decoded, a slash in it included", () => {
  const ids: [string, string][] = [["e-1", "e-1"], ["a%2Fb", "a/b"], ["%C3%BC%20", "ü "], ["%2e%2e%2fx", "../x"]];
  for (const [segment, executionId] of ids) {
    const passed = passGates(head("POST", `/extensions/iac-code/v1/executions/${segment}/cancel`, JSON_TYPE), OPEN);
    assert.deepEqual(passed, { route: { to: "cancel", executionId } });
  }
});

Deno.test("the console is a route only when it is switched on", () => {
  const on = { ...OPEN, console: true };
  assert.deepEqual(passGates(head("GET", "/console"), on), { route: { to: "console", file: "" } });
  assert.deepEqual(passGates(head("HEAD", "/console/client.js"), on), { route: { to: "console", file: "client.js" } });
  assert.equal(outcome(head("POST", "/console", JSON_TYPE), on), "METHOD_NOT_ALLOWED");
  assert.equal(outcome(head("GET", "/console/a/b"), on), "NOT_FOUND");
  assert.equal(outcome(head("GET", "/console/%2e%2e"), on), "METHOD_NOT_ALLOWED", "the URL is / by then");
});

Deno.test("on loopback only names of this machine and listed hosts are answered for", () => {
  const hosts = ["Box.Example", "proxy.example:8443"];
  const good = ["localhost", "LOCALHOST:8000", "127.0.0.1", "127.0.0.1:1", "127.255.255.254", "[::1]", "[::1]:8000"];
  const listed = ["box.example", "BOX.example:9", "proxy.example:8443"];
  const bad = [
    "evil.example",
    "localhost.evil.example",
    "evil.localhost",
    "127.0.0.1.evil.example",
    "127.0.0.256",
    "127.0.0",
    "128.0.0.1",
    "0.0.0.0",
    "192.168.0.1",
    "[::2]",
    "[::1].evil.example",
    "::1.evil.example",
    "proxy.example",
    "localhost, evil.example",
    "user@localhost",
  ];
  for (const host of good) assert.equal(outcome(head("GET", "/health", { host })), "health", host);
  for (const host of [...good, ...listed]) assert.equal(outcome(head("GET", "/health", { host }), { hosts }), "health");
  for (const host of bad) assert.equal(outcome(head("GET", "/health", { host }), { hosts }), "FORBIDDEN_HOST", host);
  for (const host of listed) assert.equal(outcome(head("GET", "/health", { host })), "FORBIDDEN_HOST", host);
});

Deno.test("without a Host header the address of the request counts", () => {
  assert.equal(outcome(head("GET", "/health")), "health");
  const elsewhere = { ...head("GET", "/health"), url: new URL("http://evil.example/health") };
  assert.equal(outcome(elsewhere), "FORBIDDEN_HOST");
});

Deno.test("bound elsewhere any host is answered for, unless hosts are listed", () => {
  const request = head("GET", "/health", { host: "any.example" });
  assert.equal(outcome(request, { loopback: false, token: "t" }), "health");
  assert.equal(outcome(request, { loopback: false, token: "t", hosts: ["box.example"] }), "FORBIDDEN_HOST");
  assert.equal(outcome(request, { loopback: false, token: "t", hosts: ["any.example"] }), "health");
});

Deno.test("pages of the server itself and of listed origins are served, others are not", () => {
  const origins = ["https://App.Example", "http://localhost:3000"];
  const table: [origin: string, expected: string][] = [
    ["http://127.0.0.1:8000", "health"],
    ["https://127.0.0.1:8000", "health"],
    ["https://app.example", "health"],
    ["http://localhost:3000", "health"],
    ["http://app.example", "FORBIDDEN_ORIGIN"],
    ["https://app.example:444", "FORBIDDEN_ORIGIN"],
    ["https://app.example.evil.example", "FORBIDDEN_ORIGIN"],
    ["http://127.0.0.1:8001", "FORBIDDEN_ORIGIN"],
    ["http://localhost:8000", "FORBIDDEN_ORIGIN"],
    ["null", "FORBIDDEN_ORIGIN"],
    ["", "FORBIDDEN_ORIGIN"],
    ["*", "FORBIDDEN_ORIGIN"],
  ];
  for (const [origin, expected] of table) {
    const request = head("GET", "/health", { host: "127.0.0.1:8000", origin });
    assert.equal(outcome(request, { origins }), expected, origin);
  }
});

Deno.test("the server's own origin is the one under which the request called it", () => {
  const called = (host: string, origin: string) => outcome(head("GET", "/health", { host, origin }));
  assert.equal(called("localhost:8000", "http://localhost:8000"), "health");
  assert.equal(called("LOCALHOST", "http://localhost"), "health");
  assert.equal(called("localhost:8000", "http://127.0.0.1:8000"), "FORBIDDEN_ORIGIN");
  assert.equal(outcome(head("GET", "/health", { origin: "http://127.0.0.1:8000" })), "health", "without a Host header");
});

Deno.test("every origin is let in only where a token is set", () => {
  const request = head("GET", "/health", { origin: "https://any.example" });
  assert.equal(outcome(request, { origins: ["*"], token: "t" }), "health");
  assert.equal(outcome(request, { origins: ["*"] }), "FORBIDDEN_ORIGIN");
});

Deno.test("the token is compared as a whole, its scheme without regard to case", () => {
  const token = "s3cret-token";
  const table: [authorization: string | undefined, expected: string][] = [
    [`Bearer ${token}`, "run"],
    [`bearer ${token}`, "run"],
    [`BEARER   ${token}`, "run"],
    [undefined, "UNAUTHORIZED"],
    ["", "UNAUTHORIZED"],
    ["Bearer", "UNAUTHORIZED"],
    ["Bearer ", "UNAUTHORIZED"],
    [token, "UNAUTHORIZED"],
    [`Basic ${token}`, "UNAUTHORIZED"],
    [`Bearer${token}`, "UNAUTHORIZED"],
    [`Bearer ${token}x`, "UNAUTHORIZED"],
    [`Bearer x${token}`, "UNAUTHORIZED"],
    [`Bearer ${token.toUpperCase()}`, "UNAUTHORIZED"],
    [`Bearer ${token.slice(0, -1)}`, "UNAUTHORIZED"],
    [`Bearer ${token}, Bearer x`, "UNAUTHORIZED"],
  ];
  for (const [authorization, expected] of table) {
    for (const path of ["/", CANCEL]) {
      const request = head("POST", path, { ...JSON_TYPE, ...(authorization !== undefined && { authorization }) });
      const wanted = expected === "run" && path === CANCEL ? "cancel" : expected;
      assert.equal(outcome(request, { token }), wanted, String(authorization));
    }
  }
  const passed = passGates(head("POST", "/", JSON_TYPE), { ...OPEN, token });
  assert.deepEqual("headers" in passed && passed.headers, { "www-authenticate": "Bearer" });
});

Deno.test("health, a preflight and the console need no token", () => {
  const access = { token: "t", origins: ["https://app.example"], console: true };
  const preflight = { origin: "https://app.example", "access-control-request-method": "POST" };
  assert.equal(outcome(head("GET", "/health"), access), "health");
  assert.equal(outcome(head("OPTIONS", "/", preflight), access), "preflight");
  assert.equal(outcome(head("GET", "/console"), access), "console");
});

Deno.test("a preflight is answered for a listed origin and a known path", () => {
  const origins = ["https://app.example"];
  const asked = { "access-control-request-method": "POST" };
  const table: [path: string, headers: Record<string, string>, expected: string][] = [
    ["/", { origin: "https://app.example", ...asked }, "preflight"],
    [CANCEL, { origin: "https://app.example", ...asked }, "preflight"],
    ["/health", { origin: "https://app.example", "access-control-request-method": "GET" }, "preflight"],
    ["/", { origin: "http://127.0.0.1:8000", ...asked }, "preflight"],
    ["/nowhere", { origin: "https://app.example", ...asked }, "NOT_FOUND"],
    ["/", { origin: "https://evil.example", ...asked }, "FORBIDDEN_ORIGIN"],
    ["/", { origin: "https://app.example" }, "METHOD_NOT_ALLOWED"],
    ["/", asked, "METHOD_NOT_ALLOWED"],
  ];
  for (const [path, headers, expected] of table) {
    assert.equal(outcome(head("OPTIONS", path, headers), { origins }), expected, `${path} ${JSON.stringify(headers)}`);
  }
});

Deno.test("only application/json is taken, with any parameters", () => {
  const taken = ["application/json", "Application/JSON", "application/json; charset=utf-8", " application/json ;x"];
  const refused = [
    "",
    "text/plain",
    "application/jsonp",
    "application/problem+json",
    "text/json",
    "application/json,x",
  ];
  for (const type of taken) assert.equal(outcome(head("POST", "/", { "content-type": type })), "run", type);
  for (const type of refused) {
    assert.equal(outcome(head("POST", "/", { "content-type": type })), "UNSUPPORTED_MEDIA_TYPE", type);
  }
  assert.equal(outcome(head("POST", "/")), "UNSUPPORTED_MEDIA_TYPE");
  assert.equal(outcome(head("POST", CANCEL)), "UNSUPPORTED_MEDIA_TYPE");
});

Deno.test("a listed origin may read every answer, another one none", () => {
  const access = { ...OPEN, origins: ["https://app.example"] };
  const read = { "access-control-allow-origin": "https://app.example", vary: "Origin" };
  assert.deepEqual(corsHeaders(head("GET", "/nowhere", { origin: "https://app.example" }), access), read);
  assert.deepEqual(corsHeaders(head("POST", "/", { origin: "https://evil.example" }), access), {});
  assert.deepEqual(corsHeaders(head("POST", "/", { origin: "http://127.0.0.1:8000" }), access), {});
  assert.deepEqual(corsHeaders(head("POST", "/"), access), {});
});

Deno.test("a preflight tells which methods and headers a page may use", () => {
  const access = { ...OPEN, origins: ["https://app.example"] };
  const asked = { origin: "https://app.example", "access-control-request-method": "POST" };
  const told = corsHeaders(head("OPTIONS", "/", asked), access);
  assert.equal(told["access-control-allow-methods"], "GET, POST");
  for (const name of ["content-type", "authorization", "accept-language"]) {
    assert.ok(told["access-control-allow-headers"]?.split(", ").includes(name), name);
  }
  assert.equal(told["access-control-allow-private-network"], undefined);
  const fromOutside = { ...asked, "access-control-request-private-network": "true" };
  assert.equal(
    corsHeaders(head("OPTIONS", "/", fromOutside), access)["access-control-allow-private-network"],
    "true",
  );
});

Deno.test("the gates never throw, whatever a head says", () => {
  const latin1 = fc.string({ unit: fc.integer({ min: 0x21, max: 0xff }).map((code) => String.fromCharCode(code)) });
  const hostile = fc.oneof(latin1, fc.constantFrom("", "*", "[", "]", "[::1", "a:b:c", "null", "Bearer", "%"));
  const names = ["host", "origin", "authorization", "content-type", "access-control-request-method"];
  const headers = fc.dictionary(fc.constantFrom(...names), hostile);
  const path = fc.oneof(fc.webPath(), fc.string({ unit: "binary" }).map((text) => `/${text}`), fc.constant(CANCEL));
  const method = fc.constantFrom("GET", "POST", "OPTIONS", "HEAD", "FOO");
  fc.assert(fc.property(method, path, headers, fc.option(hostile), (verb, where, given, token) => {
    const request = head(verb, encodePath(where), given);
    const access = { ...OPEN, token: token ?? undefined, hosts: ["h"], origins: ["*"], console: true };
    const passed = passGates(request, access);
    assert.ok("route" in passed || "refusal" in passed);
    assert.equal(typeof corsHeaders(request, access), "object");
  }));
});

/** What cannot be in a URL is encoded; what may be malformed in one stays. */
function encodePath(path: string): string {
  return path.replace(/[^\x21-\x7e]|\\/g, (part) => encodeURIComponent(part.toWellFormed()));
}
