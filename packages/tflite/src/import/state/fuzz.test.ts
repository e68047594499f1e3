/**
 * Any use of resources: a model that is imported or a TfliteError, never another error.
 */

import { tfliteExtension } from "@nnhal/extension-tflite";
import { everyFault } from "@nnhal/test-kit/samples";
import { modelIssues } from "@nnhal/validation";
import fc from "fast-check";
import { expect, test } from "vitest";
import { modelOf, type SubgraphGiven } from "../../_model.test-helper.ts";
import { TfliteError } from "../../error.ts";
import { importTflite } from "../import.ts";

const names = ["a", "b", "h", "g", "s", "c", "t", "i"] as const;
const tensors: SubgraphGiven["tensors"] = {
  a: { type: "FLOAT32", shape: [2] },
  b: { type: "FLOAT32", shape: [2], data: [1, 2] },
  h: { type: "RESOURCE", shape: [] },
  g: { type: "RESOURCE", shape: [] },
  s: { type: "STRING", shape: [1], strings: ["x"] },
  c: { type: "BOOL", shape: [1] },
  t: { type: "FLOAT32", shape: [2], isVariable: true },
  i: { type: "INT32", shape: [1] },
};

const anyIndex = fc.integer({ min: -1, max: 3 });
const list = fc.array(fc.constantFrom(...names), { maxLength: 4 });
const operator = fc.record({
  name: fc.constantFrom(
    ...["VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE", "HASHTABLE", "HASHTABLE_FIND", "HASHTABLE_IMPORT"],
    ...["HASHTABLE_SIZE", "CALL_ONCE", "CALL", "IF", "WHILE", "ADD", "EQUAL", "RNN"],
    ...["STABLEHLO_COMPOSITE", "STABLEHLO_CASE"],
  ),
  inputs: list,
  outputs: list,
  options: fc
    .tuple(
      fc.dictionary(
        fc.constantFrom(
          ...["thenSubgraphIndex", "elseSubgraphIndex", "condSubgraphIndex", "bodySubgraphIndex"],
          ...["initSubgraphIndex", "subgraph", "tableId", "decompositionSubgraphIndex"],
        ),
        anyIndex,
      ),
      fc.array(anyIndex, { maxLength: 4 }),
    )
    .map(([options, branchSubgraphIndices]) => ({ ...options, branchSubgraphIndices })),
});
const subgraph = fc.record({
  tensors: fc.constant(tensors),
  operators: fc.array(operator, { maxLength: 6 }),
  inputs: fc.uniqueArray(fc.constantFrom(...names), { maxLength: 3 }),
  outputs: fc.array(fc.constantFrom(...names), { maxLength: 3 }),
});

test("any use of resources is a valid model or a TfliteError", { timeout: 120_000 }, () => {
  fc.assert(
    fc.property(fc.array(subgraph, { minLength: 1, maxLength: 3 }), (subgraphs) => {
      try {
        const { model } = importTflite(modelOf(...subgraphs));
        expect(modelIssues(model, { extensions: [tfliteExtension] })).toEqual([]);
      } catch (error) {
        if (!(error instanceof TfliteError)) throw error;
      }
    }),
    { numRuns: everyFault ? 3000 : 750 },
  );
});
