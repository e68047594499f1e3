/**
 * Versions of the conformance vectors, if their folder exists: compliance agrees with validation, conversions go
 * there and back, and slices are valid.
 */
import { existsSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { vectorsFolder as folder } from "@nnhal/test-kit/folders";
import { everyWay } from "@nnhal/test-kit/samples";
import { vectorsOf } from "@nnhal/test-kit/vectors";
import { withoutDefaults } from "@nnhal/test-kit/without-defaults";
import { halVersions } from "@nnhal/types";
import { minimumVersion, validateModel } from "@nnhal/validation";
import { describe, expect, it } from "vitest";
import { complianceWith, convertToV1_0, convertToV1_1, convertToV1_2, convertToV1_3, sliceModel } from "./index.ts";

const present = existsSync(folder);

/** The vectors whose models are valid, each with the oldest version that its model fits. */
const validVectors = present
  ? vectorsOf(folder).flatMap((one) => {
      const least = minimumVersion(one.model, { mode: "runtime" });
      return least === undefined ? [] : [{ ...one, least }];
    })
  : [];

/**
 * Of vectors whose models differ in extents and values alone, the first that needs each version: conversions and slices do not see more.
 * With NNHAL_VECTOR_WAYS=all every vector.
 */
const structures = firstOfEach(validVectors, ({ model: { main, referenced, ...model }, least }) =>
  JSON.stringify([
    [least, model.relaxComputationFloat32toFloat16],
    ...[main, ...referenced].map(({ operands, operations, inputIndexes, outputIndexes }) => [
      [operations, inputIndexes, outputIndexes],
      operands.map(({ type, lifetime, dimensions, extraParams }) => [
        type,
        lifetime,
        dimensions.length,
        dimensions.includes(0),
        extraParams.kind,
      ]),
    ]),
  ]),
);

function firstOfEach<One>(all: readonly One[], keyOf: (one: One) => string): readonly One[] {
  return everyWay ? all : [...new Map(all.toReversed().map((one) => [keyOf(one), one])).values()];
}

const older = [
  ["1.0", convertToV1_0],
  ["1.1", convertToV1_1],
  ["1.2", convertToV1_2],
] as const;

/**
 * Files with vectors that need a later version than they give: their minimum versions are those of models whose
 * operations leave out trailing inputs that hold their default, as the NNAPI runtime makes them. See docs/versions.md.
 */
const withDefaults: Readonly<Record<string, number>> = {
  "V1_2/avg_pool_v1_2: 1.0 given, 1.2 needed": 20,
  "V1_2/conv2d_dilation: 1.0 given, 1.2 needed": 16,
  "V1_2/depth_to_space_v1_2: 1.0 given, 1.2 needed": 12,
  "V1_2/l2_normalization_axis: 1.0 given, 1.2 needed": 2,
  "V1_2/l2_pool_v1_2: 1.0 given, 1.2 needed": 6,
  "V1_2/local_response_normalization_v1_2: 1.0 given, 1.2 needed": 4,
  "V1_2/max_pool_v1_2: 1.0 given, 1.2 needed": 16,
  "V1_2/resize_bilinear_v1_2: 1.0 given, 1.2 needed": 4,
  "V1_2/softmax_v1_2: 1.0 given, 1.2 needed": 16,
  "V1_2/space_to_batch_v1_2: 1.1 given, 1.2 needed": 24,
  "V1_2/space_to_depth_v1_2: 1.0 given, 1.2 needed": 12,
  "V1_3/resize_bilinear_v1_3: 1.0 given, 1.3 needed": 2,
  "V1_3/resize_bilinear_v1_3: 1.2 given, 1.3 needed": 22,
  "V1_3/resize_nearest_neighbor_v1_3: 1.2 given, 1.3 needed": 24,
};

describe.skipIf(!present)(
  present ? "the conformance vectors" : "the conformance vectors (skipped: no such folder; NNHAL_VECTORS names it)",
  () => {
    it("have the minimum version that they state, except those with defaults written out", { timeout: 120_000 }, () => {
      const differing: Record<string, number> = {};
      let count = 0;
      for (const { file, vector, model, least } of validVectors) {
        const given = vector.minSupportedVersion.replace("V", "").replace("_", ".");
        if (given === "UNKNOWN") continue;
        count++;
        expect(minimumVersion(withoutDefaults(model), { mode: "runtime" }), vector.name).toBe(given);
        if (given === least) continue;
        const key = `${file.replace(".jsonl.gz", "")}: ${given} given, ${least} needed`;
        differing[key] = (differing[key] ?? 0) + 1;
      }
      expect(count).toBeGreaterThan(0);
      expect(differing).toEqual(withDefaults);
    });

    it("comply with exactly the versions from their minimum version on", { timeout: 120_000 }, () => {
      const wrong: string[] = [];
      let count = 0;
      for (const { vector, model, least } of validVectors) {
        count++;
        for (const version of halVersions) {
          if (complianceWith(version).model(model) !== version >= least) wrong.push(`${vector.name} at ${version}`);
        }
      }
      expect(wrong).toEqual([]);
      expect(count).toBeGreaterThan(0);
    });

    it("convert down and up to what they were, wherever the version can express them", { timeout: 120_000 }, () => {
      const wrong: string[] = [];
      for (const { vector, model, least } of structures) {
        for (const [version, to] of older) {
          const { value, lost } = to.model(model);
          const back = convertToV1_3.model(value);
          if (!isDeepStrictEqual(to.model(back).value, value)) wrong.push(`${vector.name}: down(up()) at ${version}`);
          if (version < least !== lost.some(({ harmless }) => !harmless))
            wrong.push(`${vector.name}: lost at ${version}`);
          if (version < least) continue;
          const unrelaxed = { ...model, relaxComputationFloat32toFloat16: false };
          if (!isDeepStrictEqual(back, version === "1.0" ? unrelaxed : model)) {
            wrong.push(`${vector.name}: up(down()) at ${version}`);
          }
        }
      }
      expect(wrong).toEqual([]);
    });

    it("have valid slices, of all operations wherever the version can express them", { timeout: 120_000 }, () => {
      const wrong: string[] = [];
      let partial = 0;
      for (const { vector, model, least } of structures) {
        for (const [version] of older) {
          const slice = sliceModel(model, version);
          if ("unsliceable" in slice) {
            if (version >= least) wrong.push(`${vector.name} at ${version}: ${slice.unsliceable}`);
            continue;
          }
          if (!validateModel(slice.model, { version, mode: "runtime" })) wrong.push(`${vector.name} at ${version}`);
          const isWhole = slice.operationIndexes.length === model.main.operations.length;
          if (isWhole !== version >= least) wrong.push(`${vector.name} at ${version}: ${slice.operationIndexes}`);
          if (!isWhole) partial++;
        }
      }
      expect(wrong).toEqual([]);
      expect(partial).toBeGreaterThan(0);
      expect(structures.length).toBeGreaterThan(1500);
    });
  },
);
