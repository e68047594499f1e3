/**
 * QUANTIZED_16BIT_LSTM: one step of an LSTM cell on 8-bit values with a 16-bit cell state, in fixed point throughout. All
 * scales are fixed by the document: 1/128 for values, 2^-11 for the cell state, 2^-12 for the inputs of the gates.
 *
 * The document multiplies input weights with the input and recurrent weights with the previous output. The reference
 * implementation lays a row of weights out as recurrent, then input, but the values as input, then previous output, and
 * multiplies those element by element. The conformance vectors hold its results, so this kernel does the same.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import {
  clamp,
  multiplyByQuantisedMultiplier,
  type QuantisedMultiplier,
  quantiseMultiplier,
  roundingDivideByPowerOfTwo,
} from "../fixed-point.ts";
import { fixedPoint16 } from "../fixed-point-functions.ts";
import { tensor } from "../params.ts";
import { ensureShape } from "../shape.ts";
import type { Tensor, TensorData, TensorInfo } from "../tensor.ts";
import { recurrentWork } from "../work.ts";
import { pacer } from "./_chunks.ts";

const VALUE = { scale: 1 / 128, zeroPoint: 128 } as const;
const CELL_STATE = { scale: 2 ** -11, zeroPoint: 0 } as const;
/** Integer bits of a gate's input, and of the cell state. */
const GATE_BITS = 3;
const STATE_BITS = 4;

export const quantized16bitLstm = defineOperation({
  name: "QUANTIZED_16BIT_LSTM",
  code: OperationType.QUANTIZED_16BIT_LSTM,
  summary: "One step of a long short-term memory cell on 8-bit values with a 16-bit cell state.",
  params: [
    tensor("input", "TENSOR_QUANT8_ASYMM"),
    tensor("inputToInputWeights", "TENSOR_QUANT8_ASYMM"),
    tensor("inputToForgetWeights", "TENSOR_QUANT8_ASYMM"),
    tensor("inputToCellWeights", "TENSOR_QUANT8_ASYMM"),
    tensor("inputToOutputWeights", "TENSOR_QUANT8_ASYMM"),
    tensor("recurrentToInputWeights", "TENSOR_QUANT8_ASYMM"),
    tensor("recurrentToForgetWeights", "TENSOR_QUANT8_ASYMM"),
    tensor("recurrentToCellWeights", "TENSOR_QUANT8_ASYMM"),
    tensor("recurrentToOutputWeights", "TENSOR_QUANT8_ASYMM"),
    tensor("inputGateBias", "TENSOR_INT32"),
    tensor("forgetGateBias", "TENSOR_INT32"),
    tensor("cellBias", "TENSOR_INT32"),
    tensor("outputGateBias", "TENSOR_INT32"),
    tensor("cellStateIn", "TENSOR_QUANT16_SYMM"),
    tensor("outputStateIn", "TENSOR_QUANT8_ASYMM"),
  ],
  outputs: [tensor("cellStateOut", "TENSOR_QUANT16_SYMM"), tensor("output", "TENSOR_QUANT8_ASYMM")],
  types: [["1.2"]],
  ranks: { input: 2, outputStateIn: 2, cellStateIn: 2 },
  work: recurrentWork,
  infer({ input, cellStateIn, outputStateIn, ...operands }) {
    const [batches, inputs] = input.dimensions;
    const units = outputStateIn.dimensions[1];
    ensureQuantisation("the input", input, VALUE.scale, VALUE.zeroPoint);
    ensureQuantisation("the previous output", outputStateIn, VALUE.scale, VALUE.zeroPoint);
    ensureQuantisation("the previous cell state", cellStateIn, CELL_STATE.scale, CELL_STATE.zeroPoint);
    ensureShape("the previous output", outputStateIn, [batches, units]);
    ensureShape("the previous cell state", cellStateIn, [batches, units]);
    const { scale, zeroPoint } = operands.inputToInputWeights;
    for (const [name, operand] of Object.entries(operands)) {
      if (name.endsWith("Weights")) {
        ensureShape(`the ${name}`, operand, [units, name.startsWith("input") ? inputs : units]);
        ensureQuantisation(`the ${name}`, operand, scale, zeroPoint);
      } else {
        ensureShape(`the ${name}`, operand, [units]);
        ensureQuantisation(`the ${name}`, operand, scale / 128, 0);
      }
    }
    const dimensions = [batches, units];
    return { cellStateOut: { dimensions, ...CELL_STATE }, output: { dimensions, ...VALUE } };
  },
  *reference(operands, { cellStateOut, output }) {
    const { input, cellStateIn, outputStateIn } = operands;
    const [batches, inputs] = input.dimensions;
    const units = outputStateIn.dimensions[1];
    const multiplier = quantiseMultiplier(operands.inputGateBias.scale * 2 ** 12);
    const { multiply, rescale, logistic, tanh } = fixedPoint16;
    const inputGate = yield* gateOf(
      operands.inputToInputWeights,
      operands.recurrentToInputWeights,
      operands.inputGateBias,
    );
    const forgetGate = yield* gateOf(
      operands.inputToForgetWeights,
      operands.recurrentToForgetWeights,
      operands.forgetGateBias,
    );
    const cellGate = yield* gateOf(operands.inputToCellWeights, operands.recurrentToCellWeights, operands.cellBias);
    const outputGate = yield* gateOf(
      operands.inputToOutputWeights,
      operands.recurrentToOutputWeights,
      operands.outputGateBias,
    );
    const values = new Int32Array(inputs + units);
    const isTime = pacer();
    for (let batch = 0; batch < batches; batch++) {
      for (let index = 0; index < inputs; index++) {
        values[index] = input.data[batch * inputs + index] - input.zeroPoint;
      }
      for (let unit = 0; unit < units; unit++) {
        values[inputs + unit] = outputStateIn.data[batch * units + unit] - outputStateIn.zeroPoint;
      }
      for (let unit = 0; unit < units; unit++) {
        const take = logistic(gateInput(inputGate, unit, values, multiplier), GATE_BITS);
        const keep = logistic(gateInput(forgetGate, unit, values, multiplier), GATE_BITS);
        const proposal = tanh(gateInput(cellGate, unit, values, multiplier), GATE_BITS);
        const show = logistic(gateInput(outputGate, unit, values, multiplier), GATE_BITS);
        const at = batch * units + unit;
        const added = rescale(multiply(take, proposal), 0, STATE_BITS);
        const state = clamp(added + multiply(keep, cellStateIn.data[at]), -32768, 32767);
        const shown = multiply(show, tanh(rescale(state, STATE_BITS, GATE_BITS), GATE_BITS));
        cellStateOut.data[at] = state;
        output.data[at] = 128 + clamp(roundingDivideByPowerOfTwo(shown, 8), -128, 127);
        if (isTime(4 * values.length)) yield;
      }
    }
  },
});

/** One gate: for each unit a row of weights, and a bias. */
interface Gate {
  readonly rows: readonly Int32Array[];
  readonly bias: TensorData;
}

/** A row is the recurrent weights, then those of the input, without their zero point. */
function* gateOf(weights: Tensor, recurrentWeights: Tensor, bias: Tensor): Generator<void, Gate> {
  const rows: Int32Array[] = [];
  const isTime = pacer();
  const columns = recurrentWeights.dimensions[1];
  const inputs = weights.dimensions[1];
  for (let unit = 0; unit < bias.data.length; unit++) {
    const row = new Int32Array(columns + inputs);
    row.set(recurrentWeights.data.subarray(unit * columns, (unit + 1) * columns));
    row.set(weights.data.subarray(unit * inputs, (unit + 1) * inputs), columns);
    rows.push(row.map((weight) => weight - weights.zeroPoint));
    if (isTime(row.length)) yield;
  }
  return { rows, bias: bias.data };
}

/** The input of a gate: bias + Σ weight · value, in 16 bits, 3 of them integer bits. */
function gateInput({ rows, bias }: Gate, unit: number, values: Int32Array, multiplier: QuantisedMultiplier): number {
  const row = rows[unit];
  let sum = bias[unit];
  for (let index = 0; index < values.length; index++) sum += values[index] * row[index];
  return clamp(multiplyByQuantisedMultiplier(sum | 0, multiplier), -32768, 32767);
}

function ensureQuantisation(name: string, operand: TensorInfo, scale: number, zeroPoint: number): void {
  const shown = `scale ${operand.scale} and zero point ${operand.zeroPoint}`;
  ensure(
    operand.scale === scale && operand.zeroPoint === zeroPoint,
    () => `the quantisation of ${name}: expected ${scale} and ${zeroPoint}, got ${shown}`,
  );
}
