import assert from "node:assert/strict";
import { BURST_DELTAS } from "../../demo/stories.ts";
import { isObject } from "../../src/json.ts";
import {
  iacOf,
  labelOf,
  labels,
  questionIn,
  statusText,
  taskIdOf,
  textIn,
  type WireClient,
  withKernel,
} from "./wire_client.ts";

const OPENING = ["task SUBMITTED", "SUBMITTED", "WORKING"];
const CLOSING = ["usage", "final", "INPUT_REQUIRED"];
const CALL = ["tool started", "tool input_delta", "tool input_complete", "usage"];

function story(title: string, test: (client: WireClient) => Promise<void>): void {
  Deno.test(title, () => withKernel(test));
}

story("plain text is repeated word by word, and the answer says that this is a demo", async ({ say }) => {
  const frames = await say("good morning");
  assert.deepEqual(labels(frames), [...OPENING, "text", ...CLOSING]);
  assert.match(textIn(frames), /good morning.*demo kernel.*no model/);
  assert.ok(frames.filter((frame) => labelOf(frame) === "text").length > 10);
});

story("the whole answer comes once more at the end, under another message id", async ({ say }) => {
  const frames = await say("good morning");
  const final = frames.find((frame) => labelOf(frame) === "final") ?? {};
  assert.equal(statusText(final), textIn(frames));
  const ids = frames.map(messageId).filter((id) => id !== undefined);
  assert.deepEqual([...new Set(ids)], [`${taskIdOf(frames)}-message`, `${taskIdOf(frames)}-2`]);
});

function messageId({ statusUpdate }: Record<string, unknown>): unknown {
  const status = isObject(statusUpdate) && isObject(statusUpdate.status) ? statusUpdate.status : {};
  return isObject(status.message) ? status.message.messageId : undefined;
}

story("images are counted", async ({ say }) => {
  const parts = [{ text: "look" }, { data: { filename: "a.png", bytes: "aGk=" }, mediaType: "image/png" }];
  assert.match(textIn(await say("", { parts })), /look.*sent an image/);
});

story("`help` lists every word that the demo knows, as Markdown", async ({ say }) => {
  const text = textIn(await say("Please HELP me with a tool"));
  const keywords = [...text.matchAll(/^- `(.+)`: ./gm)].map(([, keyword]) => keyword);
  const known = [
    "think",
    "tool",
    "fail tool",
    "slow",
    "burst",
    "permission",
    "two permissions",
    "question",
    "pipeline",
  ];
  assert.deepEqual(keywords.toSorted(), [...known, "error", "die", "markup", "help"].toSorted());
  assert.match(text, /^# Demo kernel/);
});

story("a word inside another word is no keyword", async ({ say }) => {
  assert.match(textIn(await say("soldiers in toolboxes")), /soldiers in toolboxes/);
});

story("`think` thinks before it speaks", async ({ say }) => {
  assert.deepEqual(labels(await say("think")), [...OPENING, "thinking", "text", ...CLOSING]);
});

story("`tool` uses a tool between two texts, and the final text is the one behind it", async ({ say }) => {
  const frames = await say("use a tool");
  assert.deepEqual(labels(frames), [...OPENING, "text", ...CALL, "tool completed", "text", ...CLOSING]);
  const [before, after] = [textIn(frames), statusText(frames.find((frame) => labelOf(frame) === "final") ?? {})];
  assert.ok(before.endsWith(after) && before !== after);
});

story("`fail tool` has two calls side by side that both fail", async ({ say }) => {
  const frames = await say("fail tool");
  const calls = [
    "tool started",
    "tool input_delta",
    "tool started",
    "tool input_delta",
    "tool input_complete",
    "usage",
  ];
  assert.deepEqual(labels(frames), [...OPENING, "text", ...calls, "tool failed", "text", ...CLOSING]);
  const tools = frames.map((frame) => iacOf(frame).tool).filter(isObject);
  assert.equal(new Set(tools.map(({ toolUseId }) => toolUseId)).size, 2);
  assert.equal(tools.filter(({ status }) => status === "failed").length, 2);
});

story("`burst` sends thousands of pieces, each a frame of its own", async ({ say }) => {
  const frames = await say("burst");
  const pieces = frames.filter((frame) => labelOf(frame) === "text");
  assert.equal(pieces.length, BURST_DELTAS);
  assert.equal(statusText(pieces[BURST_DELTAS - 1] ?? {}), `w${BURST_DELTAS - 1} `);
  assert.deepEqual(labels(frames), [...OPENING, "text", ...CLOSING]);
});

story("`slow` is long enough to be left or canceled", async ({ say }) => {
  const frames = await say("slow");
  assert.equal(frames.filter((frame) => labelOf(frame) === "text").length, 75);
});

story("`permission` asks before it writes; allowed, the file is an artifact", async ({ say, decide }) => {
  const asked = await say("permission");
  assert.deepEqual(labels(asked), [...OPENING, "text", ...CALL, "INPUT_REQUIRED asks permission"]);
  const input = questionIn(asked);
  assert.equal(input.requestTaskId, taskIdOf(asked));
  const done = await decide(input, "allow_once");
  assert.deepEqual(labels(done), ["input received", "artifact", "tool completed", "text", ...CLOSING]);
  const tool = iacOf(done[2] ?? {}).tool;
  assert.ok(isObject(tool) && isObject(tool.artifact));
  assert.deepEqual([tool.toolUseId, tool.artifact.filename], [input.toolUseId, "demo.txt"]);
});

story("`permission` denied says so and leaves no artifact", async ({ say, decide }) => {
  const done = await decide(questionIn(await say("permission")), "deny");
  assert.deepEqual(labels(done), ["input received", "tool failed", "text", ...CLOSING]);
  assert.match(textIn(done), /not written/);
});

story("`two permissions` asks one after the other, and runs both calls then", async ({ say, decide }) => {
  const asked = await say("two permissions");
  const second = await decide(questionIn(asked), "allow_once");
  assert.deepEqual(labels(second), ["input received", "INPUT_REQUIRED asks permission"]);
  assert.notEqual(questionIn(second).toolUseId, questionIn(asked).toolUseId);
  const done = await decide(questionIn(second), "deny");
  assert.deepEqual(labels(done), ["input received", "artifact", "tool completed", "tool failed", "text", ...CLOSING]);
  assert.match(textIn(done), /1 of 2/);
});

story("`error` fails with a reason", async ({ say }) => {
  const frames = await say("error");
  assert.deepEqual(labels(frames), [...OPENING, "text", "FAILED"]);
  assert.match(statusText(frames.at(-1) ?? {}), /asked to fail/);
});

story("`markup` has markup in every string that a page shows", async ({ say, decide }) => {
  const asked = await say("markup");
  const done = await decide(questionIn(asked), "allow_once");
  const all = JSON.stringify([...asked, ...done]);
  const places = [
    "thinking",
    "text",
    "tool-name",
    "tool-key",
    "tool-argument",
    "target",
    "title",
    "prompt",
    "purpose",
    "allow",
  ];
  const later = ["artifact", "tool-result", "question", "option-label", "option-summary", "free-text-prompt"];
  for (const place of [...places, ...later]) assert.ok(all.includes(`<b>${place}</b>`), place);
  const { options } = questionIn(done);
  const [option] = Array.isArray(options) ? options : [];
  assert.ok(isObject(option) && typeof option.label === "string");
  const rest = await say(option.label, { taskId: taskIdOf(asked) });
  assert.equal(labels(rest).at(-1), "COMPLETED pipeline_handoff_ready");
});
