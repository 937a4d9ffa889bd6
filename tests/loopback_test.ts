import assert from "node:assert/strict";
import { isLoopback } from "../src/loopback.ts";

Deno.test("localhost, 127.0.0.0/8 and ::1 are this machine, in any case, in brackets or not", () => {
  for (const host of ["localhost", "LocalHost", "127.0.0.1", "127.0.0.0", "127.255.255.255", "::1", "[::1]"]) {
    assert.equal(isLoopback(host), true, host);
  }
});

Deno.test("nothing else is", () => {
  const others = [
    "",
    "0.0.0.0",
    "::",
    "[::]",
    "::2",
    "::1:1",
    "127",
    "127.1",
    "127.0.0.256",
    "127.0.0.01.1",
    "127.0.0.1.example",
    "127.0.0.1.",
    "128.0.0.1",
    "1127.0.0.1",
    "localhost.",
    "localhost.example",
    "a.localhost",
    "10.0.0.1",
    "::ffff:10.0.0.1",
  ];
  for (const host of others) assert.equal(isLoopback(host), false, host);
});
