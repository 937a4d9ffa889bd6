import assert from "node:assert/strict";
import { startProgram, urlOf } from "../tests/operations/program.ts";
import { inFolder } from "../tests/support/folders.ts";
import { installKernel, startKernel } from "./support/kernel.ts";
import { newPerson } from "./support/person.ts";

const says = (text: string): string => `SCRIPT${JSON.stringify([[{ text }]])}END`;

Deno.test("a real kernel of the service's own: a thread goes on after its kill -9, and both end with a signal", async () => {
  await inFolder(async (folder) => {
    const lab = await startKernel({ folder });
    try {
      // Only its model is needed.
      await lab.kill();
      const args = ["--port", "0", "--state-dir", `${folder}/state`, "--allowed-cwds", folder];
      const command = ["--kernel-command", await installKernel()];
      await using program = startProgram({ args: [...args, ...command], env: lab.env });
      const url = await urlOf(program);
      const [, pid] = await program.told(/kernel ready .*version=0\.16\.0 pid=(\d+)/);
      await Deno.mkdir(`${folder}/work`);
      const person = newPerson(url, `${folder}/work`);
      assert.equal((await person.say(says("First."))).end, "success");

      Deno.kill(Number(pid), "SIGKILL");
      await program.told(/kernel ready[^]*kernel ready/);
      assert.equal((await person.say(says("Second."))).end, "success");
      assert.deepEqual(person.history().filter((line) => /First\.$|Second\.$/.test(line)).length, 2);

      const doctor = startProgram({
        args: ["doctor", ...args.slice(2), ...command, "--port", "0"],
        env: lab.env,
      });
      assert.equal(await doctor.ended, 0);
      assert.match(doctor.output(), /^ok +kernel +one of the service's own/m);

      program.signal("SIGTERM");
      assert.equal(await program.ended, 0);
      assert.match(program.output(), /says="INFO: +Finished server process/);
    } finally {
      await lab.close();
    }
  });
});

Deno.test("the doctor starts a real kernel, asks it, and ends it", async () => {
  await inFolder(async (folder) => {
    const lab = await startKernel({ folder });
    try {
      const args = ["doctor", "--port", "0", "--state-dir", `${folder}/state`, "--allowed-cwds", folder];
      const own = startProgram({ args: [...args, "--kernel-command", await installKernel()], env: lab.env });
      assert.equal(await own.ended, 0, own.output());
      assert.match(own.output(), /^ok +kernel +\S+: kernel 0\.16\.0 answers$/m);

      const token = { "IAC_CODE_AGUI_A2A_TOKEN": "wrong" };
      const named = startProgram({ args: [...args, "--a2a-url", lab.url], env: { ...lab.env, ...token } });
      assert.equal(await named.ended, 1);
      assert.match(named.output(), /^PROBLEM +kernel +\S+: the token is refused/m);
    } finally {
      await lab.close();
    }
  });
});
