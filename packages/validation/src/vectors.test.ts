/**
 * Validation of the conformance vectors, where their folder is there: every valid model is accepted, and its minimum
 * version is the one that the vectors give.
 */
import { existsSync } from "node:fs";
import { vectorsFolder as folder } from "@nnhal/test-kit/folders";
import { vectorsOf } from "@nnhal/test-kit/vectors";
import { withoutDefaults } from "@nnhal/test-kit/without-defaults";
import { hidlVersions } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { minimumVersion, modelIssues, validateModel } from "./index.ts";

const present = existsSync(folder);

/** Loops whose values have unknown sizes are for the framework: no driver has to take them. */
const forTheRuntime = "V1_3_cts_only/while_fib_unknown_rank.jsonl.gz";

/** Valid models that only their execution shows to be wrong. */
const failsLater = /^while_infinite_loop\//;

describe.skipIf(!present)(
  present ? "the conformance vectors" : "the conformance vectors (skipped: no such folder; NNHAL_VECTORS names it)",
  () => {
    it("are valid if no failure is expected, else refused, except loops that only their execution shows to be endless", {
      timeout: 120_000,
    }, () => {
      const wrong: string[] = [];
      let valid = 0;
      for (const { vector, model, file } of vectorsOf(folder)) {
        const mode = file === forTheRuntime ? "runtime" : "driver";
        const [issue] = modelIssues(model, { mode, limit: 1 });
        const acceptable = !vector.expectFailure || failsLater.test(vector.name);
        if (acceptable) valid++;
        if (acceptable && issue !== undefined) wrong.push(`${vector.name}: ${issue.path}: ${issue.message}`);
        if (!acceptable && issue === undefined) wrong.push(`${vector.name}: accepted, but a failure is expected`);
      }
      expect(wrong).toEqual([]);
      expect(valid).toBeGreaterThan(0);
    });

    it("need the HAL version that they give, once trailing defaults are left out", { timeout: 120_000 }, () => {
      const wrong: string[] = [];
      for (const { vector, model, file } of vectorsOf(folder)) {
        const mode = file === forTheRuntime ? "runtime" : "driver";
        const given = vector.minSupportedVersion.replace("V", "").replace("_", ".");
        const least = minimumVersion(model, { mode });
        if (vector.expectFailure) continue;
        if (least === undefined) {
          wrong.push(`${vector.name}: is not valid at any version`);
          continue;
        }
        if (given !== "UNKNOWN" && given !== minimumVersion(withoutDefaults(model), { mode })) {
          wrong.push(`${vector.name}: ${given} is given, ${least} found`);
        }
        for (const version of hidlVersions) {
          if (validateModel(model, { version, mode }) !== version >= least) {
            wrong.push(`${vector.name}: validity at ${version} does not agree with its minimum version ${least}`);
          }
        }
      }
      expect(wrong).toEqual([]);
    });

    it("with loops of values of unknown size are refused by a driver", () => {
      const loops = vectorsOf(folder).filter(({ file }) => file === forTheRuntime);
      expect(loops.length).toBeGreaterThan(0);
      for (const { model } of loops) {
        expect(new Set(modelIssues(model).map(({ code }) => code))).toEqual(new Set(["while-unknown-size"]));
      }
    });
  },
);
