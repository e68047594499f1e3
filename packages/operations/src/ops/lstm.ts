/**
 * LSTM: one step of a cell for each batch. The scratch buffer is an output that this kernel leaves 0.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { int32, mayStayZero, tensor } from "../params.ts";
import { ensureShape } from "../shape.ts";
import type { TensorInfo } from "../tensor.ts";
import { recurrentWork } from "../work.ts";
import { ensureSettings, lstmCell, lstmSizes } from "./_lstm.ts";
import { lstmClips, lstmLayerNorm, lstmOperands } from "./_lstm-params.ts";
import { runLstmSequence } from "./_lstm-sequence.ts";
import { uniformRow } from "./_types.ts";

const params = [
  tensor("input"),
  ...lstmOperands,
  tensor("outputStateIn"),
  tensor("cellStateIn"),
  int32("activation"),
  ...lstmClips,
  ...lstmLayerNorm,
] as const;
const outputs = [
  mayStayZero(tensor("scratch")),
  tensor("outputStateOut"),
  tensor("cellStateOut"),
  tensor("output"),
] as const;

export const lstm = defineOperation({
  name: "LSTM",
  code: OperationType.LSTM,
  summary: "One step of a long short-term memory cell.",
  params,
  outputs,
  types: [
    uniformRow("1.0", [...params, ...outputs], "TENSOR_FLOAT32", "FLOAT32"),
    uniformRow("1.2", [...params, ...outputs], "TENSOR_FLOAT16", "FLOAT16"),
  ],
  counts: [23, 27],
  ranks: { input: 2 },
  work: recurrentWork,
  infer({ input, outputStateIn, cellStateIn, ...operands }) {
    const [batches, inputs] = input.dimensions;
    const cell = lstmCell(operands);
    const sizes = lstmSizes(cell, inputs);
    ensureShape("the output states", outputStateIn, [batches, sizes.outputs]);
    ensureShape("the cell states", cellStateIn, [batches, sizes.units]);
    ensureSettings(operands);
    return {
      scratch: { dimensions: [batches, (cell.inputGate === undefined ? 3 : 4) * sizes.units] },
      outputStateOut: { dimensions: [batches, sizes.outputs] },
      cellStateOut: { dimensions: [batches, sizes.units] },
      output: { dimensions: [batches, sizes.outputs] },
    };
  },
  reference({ input, outputStateIn, cellStateIn, ...operands }, { outputStateOut, cellStateOut, output }) {
    // A sequence of one step.
    const once = <T extends TensorInfo>(tensor: T) => ({ ...tensor, dimensions: [1, ...tensor.dimensions] });
    return runLstmSequence({
      cell: lstmCell(operands),
      settings: operands,
      input: once(input),
      timeMajor: true,
      outputStateIn,
      cellStateIn,
      output: once(output),
      outputStateOut,
      cellStateOut,
    });
  },
});
