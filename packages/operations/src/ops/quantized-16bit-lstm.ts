/**
 * QUANTIZED_16BIT_LSTM: one step of an LSTM cell on 8-bit values with a 16-bit cell state, in fixed point throughout. All
 * scales are fixed by the document: 1/128 for values, 2^-11 for the cell state, 2^-12 for what enters the gates.
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
  quantiseMultiplier,
  roundingDivideByPowerOfTwo,
} from "../fixed-point.ts";
import { fixedPoint16 } from "../fixed-point-functions.ts";
import { tensor } from "../params.ts";
import { ensureShape } from "../shape.ts";
import type { Tensor, TensorInfo } from "../tensor.ts";

const VALUE = { scale: 1 / 128, zeroPoint: 128 } as const;
const CELL_STATE = { scale: 2 ** -11, zeroPoint: 0 } as const;
/** Integer bits of what enters a gate, and of the cell state. */
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
  infer({ input, cellStateIn, outputStateIn, ...operands }) {
    const [batches, inputs] = input.dimensions;
    const units = outputStateIn.dimensions[1];
    expectQuantisation("the input", input, VALUE.scale, VALUE.zeroPoint);
    expectQuantisation("the previous output", outputStateIn, VALUE.scale, VALUE.zeroPoint);
    expectQuantisation("the previous cell state", cellStateIn, CELL_STATE.scale, CELL_STATE.zeroPoint);
    ensureShape("the previous output", outputStateIn, [batches, units]);
    ensureShape("the previous cell state", cellStateIn, [batches, units]);
    const { scale, zeroPoint } = operands.inputToInputWeights;
    for (const [name, operand] of Object.entries(operands)) {
      if (name.endsWith("Weights")) {
        ensureShape(`the ${name}`, operand, [units, name.startsWith("input") ? inputs : units]);
        expectQuantisation(`the ${name}`, operand, scale, zeroPoint);
      } else {
        ensureShape(`the ${name}`, operand, [units]);
        expectQuantisation(`the ${name}`, operand, scale / 128, 0);
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
    const gate = (batch: number, unit: number, weights: Tensor, recurrent: Tensor, bias: Tensor) => {
      let sum = bias.data[unit];
      for (let index = 0; index < inputs + units; index++) {
        const value =
          index < inputs
            ? input.data[batch * inputs + index] - input.zeroPoint
            : outputStateIn.data[batch * units + index - inputs] - outputStateIn.zeroPoint;
        const weight =
          index < units
            ? recurrent.data[unit * units + index] - recurrent.zeroPoint
            : weights.data[unit * inputs + index - units] - weights.zeroPoint;
        sum += value * weight;
      }
      return clamp(multiplyByQuantisedMultiplier(sum | 0, multiplier), -32768, 32767);
    };
    for (let batch = 0; batch < batches; batch++) {
      for (let unit = 0; unit < units; unit++) {
        const { inputToInputWeights, recurrentToInputWeights, inputGateBias } = operands;
        const { inputToForgetWeights, recurrentToForgetWeights, forgetGateBias } = operands;
        const { inputToCellWeights, recurrentToCellWeights, cellBias } = operands;
        const { inputToOutputWeights, recurrentToOutputWeights, outputGateBias } = operands;
        const take = logistic(
          gate(batch, unit, inputToInputWeights, recurrentToInputWeights, inputGateBias),
          GATE_BITS,
        );
        const keep = logistic(
          gate(batch, unit, inputToForgetWeights, recurrentToForgetWeights, forgetGateBias),
          GATE_BITS,
        );
        const proposal = tanh(gate(batch, unit, inputToCellWeights, recurrentToCellWeights, cellBias), GATE_BITS);
        const show = logistic(
          gate(batch, unit, inputToOutputWeights, recurrentToOutputWeights, outputGateBias),
          GATE_BITS,
        );
        const at = batch * units + unit;
        const added = rescale(multiply(take, proposal), 0, STATE_BITS);
        const state = clamp(added + multiply(keep, cellStateIn.data[at]), -32768, 32767);
        const shown = multiply(show, tanh(rescale(state, STATE_BITS, GATE_BITS), GATE_BITS));
        cellStateOut.data[at] = state;
        output.data[at] = 128 + clamp(roundingDivideByPowerOfTwo(shown, 8), -128, 127);
      }
      yield;
    }
  },
});

function expectQuantisation(name: string, operand: TensorInfo, scale: number, zeroPoint: number): void {
  ensure(
    operand.scale === scale && operand.zeroPoint === zeroPoint,
    () =>
      `${name} have scale ${operand.scale} and zero point ${operand.zeroPoint} where ${scale} and ${zeroPoint} are needed`,
  );
}
