import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openInDriver, threadsOf } from "./engines.ts";
import { defaultSettings } from "./settings.ts";

it.each([
  [{ instances: 1 }, undefined],
  [{ instances: 2 }, Math.max(1, Math.floor(availableParallelism() / 2))],
  [{ instances: 256 }, 1],
  [{ instances: 1, threads: 3 }, 3],
  [{ instances: 2, threads: 5 }, 5],
])("%j: each instance has %s threads", (settings, threads) => {
  expect(threadsOf({ ...defaultSettings, ...settings })).toBe(threads);
});

it.skipIf(process.platform === "win32")("refuses the runtime directory of a daemon that others can open", async () => {
  const directory = mkdtempSync(join(tmpdir(), "nnhal-engines-"));
  chmodSync(directory, 0o755);
  await expect(openInDriver(directory, "/")).rejects.toThrow(
    `--driver ${directory}: the runtime directory ${directory} has mode 0755: others can open it; expected 0700`,
  );
  await expect(openInDriver(directory, "/", process.getuid?.())).rejects.toThrow("no daemon has its sockets in");
  rmSync(directory, { recursive: true });
});
