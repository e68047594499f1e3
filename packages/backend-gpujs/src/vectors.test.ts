/**
 * The public conformance vectors on the gpu.js backend: every claimed operation is correct. The vectors are not part of this repository:
 * NNHAL_VECTORS names their folder. Each structure once is enough here, since each has kernels to compile; with
 * NNHAL_VECTOR_WAYS=all each vector runs. The derived forms, and the other modes run through `nnhal vectors`.
 */
import { existsSync } from "node:fs";
import * as kit from "@nnhal/conformance";
import { runAidlVectors } from "@nnhal/test-kit/aidl-vectors";
import { vectorsFolder as folder } from "@nnhal/test-kit/folders";
import { eachStructure, everyWay } from "@nnhal/test-kit/samples";
import { expect, it } from "vitest";
import { deviceOn, deviceOver } from "./_devices.test-helper.ts";

it("passes the public vectors that it supports, and keeps no value", { timeout: 600_000 }, async ({ skip }) => {
  skip(!existsSync(folder), `there are no vectors at ${folder}; set NNHAL_VECTORS to their folder`);
  const { device, machine } = await deviceOver("webasm");
  const passing = new Set<string>();
  const { passed, failed, unsupported, skipped, failures } = await kit.summarise(
    kit.runVectors(device, kit.readVectorFiles(await kit.findVectorFiles(folder)), {
      filter: eachStructure(Number.POSITIVE_INFINITY),
    }),
    ({ subject, verdict }) => {
      if (verdict === "passed") passing.add(subject);
    },
  );
  const first = failures.slice(0, 20).map(({ name, reason }) => `${name}: ${reason}`);
  expect(first, `${failed} failed; the first are`).toEqual([]);
  expect(machine.statistics.values).toBe(0);
  expect({ passed, failed, unsupported, skipped, operations: passing.size }).toEqual({
    passed: everyWay ? 5366 : 1181,
    failed: 0,
    unsupported: everyWay ? 1249 : 330,
    skipped: 0,
    operations: 83,
  });
});

it("passes the vectors of AIDL that it supports", async ({ skip }) => {
  const counts = await runAidlVectors(kit, () => deviceOn("webasm"), skip);
  expect(counts).toEqual({ passed: 216, failed: 0, unsupported: 31, wrong: [] });
});
