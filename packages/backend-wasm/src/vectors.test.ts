/**
 * The public conformance vectors on the wasm backend: what it claims it does right. The vectors are not part of this repository:
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

/** Examples of each operation that are refused, of all. */
const refused: Readonly<Record<string, number>> = {
  BOX_WITH_NMS_LIMIT: 33,
  CONCATENATION: 1,
  GENERATE_PROPOSALS: 32,
  IF: 32,
  LSH_PROJECTION: 25,
  RANDOM_MULTINOMIAL: 2,
  TRANSPOSE_CONV_2D: 8,
  WHILE: 100,
};

/** Operations with examples that pass, of 102, and these with each type of their first operand. */
const reached = { operations: 98, types: 311 };

it("passes the public vectors that it supports", { timeout: 600_000 }, async ({ skip }) => {
  skip(!existsSync(folder), `there are no vectors at ${folder}; set NNHAL_VECTORS to their folder`);
  const device = await deviceOf();
  const passing = new Map<string, Set<string>>();
  const unsupported: Record<string, number> = {};
  const types = new Map<string, string>();
  let count = 0;
  const filter = ({ name, example: { main } }: kit.VectorCase) => {
    types.set(name, main.operands[main.operations[0]?.inputs[0] ?? 0]?.type ?? "");
    return everyWay || count++ % 8 === 0;
  };
  const { passed, failures } = await kit.summarise(
    kit.runVectors(device, kit.readVectorFiles(await kit.findVectorFiles(folder)), { filter }),
    ({ name, subject, verdict }) => {
      if (verdict === "passed") passing.set(subject, (passing.get(subject) ?? new Set()).add(types.get(name) ?? ""));
      if (verdict === "unsupported") unsupported[subject] = (unsupported[subject] ?? 0) + 1;
    },
  );
  expect(failures.map(({ name, reason }) => `${name}: ${reason}`)).toEqual([]);
  if (everyWay) {
    expect(unsupported).toEqual(refused);
    const pairs = [...passing.values()].reduce((sum, each) => sum + each.size, 0);
    expect({ operations: passing.size, types: pairs }).toEqual(reached);
  }
  expect(Object.keys(unsupported).filter((name) => refused[name] === undefined)).toEqual([]);
  expect(passed).toBeGreaterThan(everyWay ? 6000 : 700);
});

it("passes the vectors of AIDL that it supports", async ({ skip }) => {
  const counts = await runAidlVectors(kit, () => deviceOf(), skip);
  expect(counts).toEqual({ passed: 183, failed: 0, unsupported: 64, wrong: [] });
});
