/**
 * LSTM: one step of a cell for each batch, in float, with 8-bit weights in a float network (hybrid), or in integers.
 */
import { defineOperation } from "../define.ts";
import { recurrentWork } from "../work.ts";
import {
  asymmetricQuantizeInputs,
  inferLstm,
  lstmIntermediates,
  lstmOptions,
  lstmOutputs,
  lstmTensors,
  lstmTypes,
  runLstm,
} from "./_lstm.tflite.ts";

/** A step is a sequence of one time. */
const asSequence = <T extends { readonly dimensions: readonly number[] }>(tensor: T): T => ({
  ...tensor,
  dimensions: [1, ...tensor.dimensions],
});

export const lstm = defineOperation({
  name: "LSTM",
  code: 1016,
  summary: "One step of a long short-term memory cell.",
  params: [...lstmTensors, ...lstmOptions, asymmetricQuantizeInputs, ...lstmIntermediates],
  outputs: lstmOutputs,
  types: lstmTypes,
  ranks: { input: 2 },
  work: recurrentWork,
  infer(args) {
    const { dimensions } = args.input;
    const whole = { ...args, diagonalRecurrentTensors: false };
    const { outputs, ...states } = inferLstm(whole, [1, ...dimensions], true);
    return { output: { dimensions: [dimensions[0], outputs] }, ...states };
  },
  reference(args, { output, ...states }) {
    const run = { input: asSequence(args.input), timeMajor: true, output: asSequence(output), ...states };
    return runLstm({ ...args, diagonalRecurrentTensors: false }, run);
  },
});
