/**
 * The conformance vectors through the faces of every HAL version: a device that is presented as a driver of a version, and
 * lifted again, returns the results that it returns itself, for every vector that the version can express. Vectors go one way
 * each, in turn; with NNHAL_VECTOR_WAYS=all every way. NNHAL_VECTORS names the folder of the vectors.
 */
import { existsSync } from "node:fs";
import { referenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import type { LiftOptions } from "@nnhal/driver-core/versions";
import { addExample } from "@nnhal/test-kit/examples";
import { vectorsFolder as folder } from "@nnhal/test-kit/folders";
import type { Device, HalVersion } from "@nnhal/types";
import { beforeAll, describe, expect, it } from "vitest";
import { summarise } from "./result.ts";
import { allVectors } from "./vectors/all.test-helper.ts";
import type { Example } from "./vectors/example.ts";
import { runVectors } from "./vectors/run.ts";
import type { VectorCase } from "./vectors/variant.ts";
import { deviceThrough, oldestVersion, runVectorsThrough } from "./versions.ts";

const present = existsSync(folder);
const everyWay = process.env.NNHAL_VECTOR_WAYS === "all";

async function referenceDevice(): Promise<Device> {
  const device = await openDevice({ backend: referenceBackend });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return device;
}

/** The reference device behind the face of a version. */
async function through(version: HalVersion, options: LiftOptions = {}): Promise<Device> {
  return deviceThrough(version, { ...(await referenceDevice()), name: `through-${version}` }, options);
}

/** The oldest version that can express the model of each case, in the order of the cases. */
const oldest: HalVersion[] = [];

/** Whether a version can express the model of a case. */
function hasModel(vectorCase: VectorCase, index: number, version: HalVersion): boolean {
  oldest[index] ??= oldestVersion(vectorCase);
  return version >= oldest[index];
}

let examples: readonly Example[] = [];
beforeAll(async () => {
  examples = await allVectors();
}, 120_000);

/** Runs the cases that meet a condition, which gets their numbers too: cases come in the same order each time. */
function run(device: Device, condition: (vectorCase: VectorCase, index: number) => boolean) {
  let count = 0;
  const filter = (vectorCase: VectorCase) => condition(vectorCase, count++);
  return summarise(runVectors(device, examples, { variants: true, filter }));
}

/** A version, and how its executions are made. */
type Way = readonly [HalVersion, "launched" | "synchronous"];

const ways: readonly Way[] = [
  ["1.0", "launched"],
  ["1.1", "launched"],
  ["1.2", "launched"],
  ["1.2", "synchronous"],
  ["1.3", "launched"],
  ["1.3", "synchronous"],
];

const findsShapes = (version: HalVersion): boolean => version >= "1.2";

/** The ways that each case can go, in the order of the cases. */
const possible: (readonly Way[])[] = [];

function waysOf(vectorCase: VectorCase, index: number): readonly Way[] {
  possible[index] ??= ways.filter(
    ([version]) => (findsShapes(version) || !vectorCase.unspecifiedOutputs) && hasModel(vectorCase, index, version),
  );
  return possible[index];
}

/** Whether a case goes this way. Of the ways that it can go, it takes one in turn. */
function goes(way: Way): (vectorCase: VectorCase, index: number) => boolean {
  return (vectorCase, index) => {
    const own = waysOf(vectorCase, index);
    return everyWay ? own.includes(way) : own[index % own.length] === way;
  };
}

describe.skipIf(!present)(
  present ? "the conformance vectors" : "the conformance vectors (skipped: no such folder; NNHAL_VECTORS names it)",
  () => {
    it.each(ways.map((way) => ({ way, version: way[0], kind: way[1] })))(
      "pass through HAL $version, executions $kind",
      { timeout: 300_000 },
      async ({ way, version, kind }) => {
        const summary = await run(await through(version, { synchronous: kind === "synchronous" }), goes(way));
        const { passed, failed, unsupported, skipped, total } = summary;
        const first = summary.failures.slice(0, 20).map(({ name, reason }) => `${name}: ${reason}`);
        expect(first, `${failed} of ${total} failed; the first are`).toEqual([]);
        expect({ passed, failed, unsupported, skipped }).toEqual({
          passed: total,
          failed: 0,
          unsupported: 0,
          skipped: 0,
        });
        expect(total).toBeGreaterThan(50);
      },
    );

    it.each<HalVersion>(["1.0", "1.1"])("fail in HAL %s where it would have to find shapes", async (version) => {
      const { failed, total, failures } = await run(
        await through(version),
        (vectorCase, index) =>
          vectorCase.unspecifiedOutputs &&
          (everyWay || index % ways.length === 0) &&
          hasModel(vectorCase, index, version),
      );
      expect(total).toBeGreaterThan(0);
      expect(failed).toBe(total);
      const reason = `GENERAL_FAILURE: through-${version} is of HAL ${version}, which cannot compute shapes`;
      expect(failures.filter((failure) => !failure.reason.includes(reason))).toEqual([]);
    });
  },
);

describe("runVectorsThrough", () => {
  it("runs what a version can express, and counts the rest as unsupported", async () => {
    const newer: Example = { ...addExample(), name: "float16" };
    const operands = newer.main.operands.map((operand) =>
      operand.type === "TENSOR_FLOAT32"
        ? { ...operand, type: "TENSOR_FLOAT16" as const, data: new Uint8Array(6) }
        : operand,
    );
    const examples = [addExample(), { ...newer, main: { ...newer.main, operands } }];
    const results = runVectorsThrough("1.0", await referenceDevice(), examples, { variants: true });
    const { passed, failed, unsupported, skipped, reasons, bySubject } = await summarise(results);
    expect({ passed, failed, unsupported, skipped }).toEqual({ passed: 1, failed: 0, unsupported: 3, skipped: 0 });
    expect(Object.fromEntries(reasons)).toEqual({
      "that an execution finds shapes is of HAL 1.2, and the device is driven through HAL 1.0": 1,
      "the model is of HAL 1.2, and the device is driven through HAL 1.0": 2,
    });
    expect([...bySubject.keys()]).toEqual(["ADD"]);
    const all = await summarise(runVectorsThrough("1.2", await referenceDevice(), examples, { variants: true }));
    expect(all).toMatchObject({ passed: 4, total: 4 });
  });
});
