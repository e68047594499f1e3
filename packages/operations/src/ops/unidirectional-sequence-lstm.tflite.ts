/**
 * UNIDIRECTIONAL_SEQUENCE_LSTM: a cell run along time, in float, with 8-bit weights in a float network (hybrid), or in integers.
 */

import { defineOperation } from "../define.ts";
import { bool } from "../params.ts";
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
import { sequenceShape } from "./_sequence.ts";

export const unidirectionalSequenceLstm = defineOperation({
  name: "UNIDIRECTIONAL_SEQUENCE_LSTM",
  code: 1044,
  summary: "A long short-term memory cell run along time.",
  params: [
    ...lstmTensors,
    ...lstmOptions,
    bool("timeMajor"),
    asymmetricQuantizeInputs,
    bool("diagonalRecurrentTensors"),
    ...lstmIntermediates,
  ],
  outputs: lstmOutputs,
  types: lstmTypes,
  ranks: { input: 3 },
  work: recurrentWork,
  infer(args) {
    const { dimensions } = args.input;
    const { outputs, ...states } = inferLstm(args, dimensions, args.timeMajor);
    return { output: { dimensions: sequenceShape(dimensions, outputs) }, ...states };
  },
  reference: (args, outputs) => runLstm(args, { input: args.input, timeMajor: args.timeMajor, ...outputs }),
});
