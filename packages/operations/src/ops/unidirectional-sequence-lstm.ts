/**
 * UNIDIRECTIONAL_SEQUENCE_LSTM: a cell run along time. Since HAL 1.3 it also returns the final states.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { bool, int32, omittableFrom, tensor } from "../params.ts";
import { ensureShape } from "../shape.ts";
import { recurrentWork } from "../work.ts";
import { ensureSettings, lstmCell, lstmSizes } from "./_lstm.ts";
import { lstmClips, lstmLayerNorm, lstmOperands } from "./_lstm-params.ts";
import { runLstmSequence } from "./_lstm-sequence.ts";
import { sequenceOf, sequenceShape } from "./_sequence.ts";
import { uniformRow } from "./_types.ts";

const params = [
  tensor("input"),
  ...lstmOperands,
  tensor("outputStateIn"),
  tensor("cellStateIn"),
  int32("activation"),
  ...lstmClips,
  bool("timeMajor"),
  ...lstmLayerNorm,
] as const;
const outputs = [
  tensor("output"),
  omittableFrom("1.3", tensor("outputStateOut")),
  omittableFrom("1.3", tensor("cellStateOut")),
] as const;

export const unidirectionalSequenceLstm = defineOperation({
  name: "UNIDIRECTIONAL_SEQUENCE_LSTM",
  code: OperationType.UNIDIRECTIONAL_SEQUENCE_LSTM,
  summary: "A long short-term memory cell run along time.",
  params,
  outputs,
  types: [
    uniformRow("1.2", [...params, ...outputs], "TENSOR_FLOAT32", "FLOAT32"),
    uniformRow("1.2", [...params, ...outputs], "TENSOR_FLOAT16", "FLOAT16"),
  ],
  counts: [28],
  outputCounts: [1, 3],
  ranks: { input: 3 },
  work: recurrentWork,
  infer({ input, outputStateIn, cellStateIn, timeMajor, ...operands }) {
    const { batches, size } = sequenceOf(input.dimensions, timeMajor);
    const sizes = lstmSizes(lstmCell(operands), size);
    ensureShape("the output states", outputStateIn, [batches, sizes.outputs]);
    ensureShape("the cell states", cellStateIn, [batches, sizes.units]);
    ensureSettings(operands);
    return {
      output: { dimensions: sequenceShape(input.dimensions, sizes.outputs) },
      outputStateOut: { dimensions: [batches, sizes.outputs] },
      cellStateOut: { dimensions: [batches, sizes.units] },
    };
  },
  reference({ input, timeMajor, outputStateIn, cellStateIn, ...operands }, { output, outputStateOut, cellStateOut }) {
    return runLstmSequence({
      cell: lstmCell(operands),
      settings: operands,
      input,
      timeMajor,
      outputStateIn,
      cellStateIn,
      output,
      outputStateOut,
      cellStateOut,
    });
  },
});
