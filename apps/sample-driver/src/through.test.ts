/**
 * The conformance kit and the public vectors through a daemon's process, with koffi and without: a part of each. The whole, on a daemon
 * that runs: `nnhal conformance --driver DIRECTORY --vectors VECTORS` and `nnhal vectors VECTORS --driver DIRECTORY`.
 */
import { existsSync } from "node:fs";
import {
  type CaseResult,
  deviceThrough,
  executionPaths,
  findVectorFiles,
  readVectorFiles,
  runDeviceSuites,
  runVectors,
} from "@nnhal/conformance";
import { connectService, type ServiceDevice } from "@nnhal/service";
import { sharedMemoryForm } from "@nnhal/service/shared-memory";
import { aidlVectorsFolder, vectorsFolder } from "@nnhal/test-kit/folders";
import { everyWay } from "@nnhal/test-kit/samples";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cleanUp, startDaemonProcess, withoutKoffi } from "./process.test-helper.ts";

const name = "nnhal-reference";
afterAll(cleanUp);

/** Returns a function that returns true for every `step`th call, from the `first` one on. */
function every(step: number, first = 0): () => boolean {
  let place = 0;
  return () => place++ % step === first;
}

/** The two ways take turns in the kit; with NNHAL_VECTOR_WAYS=all each goes through every twelfth case. */
const step = everyWay ? 12 : 24;

/** The failures of a run, and why cases were not supported. */
async function judge(results: AsyncIterable<CaseResult>) {
  const { failures, passed, reasons } = {
    failures: [] as string[],
    passed: [] as string[],
    reasons: new Set<string>(),
  };
  for await (const { verdict, name, reason = "", cause } of results) {
    if (verdict === "passed") passed.push(name);
    else if (verdict === "failed") failures.push(`${name}: ${reason}`);
    else reasons.add(cause?.kind === "need" ? cause.need : reason);
  }
  return { failures, passed: passed.length, reasons: [...reasons].sort() };
}

/** Cases that are about a device in the same process. */
const always = ["other clients", "unsupported operations"];
const fenced = "fenced executions need to know the dimensions of all outputs beforehand";

describe.each([
  { way: "with koffi", env: () => ({}), lacks: ["direct bursts", ...always], isShared: true, turn: 0 },
  { way: "without koffi", env: withoutKoffi, lacks: [...always, "kept models"], isShared: false, turn: 12 },
])("through a daemon $way", ({ env, lacks, isShared, turn }) => {
  let device: ServiceDevice;
  beforeAll(async () => {
    const { directory } = await startDaemonProcess(["--devices", name], { env: env() });
    const connected = await connectService(name, { directory });
    if ("unavailable" in connected) throw new Error(connected.unavailable);
    device = connected;
  });
  afterAll(() => device.close());

  it("memories are shared, or the device says why not", () => {
    const reason = expect.stringContaining("the package koffi is not installed");
    if (sharedMemoryForm().form === "copied") expect(device.memoryWay.kind).toBe("copied");
    else expect(device.memoryWay).toEqual(isShared ? { kind: "shared" } : { kind: "copied", reason });
    const kind = device.memoryWay.kind === "shared" ? "fileDescriptor" : "buffer";
    expect(device.createMemory(8)).toMatchObject({ size: 8, handle: { kind } });
  });

  it("a part of the kit passes", async () => {
    const { failures, passed, reasons } = await judge(runDeviceSuites(device, { filter: every(step, turn % step) }));
    expect(failures).toEqual([]);
    expect(passed).toBeGreaterThan(15);
    expect(lacks).toEqual(expect.arrayContaining(reasons));
  }, 60_000);

  it("the suite of AIDL passes", async () => {
    const { failures, passed } = await judge(runDeviceSuites(device, { version: "aidl4", suites: ["aidl"] }));
    expect(failures).toEqual([]);
    expect(passed).toBeGreaterThan(100);
  }, 60_000);

  it
    .skipIf(!existsSync(aidlVectorsFolder))
    .each(everyWay ? ([undefined, "aidl3", "aidl4"] as const) : ([undefined, "aidl4"] as const))(
    "the examples of AIDL pass in all forms, driven through %s",
    async (version) => {
      const examples = readVectorFiles(await findVectorFiles(aidlVectorsFolder));
      const driven = version === undefined ? device : deviceThrough(version, device);
      const { failures, passed } = await judge(runVectors(driven, examples, { variants: true }));
      expect(failures).toEqual([]);
      expect(passed).toBe(523);
    },
    120_000,
  );

  // It takes minutes.
  if (everyWay) {
    it.skipIf(!existsSync(vectorsFolder))(
      "every public vector passes in all forms",
      async () => {
        const examples = readVectorFiles(await findVectorFiles(vectorsFolder));
        const { failures, passed } = await judge(runVectors(device, examples, { variants: true }));
        expect(failures).toEqual([]);
        expect(passed).toBeGreaterThan(13_000);
      },
      600_000,
    );
  }

  it.skipIf(!existsSync(vectorsFolder)).each(executionPaths)(
    "a part of the vectors passes by %s",
    async (path) => {
      const place = executionPaths.indexOf(path);
      const files = (await findVectorFiles(vectorsFolder)).filter((_, index) => index % 100 === 10 * place);
      const results = runVectors(device, readVectorFiles(files), { path, filter: every(5) });
      const { failures, passed, reasons } = await judge(results);
      expect(failures).toEqual([]);
      if (path === "cached" && !isShared) expect(reasons).toHaveLength(1);
      else expect(passed).toBeGreaterThan(2);
      if (path === "fenced") expect([fenced]).toEqual(expect.arrayContaining(reasons));
    },
    60_000,
  );
});
