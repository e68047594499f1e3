/**
 * The public conformance vectors on the reference device by every execution path: with versions.test.ts, which has the faces of HAL
 * versions, the proof that the kit and the reference kernels are right together. The vectors are not part of this repository:
 * NNHAL_VECTORS names their folder.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { referenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { vectorsFolder as folder } from "@nnhal/test-kit/folders";
import { operationTypes } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { summarise } from "../result.ts";
import { allVectors, areThere } from "./all.test-helper.ts";
import { runVectors } from "./run.ts";
import { subjectOf } from "./subject.ts";
import { paths, shares } from "./turns.test-helper.ts";
import { casesOf } from "./variant.ts";

/** Examples that the folder's own index counts. */
function indexedExamples(): number {
  const index: unknown = JSON.parse(readFileSync(join(folder, "INDEX.json"), "utf8"));
  if (!Array.isArray(index)) throw new TypeError("INDEX.json is not a list");
  return index.reduce((sum, { examples }) => sum + examples, 0);
}

const title = areThere ? "the public vectors" : "the public vectors (skipped: no such folder; NNHAL_VECTORS names it)";

describe.skipIf(!areThere)(title, { timeout: 600_000 }, () => {
  it("are complete: every form of each goes some way, and every operation has one", async () => {
    const examples = await allVectors();
    expect(examples.length).toBe(indexedExamples());
    const names = examples.flatMap((example) => casesOf(example, true).map(({ name }) => name));
    expect(names.length).toBeGreaterThan(2 * examples.length);
    const gone = new Set([...(await shares()).values()].flatMap((share) => [...share.names]));
    expect(gone.size).toBe(names.length);
    const subjects = new Set<string>(examples.map(subjectOf));
    // Those of AIDL have vectors of their own: aidl-vectors.test.ts.
    const ofAidl = ["BATCH_MATMUL", "PACK", "MIRROR_PAD", "REVERSE"];
    const without = Object.keys(operationTypes).filter((name) => !subjects.has(name));
    expect(without.sort()).toEqual(["OEM_OPERATION", ...ofAidl].sort());
  });

  it.each(paths)("pass by way of $path", async (way) => {
    const device = await openDevice({ backend: referenceBackend });
    if ("unavailable" in device) throw new Error(device.unavailable);
    const { examples, names } = (await shares()).get(way) ?? { examples: [], names: new Set() };
    const options = { variants: true, path: way.path, filter: ({ name }: { name: string }) => names.has(name) };
    const { failures, passed, failed, total, reasons } = await summarise(runVectors(device, examples, options));
    const first = failures.slice(0, 20).map(({ name, reason }) => `${name}: ${reason}`);
    expect(first, `${failed} of ${total} failed; the first are`).toEqual([]);
    expect([...reasons], "reasons why vectors did not run").toEqual([]);
    expect(passed).toBe(names.size);
    expect(passed).toBeGreaterThan(500);
  });
});
