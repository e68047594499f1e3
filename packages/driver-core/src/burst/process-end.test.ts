import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const tsx = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
const script = fileURLToPath(new URL("./process-end.test-process.ts", import.meta.url));

describe("a process with bursts", () => {
  it.each(["close", "forget"])(
    "ends by itself when it has nothing more to do (%s)",
    { timeout: 60_000 },
    async (how) => {
      // Killed, and so rejected, where something keeps it alive.
      const { stdout, stderr } = await promisify(execFile)(
        process.execPath,
        ["--import", tsx, "--conditions=@nnhal/source", script, how],
        { timeout: 45_000 },
      );
      expect({ stdout, stderr }).toEqual({ stdout: "statuses 0,0\n", stderr: "" });
    },
  );
});
