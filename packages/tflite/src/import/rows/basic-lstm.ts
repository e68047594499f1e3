/**
 * The basic kernel of LSTM: one matrix for all gates, in the order input, cell, forget, output, whose rows are for the input and then the
 * last result.
 */
import { elementAt } from "@nnhal/operations";
import type { Lowering } from "../lowering.ts";

/** Inputs: the values, the last result, weights, biases, the last state. Outputs: result, state, and two that only TensorFlow Lite needs. */
const [LAST, WEIGHTS, BIAS, STATE] = [1, 2, 3, 4] as const;

/** The operand of a value that may be kept from one execution to the next, and those that get its new value. */
function keep(op: Lowering, place: number, result: number): { readonly input: number; readonly outputs: number[] } {
  const outputs = op.operator.outputs[result] === undefined ? [] : [op.output(result)];
  if (!op.inputTensor(place).isVariable) return { input: op.input(place), outputs };
  const state = op.state(place);
  return { input: state.input, outputs: [state.output, ...outputs] };
}

export function lowerBasicLstm(op: Lowering): void {
  const [values, state] = [op.inputSpec(0), op.inputSpec(STATE)];
  const [rows, columns] = op.inputSpec(WEIGHTS).dimensions;
  const [batches = 0, units = 0] = state.dimensions;
  const inputs = values.dimensions[1] ?? 0;
  op.ensure(
    values.dimensions.length === 2 && rows === 4 * units && columns === inputs + units,
    () =>
      `the weights: expected [${4 * units}, ${inputs + units}], got [${op.inputSpec(WEIGHTS).dimensions.join(", ")}]`,
  );
  if (values.type === "TENSOR_QUANT8_ASYMM") lowerIntegers(op, units, inputs);
  else lowerFloats(op, batches, units, inputs);
}

function lowerFloats(op: Lowering, batches: number, units: number, inputs: number): void {
  const { type } = op.inputSpec(0);
  op.ensure(type === "TENSOR_FLOAT32", () => `the basic kernel takes FLOAT32 and UINT8, the input is ${type}`);
  const result = keep(op, LAST, 0);
  const state = keep(op, STATE, 1);
  const none = op.int32(0);
  const matrix = (columns: number) => op.graph.temporary({ ...op.inputSpec(0), dimensions: [batches, columns] });
  // TensorFlow Lite's own temporaries are outputs.
  const own = (place: number, columns: number) =>
    op.operator.outputs[place] === undefined ? matrix(columns) : op.output(place);
  const [all, sums] = [own(2, inputs + units), own(3, 4 * units)];
  op.emit("CONCATENATION", [op.input(0), result.input, op.int32(1)], [all]);
  op.emit("FULLY_CONNECTED", [all, op.asFloat(WEIGHTS), op.input(BIAS), none], [sums]);
  const gates = Array.from({ length: 4 }, () => matrix(units));
  op.emit("SPLIT", [sums, op.int32(1), op.int32(4)], gates);
  const [input, cell, forget, output] = gates.map((gate, place) => {
    const value = matrix(units);
    op.emit(place === 1 ? "TANH" : "LOGISTIC", [gate], [value]);
    return value;
  });
  if (input === undefined || cell === undefined || forget === undefined || output === undefined) return;
  const [added, remembered] = [matrix(units), matrix(units)];
  op.emit("MUL", [input, cell, none], [added]);
  op.emit("MUL", [forget, state.input, none], [remembered]);
  const [next = matrix(units), ...copies] = state.outputs;
  for (const target of [next, ...copies]) op.emit("ADD", [added, remembered, none], [target]);
  const shown = matrix(units);
  op.emit("TANH", [next], [shown]);
  for (const target of result.outputs) op.emit("MUL", [output, shown, none], [target]);
}

/** QUANTIZED_16BIT_LSTM, whose rows of weights are for the last result and then the input, but whose values are in .tflite's order. */
function lowerIntegers(op: Lowering, units: number, inputs: number): void {
  const isWanted = (place: number) => {
    const tensor = op.operator.outputs[place];
    return tensor !== undefined && (op.isRead(tensor) || op.graph.subgraph.outputs.includes(tensor));
  };
  op.ensure(
    !isWanted(3),
    () => "the sums of the gates, its output 3, are read, but no operation of the HAL writes those of UINT8",
    "read the result or the state instead",
  );
  const result = keep(op, LAST, 0);
  const state = keep(op, STATE, 1);
  if (isWanted(2)) op.emit("CONCATENATION", [op.input(0), result.input, op.int32(1)], [op.output(2)]);
  const [weights, bias] = [op.inputSpec(WEIGHTS), op.inputSpec(BIAS)];
  const part = (column: number, width: number) => (gate: number) => {
    const made = op.graph.temporary({ ...weights, dimensions: [units, width] });
    op.emit(
      "SLICE",
      [op.input(WEIGHTS), op.int32Tensor([gate * units, column]), op.int32Tensor([units, width])],
      [made],
    );
    return made;
  };
  const biasOf = (gate: number) => {
    const made = op.graph.temporary({ ...bias, dimensions: [units] });
    op.emit("SLICE", [op.input(BIAS), op.int32Tensor([gate * units]), op.int32Tensor([units])], [made]);
    return made;
  };
  // The HAL's order: input, forget, cell, output.
  const gates = [0, 2, 1, 3];
  const operands = [
    ...[op.input(0), ...gates.map(part(units, inputs)), ...gates.map(part(0, units)), ...gates.map(biasOf)],
    ...[state.input, result.input],
  ];
  // Each new value is written once; a copy of it is made by a second step.
  const steps = Math.max(state.outputs.length, result.outputs.length, 1);
  for (let step = 0; step < steps; step++) {
    const spare = (place: number) => op.graph.temporary(op.inputSpec(place));
    const outputs = [state.outputs[step] ?? spare(STATE), result.outputs[step] ?? spare(LAST)];
    op.emit("QUANTIZED_16BIT_LSTM", operands, [elementAt(outputs, 0), elementAt(outputs, 1)]);
  }
}
