/**
 * Between question and answer the service, the kernel or both are killed and started again (reference "Persistence and
 * recovery"; docs/protocol.md, "Resume"). Every story is at its question when that happens.
 */
import { newcomer, openLab } from "./support/lab.ts";
import type { Person, Turn } from "./support/person.ts";
import { CANDIDATES, LOST, SELECTION } from "./support/selling.ts";
import { EXPIRED, STORIES, type Story } from "./support/stories.ts";

/** Long enough for the restart, short enough to be waited for; in seconds. */
const SHORT_TTL = 5;

interface Crash {
  readonly what: string;
  readonly service: boolean;
  readonly kernel: boolean;
  readonly stories: readonly Story[];
}

const CRASHES: readonly Crash[] = [
  { what: "the service", service: true, kernel: false, stories: [...STORIES, ...CANDIDATES, SELECTION] },
  { what: "the kernel", service: false, kernel: true, stories: [...STORIES, LOST, SELECTION] },
  { what: "both", service: true, kernel: true, stories: [...STORIES, LOST, SELECTION] },
];

for (const { what, service, kernel, stories } of CRASHES) {
  Deno.test(`interrupts outlive a kill of ${what}`, async (t) => {
    await using lab = await openLab();
    const short = await lab.another("short", ["--interrupt-ttl", String(SHORT_TTL)]);
    const begun: { story: Story; person: Person; asked: Turn }[] = [];
    for (const [at, told] of [[lab.service, stories], [short, EXPIRED]] as const) {
      for (const story of told) {
        const person = await newcomer(lab.folder, at, story.fields);
        begun.push({ story, person, asked: await story.begin(person) });
      }
    }
    if (service) { for (const running of lab.services) await running.kill(); }
    if (kernel) await lab.kernel.kill();
    if (kernel) await lab.kernel.start();
    if (service) { for (const killed of lab.services) await killed.start(); }
    for (const { story, person, asked } of begun) await t.step(story.title, () => story.finish(person, asked));
  });
}
