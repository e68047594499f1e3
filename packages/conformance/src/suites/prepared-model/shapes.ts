/**
 * Shapes that only a request or an execution knows, and outputs that do not fit.
 */

import { elementAt } from "@nnhal/operations";
import { ErrorStatus, MeasureTiming, type OutputShape } from "@nnhal/types";
import { endAsUnsupported } from "../../needs.ts";
import { type Bench, prepare, smallModel } from "../bench.ts";
import { expectExecution, expectSame, expectThat } from "../check.ts";
import { expectShapes, runTrial, trialFor } from "../execution.ts";
import { sampleValues } from "../small-models.ts";
import { group, type SuiteCase } from "../suite-case.ts";
import { emptyMemory, memoryWith, requestFor, sizeOf } from "../values.ts";

const { NONE, INVALID_ARGUMENT, GENERAL_FAILURE, OUTPUT_INSUFFICIENT_SIZE } = ErrorStatus;

function expectShape(
  what: string,
  shape: OutputShape | undefined,
  dimensions: readonly number[],
  isSufficient = true,
): void {
  expectThat(shape !== undefined, () => `${what}: there is no shape`);
  expectSame(`${what}: dimensions`, shape.dimensions, dimensions);
  expectThat(shape.isSufficient === isSufficient, () => `${what}: isSufficient is ${shape.isSufficient}`);
}

/** A model whose outputs have unknown extents, where the device can find them. */
async function findingShapes(bench: Bench, layout: "single" | "pair" = "single") {
  const small = await smallModel(bench, { layout, outputDimensions: [0, 0] });
  return { small, preparedModel: await prepare(bench, small.model) };
}

/** Executes on an output that is some bytes too small. */
async function executeShort(bench: Bench, isKnown: boolean) {
  const small = await smallModel(bench, { layout: "pair", outputDimensions: isKnown ? [2, 3] : [0, 0] });
  const preparedModel = await prepare(bench, small.model);
  const inputs = [sampleValues(small.type, 6), sampleValues(small.type, 6, 1)];
  const size = sizeOf(small.type, [6]);
  const request = requestFor(
    inputs.map((values) => memoryWith(small.type, values)),
    [emptyMemory(size - 1), emptyMemory(size)],
  );
  const result = await preparedModel.execute(request, { measure: MeasureTiming.YES });
  return { small, preparedModel, inputs, result };
}

async function tellsShort(bench: Bench, isKnown: boolean): Promise<void> {
  const { small, preparedModel, inputs, result } = await executeShort(bench, isKnown);
  expectExecution("execute", result, OUTPUT_INSUFFICIENT_SIZE, GENERAL_FAILURE);
  if (result.status === GENERAL_FAILURE)
    endAsUnsupported("insufficient outputs", "the device says GENERAL_FAILURE, as it may");
  const { outputShapes } = result;
  expectThat(outputShapes.length === 2, () => `execute: ${outputShapes.length} shapes of 2 outputs`);
  expectShape("execute: output 0, which does not fit", outputShapes[0], [2, 3], false);
  expectSame("execute: dimensions of output 1, which fits", elementAt(outputShapes, 1).dimensions, [2, 3]);
  // With the room that it was told to need, it succeeds.
  await runTrial(preparedModel, trialFor(small, inputs));
}

export const shapeCases: readonly SuiteCase[] = [
  ...group("shapes", "1.0", {
    async "extents that the model leaves open are those of the request"(bench) {
      const small = await smallModel(bench, { dimensions: [0, 3], outputDimensions: [0, 3] });
      const preparedModel = await prepare(bench, small.model);
      const input = sampleValues(small.type, 6);
      const request = requestFor(
        [{ at: memoryWith(small.type, input), dimensions: [2, 3] }],
        [{ at: emptyMemory(sizeOf(small.type, [6])), dimensions: [2, 3] }],
      );
      const result = await preparedModel.execute(request);
      expectExecution("execute", result, NONE);
      expectShapes("execute", result, request);
    },
    async "one prepared model executes shapes of different sizes"(bench) {
      const small = await smallModel(bench, { dimensions: [0, 3], outputDimensions: [0, 3] });
      const preparedModel = await prepare(bench, small.model);
      for (const rows of [2, 5, 1, 4]) {
        const input = sampleValues(small.type, 3 * rows, rows);
        const trial = trialFor(small, [input], [rows, 3]);
        const outputs = trial.request.outputs.map((output) => ({ ...output, dimensions: [rows, 3] }));
        await runTrial(preparedModel, { ...trial, request: { ...trial.request, outputs } });
      }
    },
    async "an input of unknown extents is refused"(bench) {
      const small = await smallModel(bench, { dimensions: [0, 3], outputDimensions: [0, 3] });
      const preparedModel = await prepare(bench, small.model);
      const { request } = trialFor(small, [sampleValues(small.type, 6)]);
      const outputs = request.outputs.map((output) => ({ ...output, dimensions: [2, 3] }));
      expectExecution("execute", await preparedModel.execute({ ...request, outputs }), INVALID_ARGUMENT);
    },
  }),
  ...group("shapes", "1.2", {
    async "unknown extents of outputs are found"(bench) {
      const { small, preparedModel } = await findingShapes(bench);
      const result = await runTrial(preparedModel, trialFor(small, [sampleValues(small.type, 6)]));
      expectShape("execute: output 0", result.outputShapes[0], [2, 3]);
    },
    async "of several outputs, each has its own shape"(bench) {
      const { small, preparedModel } = await findingShapes(bench, "pair");
      const inputs = [sampleValues(small.type, 6), sampleValues(small.type, 6, 1)];
      const { outputShapes } = await runTrial(preparedModel, trialFor(small, inputs));
      for (const index of [0, 1]) expectShape(`execute: output ${index}`, outputShapes[index], [2, 3]);
    },
    async "an unknown rank is found"(bench) {
      const small = await smallModel(bench, { dimensions: [2, 3], outputDimensions: [] });
      const preparedModel = await prepare(bench, small.model);
      const { outputShapes } = await runTrial(preparedModel, trialFor(small, [sampleValues(small.type, 6)]));
      expectShape("execute: output 0", outputShapes[0], [2, 3]);
    },
    "an output of known shape that does not fit is reported, with the others": (bench) => tellsShort(bench, true),
    "an output of unknown shape that does not fit is reported, with the others": (bench) => tellsShort(bench, false),
    async "an output whose extents contradict the request's is refused, or fails"(bench) {
      const { small, preparedModel } = await findingShapes(bench);
      const { request } = trialFor(small, [sampleValues(small.type, 6)]);
      const outputs = request.outputs.map((output) => ({ ...output, dimensions: [3, 2] }));
      const result = await preparedModel.execute({ ...request, outputs });
      expectExecution("execute", result, GENERAL_FAILURE, INVALID_ARGUMENT);
    },
  }),
];
