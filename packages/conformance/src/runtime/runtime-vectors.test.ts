/**
 * The public conformance vectors through the runtime: on one device, divided among several, with control flow interpreted,
 * and with devices that fail. `NNHAL_VECTOR_WAYS=all` runs every vector in every form; otherwise a fixed sample runs.
 */
import { referenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { androidPolicy } from "@nnhal/driver-core/partition";
import { asV1_0, asV1_1, asV1_2, liftDevice } from "@nnhal/driver-core/versions";
import { type RuntimeDeviceOptions, runtimeAsDevice } from "@nnhal/runtime";
import { everyWay } from "@nnhal/test-kit/samples";
import type { Device } from "@nnhal/types";
import { beforeAll, describe, expect, it } from "vitest";
import { partOf } from "../graphs/parts.ts";
import { type CaseResult, summarise } from "../result.ts";
import { areThere } from "../vectors/all.test-helper.ts";
import type { Example } from "../vectors/example.ts";
import { runVectors, type VectorsOptions } from "../vectors/run.ts";
import { broken, isControlFlow, makeFailing } from "./sample-devices.test-helper.ts";
import { half, oneInThree, sampleOfVectors, withFewLoops } from "./vector-sample.test-helper.ts";

let reference: Device;
let examples: readonly Example[] = [];
let few: readonly Example[] = [];
let fewer: readonly Example[] = [];
beforeAll(async () => {
  const device = await openDevice({ backend: referenceBackend });
  if ("unavailable" in device) throw new Error(device.unavailable);
  reference = device;
  examples = await sampleOfVectors();
  few = withFewLoops(examples);
  fewer = oneInThree(few);
}, 120_000);

/** The steps that ran, in addition to the results. */
interface Seen {
  /** Steps by kind. */
  readonly steps: Record<"execution" | "if" | "while", number>;
  readonly fallbacks: string[];
}

async function run(
  devices: readonly Device[],
  options: RuntimeDeviceOptions = {},
  { variants = true, path = "sync" }: VectorsOptions = {},
  chosen = few,
) {
  const seen: Seen = { steps: { execution: 0, if: 0, while: 0 }, fallbacks: [] };
  const device = runtimeAsDevice(devices, {
    policy: androidPolicy,
    onStep: ({ step: { kind } }) => seen.steps[kind]++,
    onFallback: (message) => seen.fallbacks.push(message),
    ...options,
  });
  const results: CaseResult[] = [];
  const summary = await summarise(runVectors(device, chosen, { variants, path }), (result) => results.push(result));
  if (everyWay) console.log(expect.getState().currentTestName, summary.total, JSON.stringify(seen.steps));
  return { summary, seen, results };
}

function expectAllPassed({ summary }: Awaited<ReturnType<typeof run>>): void {
  const { passed, failed, unsupported, skipped, total } = summary;
  const first = summary.failures.slice(0, 20).map(({ name, reason }) => `${name}: ${reason}`);
  expect(first, `${failed} of ${total} failed; the first are`).toEqual([]);
  expect([...summary.reasons], "reasons why vectors did not run").toEqual([]);
  expect({ passed, failed, unsupported, skipped }).toEqual({ passed: total, failed: 0, unsupported: 0, skipped: 0 });
}

describe.skipIf(!areThere)("the public vectors through the runtime", { timeout: 1_800_000 }, () => {
  it("are there", () => {
    expect(examples.filter(({ referenced }) => referenced.length > 0).length).toBeGreaterThan(20);
    expect(examples.length).toBeGreaterThan(everyWay ? 6000 : 150);
  });

  it("pass on one device", async () => {
    const one = await run([reference], {}, {}, fewer);
    expectAllPassed(one);
    expect(one.seen.steps).toMatchObject({ if: 0, while: 0 });
  });

  it("pass divided among devices of which each takes other operations, with control flow interpreted", async () => {
    const devices = [0, 1, 2].map((share) =>
      partOf(reference, `sample-${share}`, (type) => !isControlFlow(type) && type % 3 === share),
    );
    const divided = await run(devices, { cpu: reference, partition: 2 }, {}, examples);
    expectAllPassed(divided);
    expect(divided.seen.steps.if).toBeGreaterThan(0);
    expect(divided.seen.steps.while).toBeGreaterThan(0);
    // Many have more steps than one.
    expect(divided.seen.steps.execution).toBeGreaterThan(1.2 * divided.summary.total);
    expect(divided.seen.fallbacks).toEqual([]);
  });

  it("pass with each operation on another device than the one before", async () => {
    const devices = [0, 1].map((share) =>
      partOf(reference, `sample-${share}`, (type, index) => !isControlFlow(type) && index % 2 === share),
    );
    const divided = await run(devices, { cpu: reference, partition: 2 });
    expectAllPassed(divided);
    expect(divided.seen.steps.execution).toBeGreaterThan(1.2 * divided.summary.total);
  });

  it("pass divided among drivers of HAL 1.0, 1.1 and 1.2, with what those cannot express on the CPU", async () => {
    const devices = [asV1_0, asV1_1, asV1_2].map((face, share) => {
      const name = `old-${share}`;
      return liftDevice(name, face(partOf(reference, name, (type) => !isControlFlow(type) && type % 3 === share)));
    });
    // Without variants: drivers older than 1.2 do not find out the shapes of outputs.
    const divided = await run(devices, { cpu: reference, partition: 2 }, { variants: false });
    expectAllPassed(divided);
    expect(divided.seen.fallbacks).toEqual([]);
  });

  it("go to an old driver in greater number than without the runtime, which leaves out trailing defaults", async () => {
    const old = liftDevice("old", asV1_1(reference));
    const alone = await summarise(runVectors(old, fewer), () => {});
    const through = await summarise(runVectors(runtimeAsDevice([old]), fewer), () => {});
    expect([alone.failed, through.failed]).toEqual([0, 0]);
    expect(through.passed).toBeGreaterThan(alone.passed);
  });

  it.each([
    ["fenced", 0],
    ["burst", 1],
  ] as const)("pass divided on the path %s, a half on each", async (path, which) => {
    const devices = [0, 1].map((share) =>
      partOf(reference, `sample-${share}`, (type, index) => !isControlFlow(type) && index % 2 === share),
    );
    const { summary } = await run(
      devices,
      { cpu: reference, partition: 2 },
      { variants: false, path },
      half(few, which),
    );
    expect(summary.failures.slice(0, 20)).toEqual([]);
    expect(summary.passed).toBeGreaterThan(0.8 * summary.total);
    expect(summary.passed + summary.unsupported).toBe(summary.total);
  });

  it("pass by the cost policy, too: one in three", async () => {
    const devices = [0, 1, 2].map((share) => partOf(reference, `sample-${share}`, (type) => type % 3 === share));
    const policy = { ...androidPolicy, kind: "cost" } as const;
    expectAllPassed(await run(devices, { cpu: reference, partition: 2, policy }, {}, fewer));
  });

  it.each(["prepare", "execute"] as const)("pass if a device fails to %s, on the CPU", async (at) => {
    const fallen = await run([makeFailing(at, reference)], { cpu: reference }, {}, fewer);
    expectAllPassed(fallen);
    expect(fallen.seen.fallbacks.length).toBeGreaterThanOrEqual(0.95 * fallen.summary.total);
  });

  it.each(["prepare", "execute"] as const)("fail if a device fails to %s and nothing may fall back", async (at) => {
    const { results, seen } = await run([makeFailing(at, reference)], { cpu: reference, partition: 2 }, {}, fewer);
    const mustFail = new Set(examples.filter(({ expectFailure }) => expectFailure).map(({ name }) => name));
    const others = results.filter(({ name }) => !mustFail.has(name));
    const odd = others.filter(({ verdict, reason }) => verdict !== "failed" || !reason?.includes(broken));
    expect(odd).toEqual([]);
    expect(others.length).toBeGreaterThan(0);
    expect(seen.fallbacks).toEqual([]);
  });
});
