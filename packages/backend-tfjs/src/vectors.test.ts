/**
 * The public conformance vectors on the tfjs backend: every claimed operation is correct. The vectors are not part of this repository:
 * NNHAL_VECTORS names their folder. By default each structure runs, and one in twelve of the others; with NNHAL_VECTOR_WAYS=all each
 * vector. The derived forms, and the plain JavaScript engine, run through `nnhal vectors`.
 */
import { existsSync } from "node:fs";
import * as kit from "@nnhal/conformance";
import { runAidlVectors } from "@nnhal/test-kit/aidl-vectors";
import { vectorsFolder as folder } from "@nnhal/test-kit/folders";
import { eachStructure, everyWay } from "@nnhal/test-kit/samples";
import * as tf from "@tensorflow/tfjs-core";
import { expect, it } from "vitest";
import { deviceOn } from "./_devices.test-helper.ts";

/** Operations that tfjs cannot express; all others are claimed. */
const without = [
  "BOX_WITH_NMS_LIMIT",
  "DETECTION_POSTPROCESSING",
  "GENERATE_PROPOSALS",
  "LSH_PROJECTION",
  "QUANTIZED_16BIT_LSTM",
  "QUANTIZED_LSTM",
];

it("passes the public vectors that it supports", { timeout: 600_000 }, async ({ skip }) => {
  skip(!existsSync(folder), `there are no vectors at ${folder}; set NNHAL_VECTORS to their folder`);
  const device = await deviceOn("wasm");
  const passing = new Set<string>();
  const before = tf.memory();
  const { passed, failed, unsupported, skipped, failures, bySubject, reasons } = await kit.summarise(
    kit.runVectors(device, kit.readVectorFiles(await kit.findVectorFiles(folder)), { filter: eachStructure(12) }),
    ({ subject, verdict }) => {
      if (verdict === "passed") passing.add(subject);
    },
  );
  const first = failures.slice(0, 20).map(({ name, reason }) => `${name}: ${reason}`);
  expect(first, `${failed} failed; the first are`).toEqual([]);
  expect([...bySubject.keys()].filter((name) => !passing.has(name)).sort()).toEqual(without);
  expect([...reasons.keys()].sort()).toEqual(without.map((name) => `${name}: tfjs has no kernel for it`));
  expect({ passed, failed, unsupported, skipped, operations: passing.size }).toEqual({
    passed: everyWay ? 6312 : 1797,
    failed: 0,
    unsupported: everyWay ? 303 : 139,
    skipped: 0,
    operations: 96,
  });
  // Whatever the kernels made on the way.
  expect(tf.memory()).toEqual(before);
});

it("passes the vectors of AIDL that it supports", async ({ skip }) => {
  const counts = await runAidlVectors(kit, () => deviceOn("wasm"), skip);
  expect(counts).toEqual({ passed: 243, failed: 0, unsupported: 4, wrong: [] });
});
