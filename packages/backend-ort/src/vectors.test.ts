/**
 * The public conformance vectors on the ort backend: every claimed operation is correct. The vectors are not part of this repository:
 * NNHAL_VECTORS names their folder. By default one of four runs, and with NNHAL_VECTOR_WAYS=all each. The derived forms run through
 * `nnhal vectors`.
 */
import { existsSync } from "node:fs";
import * as kit from "@nnhal/conformance";
import { runAidlVectors } from "@nnhal/test-kit/aidl-vectors";
import { vectorsFolder as folder } from "@nnhal/test-kit/folders";
import { expect, it } from "vitest";
import { deviceOf } from "./_devices.test-helper.ts";

const everyWay = process.env.NNHAL_VECTOR_WAYS === "all";

/** Operations without a lowering, or with refused examples only. */
const without = [
  "AXIS_ALIGNED_BBOX_TRANSFORM",
  "BOX_WITH_NMS_LIMIT",
  "DETECTION_POSTPROCESSING",
  "FILL",
  "GENERATE_PROPOSALS",
  "HEATMAP_MAX_KEYPOINT",
  "LSH_PROJECTION",
  "QUANTIZED_16BIT_LSTM",
  "QUANTIZED_LSTM",
  "RANDOM_MULTINOMIAL",
  "ROI_ALIGN",
  "ROI_POOLING",
  "SLICE",
  "TILE",
  "WHILE",
];

it("passes the public vectors that it supports", { timeout: 600_000 }, async ({ skip }) => {
  skip(!existsSync(folder), `there are no vectors at ${folder}; set NNHAL_VECTORS to their folder`);
  const device = await deviceOf();
  const passing = new Set<string>();
  let count = 0;
  const chosen = everyWay ? undefined : () => count++ % 4 === 0;
  const { passed, failures, bySubject } = await kit.summarise(
    kit.runVectors(device, kit.readVectorFiles(await kit.findVectorFiles(folder)), {
      ...(chosen && { filter: chosen }),
    }),
    ({ subject, verdict }) => {
      if (verdict === "passed") passing.add(subject);
    },
  );
  expect(failures.map(({ name, reason }) => `${name}: ${reason}`)).toEqual([]);
  const never = [...bySubject.keys()].filter((name) => !passing.has(name)).sort();
  if (everyWay) expect(never).toEqual(without);
  expect(without.filter((name) => passing.has(name))).toEqual([]);
  expect(passed).toBeGreaterThan(everyWay ? 5152 : 1200);
});

it("passes the vectors of AIDL that it supports", async ({ skip }) => {
  const counts = await runAidlVectors(kit, () => deviceOf(), skip);
  expect(counts).toEqual({ passed: 121, failed: 0, unsupported: 126, wrong: [] });
});
