import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { fromSource } from "@nnhal/test-kit/from-source";
import { expect, it } from "vitest";
import { watchThread } from "./watch-thread.ts";

it("a driver that blocks the thread of the tests ends their process, with its name and that of the case", {
  timeout: 60_000,
}, async () => {
  const program = fileURLToPath(new URL("watch-thread.test-process.ts", import.meta.url));
  const child = spawn(process.execPath, [...fromSource, program], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const [, signal] = await once(child, "close");
  expect(signal).toBe("SIGKILL");
  expect(said).toMatch(/nnhal-reference: prepared-model\/.+ has blocked the thread of the tests for 1000 ms/);
});

it("lets a thread be that comes back in time", async () => {
  const watch = watchThread(20_000);
  watch.begin("a device");
  const until = Date.now() + 300;
  while (Date.now() < until);
  await watch.close();
});
