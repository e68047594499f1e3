/**
 * Random models of one operator: the shape that a file writes for the result, here by a formula of the test, is the shape that the import
 * infers if the file leaves it open, and the one that the reference device computes.
 */
import { tfliteExtension } from "@nnhal/extension-tflite";
import { everyFault } from "@nnhal/test-kit/samples";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { changeModel, execute, oneOperator, type TensorGiven } from "../_model.test-helper.ts";
import type { TfliteModel } from "../model.ts";
import { builtinOperators } from "../schema/builtin-operators.ts";
import { layerCases } from "./_layer-cases.test-helper.ts";
import { otherCases } from "./_other-cases.test-helper.ts";
import { type Given, product, type Shape, tensor } from "./_shape-cases.test-helper.ts";
import { stablehloCases } from "./_stablehlo-cases.test-helper.ts";
import { importTflite } from "./import.ts";
import { rowOf } from "./rows.ts";

const cases = { ...layerCases, ...otherCases, ...stablehloCases };

/** Operators without a case, and why. */
const others: Readonly<Record<string, readonly string[]>> = {
  "the result is a scalar of the HAL": ["RANK"],
  "the data determine the shape": ["WHERE", "UNIQUE", "RANGE", "NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5"],
  "no result of a shape of its own": ["CUSTOM", "DELEGATE", "PLACEHOLDER_FOR_GREATER_OP_CODES", "CONCAT_EMBEDDINGS"],
  "control flow and state": [
    ...["IF", "WHILE", "CALL", "CALL_ONCE", "VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE"],
    ...["HASHTABLE", "HASHTABLE_FIND", "HASHTABLE_IMPORT", "HASHTABLE_SIZE"],
    ...["STABLEHLO_COMPOSITE", "STABLEHLO_CASE"],
  ],
  "cells, whose shapes their own tests have": [
    ...["RNN", "LSTM", "SVDF", "UNIDIRECTIONAL_SEQUENCE_RNN", "UNIDIRECTIONAL_SEQUENCE_LSTM"],
    ...["BIDIRECTIONAL_SEQUENCE_RNN", "BIDIRECTIONAL_SEQUENCE_LSTM"],
  ],
  "bodies, whose own tests have the shapes": ["STABLEHLO_SCATTER", "STABLEHLO_REDUCE_WINDOW"],
  "the stored shape is the result's": ["STABLEHLO_RNG_BIT_GENERATOR"],
  "strings, hashes and sparse lookups, whose shapes their own tests have": [
    ...["SKIP_GRAM", "LSH_PROJECTION", "EMBEDDING_LOOKUP_SPARSE", "DENSIFY"],
  ],
};

const own = new Set<string>(tfliteExtension.operations.map(({ name }) => name));

test("every operator has a case, or a reason for having none", () => {
  const named = new Set([...Object.keys(cases), ...Object.values(others).flat()]);
  const missing = builtinOperators.map(({ name }) => name).filter((name) => !named.has(name));
  const isImported = (name: string) => rowOf({ name }) !== undefined || own.has(name);
  expect(missing.filter((name) => !name.startsWith("STABLEHLO_") || isImported(name))).toEqual([]);
});

/** A scalar is a tensor of one element in the HAL. */
const asHal = (shape: Shape): Shape => (shape.length === 0 ? [1] : shape);

function modelOf(name: string, { inputs, shapes, options, type: given, types }: Given): TfliteModel {
  const [first] = Object.values(inputs);
  const kind = given ?? first?.type ?? "FLOAT32";
  const outputs = shapes.map((shape, place): [string, TensorGiven] => [
    `out${place}`,
    tensor(types?.[place] ?? kind, shape),
  ]);
  return oneOperator(name, inputs, Object.fromEntries(outputs), options);
}

/** The model with the shapes of its results left open, and written as something else. */
function openDevice(model: TfliteModel): TfliteModel {
  return changeModel(model, ({ tensors, outputs }) => ({
    tensors: tensors.map((each, index) =>
      outputs.includes(index)
        ? { ...each, shape: each.shape.map(() => 1), shapeSignature: each.shape.map(() => -1) }
        : each,
    ),
  }));
}

describe("written shapes", () => {
  test.each(Object.entries(cases))("of %s are those that are inferred and computed", async (name, arbitrary) => {
    await fc.assert(
      fc.asyncProperty(arbitrary, async (given) => {
        const model = modelOf(name, given);
        const wanted = given.shapes.map(asHal);
        const written = importTflite(model);
        expect(written.outputs.map(({ shape }) => shape)).toEqual(wanted);
        const results = await execute(written, []);
        const numbers = given.type === "COMPLEX64" ? 2 : 1;
        expect(results.map(({ length }) => length)).toEqual(wanted.map((shape) => numbers * product(shape)));
        expect(importTflite(openDevice(model)).outputs.map(({ shape }) => shape)).toEqual(wanted);
      }),
      { numRuns: everyFault ? 12 : 5 },
    );
  });
});
