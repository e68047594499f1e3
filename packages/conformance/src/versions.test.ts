/**
 * The conformance vectors through the faces of every HAL version: a device that is presented as a driver of a version, and
 * lifted again, returns the results that it returns itself. turns.test-helper.ts says which vectors go which way.
 */
import { referenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import type { LiftOptions } from "@nnhal/driver-core/versions";
import { addExample } from "@nnhal/test-kit/examples";
import { everyWay } from "@nnhal/test-kit/samples";
import type { Device, HalVersion } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { summarise } from "./result.ts";
import { allVectors, areThere } from "./vectors/all.test-helper.ts";
import type { Example } from "./vectors/example.ts";
import { runVectors } from "./vectors/run.ts";
import { faces, hasModel, shares } from "./vectors/turns.test-helper.ts";
import type { VectorCase } from "./vectors/variant.ts";
import { deviceThrough, runMutationsThrough, runVectorsThrough } from "./versions.ts";

async function referenceDevice(): Promise<Device> {
  const device = await openDevice({ backend: referenceBackend });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return device;
}

/** The reference device behind the face of a version. */
async function through(version: HalVersion, options: LiftOptions = {}): Promise<Device> {
  return deviceThrough(version, { ...(await referenceDevice()), name: `through-${version}` }, options);
}

const unsendable = "a memory of 0 bytes cannot be sent through AIDL";

describe.skipIf(!areThere)(
  areThere ? "the conformance vectors" : "the conformance vectors (skipped: no such folder; NNHAL_VECTORS names it)",
  () => {
    const named = faces.map((way) => [way.version, way.path ?? way.kind, way] as const);
    it.each(named)("pass through HAL %s, executions %s", { timeout: 600_000 }, async (_version, _how, way) => {
      const { examples, names } = (await shares()).get(way) ?? { examples: [], names: new Set() };
      const device = await through(way.version, { synchronous: way.kind === "synchronous" });
      const filter = ({ name }: VectorCase) => names.has(name);
      const { path } = way;
      const summary = await summarise(runVectors(device, examples, { variants: true, path, filter }));
      const { passed, failed, unsupported, skipped, total } = summary;
      const first = summary.failures.slice(0, 20).map(({ name, reason }) => `${name}: ${reason}`);
      expect(first, `${failed} of ${total} failed; the first are`).toEqual([]);
      // Buffers of the device are filled from memories.
      const empty = path === "device-memory" ? (summary.reasons.get(unsendable) ?? 0) : 0;
      expect({ passed, failed, unsupported, skipped }).toEqual({
        passed: names.size - empty,
        failed: 0,
        unsupported: empty,
        skipped: 0,
      });
      expect(total).toBeGreaterThan(40);
    });

    it.each<HalVersion>(["1.0", "1.1"])("fail in HAL %s where it would have to find shapes", async (version) => {
      const examples = (await allVectors()).filter((_, index) => everyWay || index % 6 === 0);
      const filter = (vectorCase: VectorCase) => vectorCase.unspecifiedOutputs && hasModel(vectorCase, version);
      const { failed, total, failures } = await summarise(
        runVectors(await through(version), examples, { variants: true, filter }),
      );
      expect(total).toBeGreaterThan(0);
      expect(failed).toBe(total);
      const reason = `GENERAL_FAILURE: through-${version} is of HAL ${version}, which cannot compute shapes`;
      expect(failures.filter((failure) => !failure.reason.includes(reason))).toEqual([]);
    });
  },
);

/** An example that HAL 1.2 can express first. */
function float16Example(): Example {
  const example: Example = { ...addExample(), name: "float16" };
  const operands = example.main.operands.map((operand) =>
    operand.type === "TENSOR_FLOAT32"
      ? { ...operand, type: "TENSOR_FLOAT16" as const, data: new Uint8Array(6) }
      : operand,
  );
  return { ...example, main: { ...example.main, operands } };
}

describe("runVectorsThrough", () => {
  it("runs what a version can express, and counts the rest as unsupported", async () => {
    const examples = [addExample(), float16Example()];
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

describe("runMutationsThrough", () => {
  it.each<HalVersion>(["1.0", "1.1", "1.2", "1.3", "aidl1", "aidl2", "aidl3", "aidl4"])(
    "finds that a device refuses all mutants through HAL %s, but those of what the version lacks",
    async (version) => {
      const results = runMutationsThrough(version, await referenceDevice(), [addExample(), float16Example()]);
      const { failures, bySubject, reasons } = await summarise(results);
      expect(failures).toEqual([]);
      expect(bySubject.get("original")).toMatchObject(
        version < "1.2" ? { passed: 1, unsupported: 1 } : { passed: 2, unsupported: 0 },
      );
      expect(bySubject.get("operationType")?.passed).toBeGreaterThan(0);
      const consumers = bySubject.get("operandNumberOfConsumers");
      if (version >= "aidl1") expect(consumers).toMatchObject({ passed: 0 });
      else expect(consumers?.passed).toBeGreaterThan(0);
      expect(reasons.has("AIDL has no counts of consumers")).toBe(version >= "aidl1");
      expect(reasons.has("a pool given by token is of HAL 1.3")).toBe(version < "1.3");
    },
  );
});
