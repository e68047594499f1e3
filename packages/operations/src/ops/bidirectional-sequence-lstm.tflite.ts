/**
 * BIDIRECTIONAL_SEQUENCE_LSTM with 8-bit weights in a float network (hybrid): two cells run along time, one forwards and one backwards. The
 * operands are the operator's tensors in order.
 */

import { alternative, defineOperation, type RowOfLength } from "../define.ts";
import type { AnyOperandType } from "../operand-type.ts";
import { bool, float32, int32, omittable, tensor } from "../params.ts";
import { recurrentWork } from "../work.ts";
import { hybridProduct, isHybrid } from "./_hybrid.tflite.ts";
import { realPeepholes } from "./_lstm.tflite.ts";
import { inferTwoWayLstm, lstmDirectionParams, runTwoWayLstm } from "./_lstm-directions.ts";

const fw = lstmDirectionParams("fw");
const bw = lstmDirectionParams("bw");

const tensors = [
  tensor("input"),
  ...fw.cell,
  ...bw.cell,
  ...fw.states,
  ...bw.states,
  omittable(tensor("auxiliaryInput")),
  ...fw.auxiliary,
  ...bw.auxiliary,
] as const;

const params = [
  ...tensors,
  int32("fusedActivationFunction"),
  float32("cellClip"),
  float32("projClip"),
  bool("mergeOutputs"),
  bool("timeMajor"),
  bool("asymmetricQuantizeInputs"),
] as const;

const states = [
  tensor("fwOutputStateOut"),
  tensor("fwCellStateOut"),
  tensor("bwOutputStateOut"),
  tensor("bwCellStateOut"),
] as const;

const weightTypes = ["TENSOR_FLOAT32", "TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT8_ASYMM"] as const;

/** Rows of types: all weights have one type, all else is float. `Columns`: the tensors and the results. */
function rowsOf<Columns extends 53 | 54>(columns: Columns): RowOfLength<Columns>[] {
  return weightTypes.map((weights) => {
    const types = tensors.map(({ name }) => (name.endsWith("Weights") ? weights : "TENSOR_FLOAT32"));
    const results = new Array<AnyOperandType>(columns - types.length).fill("TENSOR_FLOAT32");
    // The row has as many types as there are columns, which an array does not say.
    return ["1.2", ...types, ...results] as unknown as RowOfLength<Columns>;
  });
}

export const bidirectionalSequenceLstm = defineOperation({
  name: "BIDIRECTIONAL_SEQUENCE_LSTM",
  code: 1052,
  summary: "Two long short-term memory cells run along time, one forwards and one backwards.",
  params,
  outputs: [tensor("fwOutput"), tensor("bwOutput"), ...states],
  types: rowsOf(54),
  ranks: { input: 3, auxiliaryInput: 3 },
  work: recurrentWork,
  check: ({ mergeOutputs }) =>
    mergeOutputs === true ? "mergeOutputs is true, but there is an output for the backward direction" : undefined,
  alternatives: [
    alternative({
      params,
      // Merged outputs have no second one.
      outputs: [tensor("fwOutput"), ...states],
      types: rowsOf(53),
      normalise: () => ({}),
      check: ({ mergeOutputs }) =>
        mergeOutputs === false ? "mergeOutputs is false, but the backward output is missing" : undefined,
    }),
  ],
  infer: ({ fusedActivationFunction, projClip, ...args }) =>
    inferTwoWayLstm({ ...args, activation: fusedActivationFunction, projectionClip: projClip }),
  reference({ fusedActivationFunction, projClip, asymmetricQuantizeInputs, ...args }, outputs) {
    const settings = { activation: fusedActivationFunction, projectionClip: projClip };
    const kernel = isHybrid(args.input, args.fwInputToForgetWeights)
      ? { product: hybridProduct(asymmetricQuantizeInputs), prepare: realPeepholes }
      : {};
    return runTwoWayLstm({ ...args, ...settings }, outputs, kernel);
  },
});
