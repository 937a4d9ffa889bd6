/** The agent stops to ask, on the real kernel (reference "Interrupt", "Resume"; docs/protocol.md, "Interrupts", "Resume"). */
import { newcomer, openLab } from "./support/lab.ts";
import { CANDIDATES, SELECTION } from "./support/selling.ts";
import { EXPIRED, STORIES } from "./support/stories.ts";

Deno.test("interrupts", async (t) => {
  await using lab = await openLab();
  for (const story of [...STORIES, ...CANDIDATES, SELECTION]) {
    await t.step(story.title, async () => {
      const person = await lab.person(story.fields);
      await story.finish(person, await story.begin(person));
    });
  }
  const short = await lab.another("short", ["--interrupt-ttl", "1"]);
  for (const story of EXPIRED) {
    await t.step(story.title, async () => {
      const person = await newcomer(lab.folder, short, story.fields);
      await story.finish(person, await story.begin(person));
    });
  }
});
