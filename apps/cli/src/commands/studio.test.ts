import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { StudioOptions, StudioServer } from "@nnhal/studio/server";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import type { ModelCommandContext } from "../context.ts";
import { runStudioCommand } from "./studio.ts";

const served = { options: undefined as StudioOptions | undefined, ended: 0, failure: "" };

/** Serves nothing, and keeps what it was asked to serve. */
async function serve(options: StudioOptions): Promise<StudioServer> {
  if (served.failure !== "") throw new Error(served.failure);
  served.options = options;
  const close = async () => {
    served.ended++;
  };
  return { url: "http://127.0.0.1:4000/#token=abc", port: 4000, close };
}

const folder = mkdtempSync(join(tmpdir(), "nnhal-studio-command-"));
writeFileSync(join(folder, "a.tflite"), "bytes");

afterAll(() => rmSync(folder, { recursive: true }));

afterEach(() => {
  Object.assign(served, { options: undefined, ended: 0, failure: "" });
});

/** Starts the command. `interrupt` is what Ctrl-C calls. */
function start(path: string | undefined) {
  let interrupt = () => {};
  let stdout = "";
  const devices = {
    list: async () => [
      { name: "nnhal-a", opened: {} },
      { name: "nnhal-b", opened: { unavailable: "it is\nnot here" } },
    ],
    select: async (names: string) => ({ devices: [`the device ${names}`] }),
  } as unknown as ModelCommandContext["devices"];
  const done = runStudioCommand(
    path,
    { port: 0 },
    {
      cwd: folder,
      stdout: { write: (text) => (stdout += text) },
      stderr: { write: () => {} },
      devices,
      onInterrupt(listener) {
        interrupt = listener;
        return () => {};
      },
    },
    serve,
  );
  return { done, interrupt: () => interrupt(), stdout: () => stdout };
}

describe("nnhal studio", () => {
  it("prints the address, serves the model and the devices, and ends when it is interrupted", async () => {
    const { done, interrupt, stdout } = start("a.tflite");
    await vi.waitFor(() => expect(stdout()).toBe("nnhal studio: http://127.0.0.1:4000/#token=abc\n"));
    expect(served.options?.model?.name).toBe("a.tflite");
    expect(new TextDecoder().decode(await served.options?.model?.read())).toBe("bytes");
    expect(await served.options?.devices.list()).toEqual([
      { name: "nnhal-a", problem: undefined },
      { name: "nnhal-b", problem: "it is not here" },
    ]);
    expect(await served.options?.devices.select("a")).toEqual(["the device a"]);
    expect(served.ended).toBe(0);
    interrupt();
    await done;
    expect(served.ended).toBe(1);
  });

  it("serves the page alone without a model", async () => {
    const { done, interrupt, stdout } = start(undefined);
    await vi.waitFor(() => expect(stdout()).not.toBe(""));
    expect(served.options?.model).toBeUndefined();
    interrupt();
    await done;
  });

  it("says why the page cannot be served, and which file is not there", async () => {
    await expect(start("missing.tflite").done).rejects.toThrow("missing.tflite");
    served.failure = "the port 80 is taken";
    await expect(start(undefined).done).rejects.toThrow("the page cannot be served: the port 80 is taken");
  });
});
