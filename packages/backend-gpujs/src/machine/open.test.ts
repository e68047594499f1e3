import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findsGpu, openMachine } from "./open.ts";

describe("the search for a mode", () => {
  it("does not look for an adapter of WebGPU where there is no GPU, unless that mode is wanted", async () => {
    let asked = 0;
    const hasGpu = async () => {
      asked++;
      return false;
    };
    const opened = await openMachine(undefined, hasGpu);
    if (!("machine" in opened)) throw new Error(opened.unavailable);
    opened.machine.close();
    expect(opened.missing[0]).toEqual({
      unavailable: "mode webgpu does not work: there is no GPU",
      remedy: expect.stringContaining("NNHAL_GPUJS_MODE=webgpu"),
    });
    expect(asked).toBe(1);
    const wanted = await openMachine("webgpu", hasGpu);
    if ("machine" in wanted) wanted.machine.close();
    expect(asked).toBe(1);
  });

  it("finds a GPU by its device on Linux, and leaves it to the driver elsewhere", async () => {
    const folder = mkdtempSync(join(tmpdir(), "nnhal-gpu-"));
    try {
      writeFileSync(join(folder, "null"), "");
      expect(await findsGpu("linux", folder)).toBe(false);
      expect(await findsGpu("linux", join(folder, "gone"))).toBe(false);
      expect(await findsGpu("win32", folder)).toBe(true);
      writeFileSync(join(folder, "nvidia0"), "");
      expect(await findsGpu("linux", folder)).toBe(true);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
