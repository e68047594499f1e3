import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { fromSource } from "@nnhal/test-kit/from-source";
import { describe, expect, it } from "vitest";

const script = fileURLToPath(new URL("./process-end.test-process.ts", import.meta.url));

describe("a process with bursts", () => {
  it.each(["close", "forget"])(
    "ends by itself when it has nothing more to do (%s)",
    { timeout: 60_000 },
    async (how) => {
      // Killed, and so rejected, where something keeps it alive.
      const args = [...fromSource, script, how];
      const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { timeout: 45_000 });
      expect({ stdout, stderr }).toEqual({ stdout: "statuses 0,0\n", stderr: "" });
    },
  );
});
