import assert from "node:assert/strict";
import { defaultFields, iacCodeProps, maskRequest, NO_SECRETS, readFields } from "../../console/state/fields.ts";
import { validateRun } from "../../src/request/schema.ts";
import { isObject, type Json, type JsonObject } from "../../src/json.ts";

const DEFAULTS = defaultFields("/work", ["de-CH", "en"]);
const SECRETS = {
  token: "token-1",
  llmApiKey: "llm-1",
  accessKeyId: "id-1",
  accessKeySecret: "secret-1",
  securityToken: "sts-1",
  regionId: "cn-hangzhou",
};

function accepted(iacCode: JsonObject): void {
  const input: Json = {
    threadId: "t",
    runId: "r",
    state: {},
    messages: [{ id: "m", role: "user", content: "hello" }],
    tools: [],
    context: [],
    forwardedProps: { iacCode },
  };
  const checked = validateRun(input);
  assert.ok(!("refusal" in checked), JSON.stringify(checked));
}

Deno.test("the language to begin with is the browser's, when the service speaks it", () => {
  assert.equal(DEFAULTS.language, "de");
  assert.equal(defaultFields("", ["nl", "zh-Hans-CN"]).language, "zh");
  assert.equal(defaultFields("", ["nl"]).language, "en");
});

Deno.test("the service accepts what the settings make, with everything set and with nothing", () => {
  accepted(iacCodeProps(DEFAULTS, NO_SECRETS, "invocation"));
  const all = {
    ...DEFAULTS,
    runMode: "pipeline",
    model: "gpt",
    thinking: true,
    effort: "high",
    budget: "1000",
  } as const;
  accepted(iacCodeProps(all, SECRETS, "invocation"));
});

Deno.test("what is empty is not sent, and a pipeline's fields only in pipeline mode", () => {
  assert.deepEqual(iacCodeProps(DEFAULTS, { ...NO_SECRETS, regionId: "  " }, "invocation"), {
    schemaVersion: 1,
    rosInvocationId: "invocation",
    cwd: "/work",
    preferredLanguage: "de",
    runMode: "normal",
  });
  const pipeline = iacCodeProps({ ...DEFAULTS, runMode: "pipeline" }, NO_SECRETS, "invocation");
  assert.deepEqual([pipeline.pipelineName, pipeline.candidatePresentation], ["selling", "rich"]);
});

Deno.test("a budget that is no positive whole number is left out", () => {
  for (const budget of ["", "0", "-1", "1.5", "many"]) {
    const props = iacCodeProps({ ...DEFAULTS, thinking: true, budget }, NO_SECRETS, "invocation");
    assert.deepEqual(props.thinking, { enabled: true }, budget);
  }
});

Deno.test("the token of the service is no part of the body", () => {
  assert.ok(!JSON.stringify(iacCodeProps(DEFAULTS, SECRETS, "invocation")).includes(SECRETS.token));
});

Deno.test("a request is shown without any secret", () => {
  const body = {
    forwardedProps: { iacCode: iacCodeProps(DEFAULTS, SECRETS, "invocation") },
    messages: [{ content: "x" }],
  };
  const shown = maskRequest({ Authorization: `Bearer ${SECRETS.token}`, accept: "text/event-stream" }, body);
  const { regionId, ...secrets } = SECRETS;
  const text = JSON.stringify(shown);
  for (const secret of Object.values(secrets)) assert.ok(!text.includes(secret), secret);
  assert.ok(text.includes(regionId));
  assert.deepEqual(shown.headers, { Authorization: "Bearer •••", accept: "text/event-stream" });
  assert.ok(isObject(shown.body) && JSON.stringify(shown.body.messages) === '[{"content":"x"}]');
});

Deno.test("settings survive a reload; what was kept wrongly is as at the beginning", () => {
  const changed = { ...DEFAULTS, cwd: "/other", thinking: true, language: "zh" } as const;
  assert.deepEqual(readFields(JSON.stringify(changed), DEFAULTS), changed);
  const wrong = '{"cwd":7,"language":"xx","runMode":"evil","candidatePresentation":null,"thinking":"yes","more":1}';
  for (const kept of [null, "", "[]", "{", wrong]) assert.deepEqual(readFields(kept, DEFAULTS), DEFAULTS, String(kept));
});
