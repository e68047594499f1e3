/**
 * The public vectors of the operations and types that AIDL 2 and 3 add, on the reference device and through the faces of AIDL. They are not
 * part of this repository: NNHAL_VECTORS_AIDL names their folder.
 */
import { existsSync } from "node:fs";
import { referenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { aidlVectorsFolder as folder } from "@nnhal/test-kit/folders";
import { everyWay } from "@nnhal/test-kit/samples";
import { aidlVersions, type Device, type HalVersion } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { summarise } from "../result.ts";
import { deviceThrough, oldestVersion } from "../versions.ts";
import type { Example } from "./example.ts";
import { findVectorFiles, readVectorFiles } from "./read.ts";
import { runVectors } from "./run.ts";
import { subjectOf } from "./subject.ts";
import { aidlPaths, hasModel, knowsOutputs } from "./turns.test-helper.ts";
import type { VectorCase } from "./variant.ts";

const areThere = existsSync(folder);
const title = areThere
  ? "the vectors of AIDL"
  : "the vectors of AIDL (skipped: no such folder; NNHAL_VECTORS_AIDL names it)";

async function examplesOf(): Promise<readonly Example[]> {
  const examples: Example[] = [];
  for await (const example of readVectorFiles(await findVectorFiles(folder))) examples.push(example);
  return examples;
}

async function reference(): Promise<Device> {
  const device = await openDevice({ backend: referenceBackend });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return device;
}

describe.skipIf(!areThere)(title, { timeout: 300_000 }, () => {
  it("need the version of AIDL that they state", async () => {
    const examples = await examplesOf();
    expect(examples).toHaveLength(247);
    for (const example of examples) {
      const least = oldestVersion({ name: example.name, example, unspecifiedOutputs: false });
      expect(least, example.name).toBe(example.minSupportedVersion);
    }
    expect([...new Set(examples.map(subjectOf))].sort()).toEqual([
      "BATCH_MATMUL",
      "MIRROR_PAD",
      "PACK",
      "RESHAPE",
      "REVERSE",
      "RSQRT",
    ]);
  });

  it("pass on the reference in all forms", async () => {
    const { failures, passed, failed, unsupported, skipped } = await summarise(
      runVectors(await reference(), await examplesOf(), { variants: true }),
    );
    expect(failures.slice(0, 20).map(({ name, reason }) => `${name}: ${reason}`)).toEqual([]);
    expect({ passed, failed, unsupported, skipped }).toEqual({ passed: 523, failed: 0, unsupported: 0, skipped: 0 });
  });

  it.each<[HalVersion, number]>([
    ["1.3", 0],
    ["aidl1", 0],
    ["aidl2", 75],
    ["aidl3", 247],
    ["aidl4", 247],
  ])("are supported through HAL %s if it has the operation: %d", async (version, count) => {
    const device = deviceThrough(version, await reference());
    const { failures, passed, failed, unsupported } = await summarise(runVectors(device, await examplesOf()));
    expect(failures.slice(0, 20).map(({ name, reason }) => `${name}: ${reason}`)).toEqual([]);
    expect({ passed, failed, unsupported }).toEqual({ passed: count, failed: 0, unsupported: 247 - count });
  });

  // By default each case goes one way.
  const versions = everyWay ? aidlVersions.filter((version) => version >= "aidl2") : (["aidl4"] as const);
  const ways = versions.flatMap((version) =>
    aidlPaths(version).map((path, turn, { length }) => ({ version, path, turn, length })),
  );
  it.each(ways)("pass through HAL $version by way of $path", async ({ version, path, turn, length }) => {
    let count = 0;
    const filter = (vectorCase: VectorCase) =>
      hasModel(vectorCase, version) &&
      (path !== "fenced" || knowsOutputs(vectorCase)) &&
      (everyWay || count++ % length === turn);
    const results = runVectors(deviceThrough(version, await reference()), await examplesOf(), {
      variants: everyWay,
      path,
      filter,
    });
    const { failures, failed, unsupported, passed } = await summarise(results);
    expect(failures.slice(0, 20).map(({ name, reason }) => `${name}: ${reason}`)).toEqual([]);
    expect({ failed, unsupported }).toEqual({ failed: 0, unsupported: 0 });
    expect(passed).toBeGreaterThanOrEqual(everyWay ? 75 : 40);
  });
});
