/** What the demo kernel says: the words in the user's message choose a story. */
import { toolCall } from "./frames.ts";
import { tellMarkup } from "./markup_story.ts";
import { SELLING, tellPipeline } from "./pipeline_story.ts";
import { tellQuestion } from "./question_story.ts";
import { DENIED, type Turn } from "./turn.ts";

/** Tells one turn. When it returns and the task still works, the turn is finished for it. */
export type Story = (turn: Turn) => Promise<void> | void;

interface Entry {
  readonly keyword: string;
  readonly about: string;
  readonly tell: Story;
}

export const BURST_DELTAS = 5_000;
/** A burst lets the rest of the program run after so many. */
const BURST_BREATH = 250;
const SLOW_WORDS = 75;
const SLOW_GAP_MS = 200;
const DEMO = "(This is the demo kernel of the AG-UI server: no model, no cloud, no file is touched.)";

/** The stories by keyword; the first whose keyword is in the text is told. */
const STORIES: readonly Entry[] = [
  { keyword: "help", about: "this list", tell: tellHelp },
  { keyword: "markup", about: "HTML and script in every string, for those who test a page", tell: tellMarkup },
  { keyword: "die", about: "the kernel dies in the middle of a sentence", tell: tellDeath },
  { keyword: "error", about: "the run fails, with a reason", tell: tellError },
  { keyword: "burst", about: `${BURST_DELTAS.toLocaleString("en")} pieces of text at once`, tell: tellBurst },
  { keyword: "slow", about: "text over 15 seconds: time to cancel, or to disconnect", tell: tellSlow },
  { keyword: "two permissions", about: "asks twice, one after the other", tell: tellTwoPermissions },
  { keyword: "permission", about: "asks before it writes a file", tell: tellPermission },
  { keyword: "question", about: "asks you something, with options and free text", tell: tellQuestion },
  { keyword: "pipeline", about: "two candidates in parallel, a choice, a deployment", tell: tellPipeline },
  { keyword: "fail tool", about: "a tool that fails", tell: tellFailingTool },
  { keyword: "tool", about: "a tool", tell: tellTool },
  { keyword: "think", about: "thinks before it answers", tell: tellThought },
];

/** The story for what the user wrote. A pipeline run without a keyword is the pipeline's story. */
export function chooseStory(words: string, runMode: string | undefined, isHandedOver: boolean): Story {
  const found = STORIES.find(({ keyword }) => isNamed(keyword, words));
  if (found) return found.tell;
  return runMode === "pipeline" && !isHandedOver ? tellPipeline : tellEcho;
}

/** The pipeline that a message into a running pipeline reaches. */
export const GUIDED_PIPELINE = SELLING;

function isNamed(keyword: string, words: string): boolean {
  return new RegExp(`\\b${keyword.replace(" ", "\\s+")}(s|ing)?\\b`, "i").test(words);
}

async function tellHelp(turn: Turn): Promise<void> {
  const list = STORIES.map(({ keyword, about }) => `- \`${keyword}\`: ${about}`).join("\n");
  const plain = "- anything else: I repeat it";
  await turn.say(
    `# Demo kernel\n\n${DEMO}\n\nWrite one of these words, anywhere in your message:\n\n${list}\n${plain}\n`,
    5,
  );
}

async function tellEcho(turn: Turn): Promise<void> {
  const { text, images } = turn.task.request;
  const heard = text === ""
    ? "You wrote nothing"
    : `You wrote: “${text.length > 500 ? `${text.slice(0, 500)}…` : text}”`;
  const seen = images === 0 ? "" : ` and sent ${images === 1 ? "an image" : `${images} images`}`;
  await turn.say(`Hello! ${heard}${seen}. I can only repeat it. Write \`help\` to see what else I do. ${DEMO}`);
}

async function tellThought(turn: Turn): Promise<void> {
  await turn.think("Somebody wants to see me think. I have no model, so these words were written beforehand. ");
  await turn.say("I have thought about it, as far as a script can.");
}

async function tellTool(turn: Turn): Promise<void> {
  await turn.say("I will list the files. ");
  const list = toolCall("list_files", { path: "." });
  await turn.call(list);
  await turn.result(list, "Directory: .\n\n  main.yml (812B)\n  README.md (96B)");
  await turn.say("Two files, both invented.");
}

async function tellFailingTool(turn: Turn): Promise<void> {
  await turn.say("I will read a file that is not there. ");
  const read = toolCall("read_file", { path: "does-not-exist.txt" });
  const unknown = toolCall("no_such_tool", { a: 1 });
  await turn.call(read, unknown);
  await turn.result(read, "File not found: does-not-exist.txt", { failed: true });
  await turn.result(unknown, "Unknown tool: no_such_tool", { failed: true });
  await turn.say("Both failed, as they should.");
}

async function tellSlow(turn: Turn): Promise<void> {
  for (let word = 1; word <= SLOW_WORDS; word++) {
    await turn.pause(SLOW_GAP_MS);
    turn.saySoon(`slow${word} `);
  }
}

async function tellBurst(turn: Turn): Promise<void> {
  for (let piece = 0; piece < BURST_DELTAS; piece++) {
    if (piece % BURST_BREATH === 0) await turn.breathe();
    turn.saySoon(`w${piece} `);
  }
}

async function tellPermission(turn: Turn): Promise<void> {
  await turn.say("I will write a file, if you let me. ");
  const write = toolCall("write_file", { path: "demo.txt", content: "Hello from the demo kernel.\n" });
  await turn.call(write);
  const allowed = await turn.permission(write, "demo.txt");
  await writeOrNot(turn, write, allowed);
  await turn.say(allowed ? "Written, as an artifact only." : "OK, not written.");
}

async function tellTwoPermissions(turn: Turn): Promise<void> {
  const writes = ["one.txt", "two.txt"].map((path) => toolCall("write_file", { path, content: `${path}\n` }));
  await turn.call(...writes);
  const decisions: boolean[] = [];
  for (const write of writes) decisions.push(await turn.permission(write, String(write.input.path)));
  for (const [index, write] of writes.entries()) await writeOrNot(turn, write, decisions[index] === true);
  const count = decisions.filter((allowed) => allowed).length;
  await turn.say(`${count} of 2 allowed.`);
}

/** Runs a call that was allowed: its effect is an artifact. */
async function writeOrNot(turn: Turn, write: ReturnType<typeof toolCall>, allowed: boolean): Promise<void> {
  if (!allowed) return await turn.result(write, DENIED, { failed: true });
  const path = String(write.input.path);
  const artifact = await turn.artifact(path, String(write.input.content));
  await turn.result(write, `Successfully wrote ${path} (demo: no file was touched)`, { artifact });
}

async function tellError(turn: Turn): Promise<void> {
  await turn.say("This will go wrong. ");
  turn.fail("The demo kernel was asked to fail: HTTP 400 from a model that does not exist.");
}

async function tellDeath(turn: Turn): Promise<void> {
  await turn.say("These are my last ");
  turn.die();
}
