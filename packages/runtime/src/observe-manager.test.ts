/**
 * The tags MANAGER and MEMORY: devices registered, left out and chosen; memories made, mapped, allocated on devices, freed.
 */
import type { Device } from "@nnhal/types";
import { createLogger } from "@nnhal/utils";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { Compilation } from "./compilation.ts";
import { registerDevices } from "./devices.ts";
import { Execution } from "./execution.ts";
import { half } from "./fakes.test-helper.ts";
import { faulty } from "./faults.test-helper.ts";
import { Memory } from "./memory.ts";
import { MemoryDesc } from "./memory-desc.ts";
import { openReference } from "./models.test-helper.ts";
import { chain } from "./plan/divided.test-helper.ts";

let reference: Device;
beforeAll(async () => {
  reference = await openReference();
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

/** A logger with a tag, and its messages. */
function listen(tag: string) {
  const lines: string[] = [];
  const log = createLogger({ sink: ({ message }) => lines.push(message), properties: () => tag });
  log.initVLogMask();
  return { lines, log };
}

describe("the tag manager", () => {
  it("logs which devices are registered, left out and chosen", async () => {
    const { lines, log } = listen("manager");
    const broken = faulty(reference, "device", "getType", "throws", "broken");
    const registry = registerDevices([broken, reference], { log });
    const { version } = reference.getVersionString();
    expect(lines).toEqual([
      "device broken is left out: getType threw: planted",
      `registered 1 devices: ${reference.name} (${version}, level 1000008); left out: 1`,
    ]);
    await registry.createCompilation(chain(), { log }).finish();
    expect(lines[2]).toMatch(new RegExp(`3 operations.* goes to ${reference.name}$`));
    expect(lines).toHaveLength(3);
  });
});

describe("the tag memory", () => {
  it("logs memories that belong to no model, on the console", () => {
    vi.stubEnv("NNHAL_VLOG", "memory");
    const written = vi.spyOn(console, "error").mockImplementation(() => {});
    const memory = Memory.allocate(8);
    memory.map();
    memory.close();
    expect(written.mock.calls.flat()).toEqual([
      "nnhal memory: Memory.allocate makes 8 bytes of ashmem",
      "nnhal memory: map: 8 bytes of ashmem",
      "nnhal memory: freed: 8 bytes of ashmem",
    ]);
  });

  it("logs nothing if it is off, even before a model is made", () => {
    vi.stubEnv("NNHAL_VLOG", "");
    const written = vi.spyOn(console, "error").mockImplementation(() => {});
    Memory.allocate(8).close();
    expect(written).not.toHaveBeenCalled();
  });

  it("logs device buffers and workspaces to the logger of the compilation", async () => {
    const { lines, log } = listen("memory");
    const compilation = new Compilation(chain(), [half("even", reference, 0), half("odd", reference, 1)], { log });
    await compilation.finish();
    const execution = new Execution(compilation);
    execution.setInput(0, Float32Array.of(1, 2));
    execution.setOutput(0, new Float32Array(2));
    await execution.compute();
    compilation.close();
    expect(lines).toEqual([
      expect.stringMatching(/^a workspace for 2 values: \d+ bytes of plain memory, 0 device buffers$/),
      "a workspace for 2 values is freed, with 0 device buffers",
    ]);
    lines.length = 0;
    const whole = new Compilation(chain(), [reference], { log });
    await whole.finish();
    const desc = new MemoryDesc();
    desc.addInputRole(whole, 0);
    desc.finish();
    const memory = await Memory.createFromDesc(desc);
    memory.close();
    expect(lines).toEqual([
      expect.stringMatching(`^${reference.name}: a buffer of dimensions \\[2\\] for 1 roles has token \\d+$`),
      expect.stringMatching(/^Memory.createFromDesc makes a buffer of a device with token \d+, for the roles/),
      expect.stringMatching(/^freed: a buffer of a device with token \d+/),
    ]);
  });
});

describe("the clock of a compilation", () => {
  it("times the steps", async () => {
    let time = 0n;
    const now = () => {
      time += 10n;
      return time;
    };
    const times: bigint[] = [];
    const compilation = new Compilation(chain(), [half("even", reference, 0), half("odd", reference, 1)], {
      now,
      onStep: ({ nanoseconds }) => times.push(nanoseconds),
    });
    await compilation.finish();
    const execution = new Execution(compilation);
    execution.setInput(0, Float32Array.of(1, 2));
    execution.setOutput(0, new Float32Array(2));
    await execution.compute();
    expect(times).toEqual([10n, 10n, 10n]);
  });
});
