/**
 * Rows of recurrent operators. A variable tensor of the file is state: the HAL's operation has the old value as an input
 * and the new one as an output.
 */
import type { TfliteOperator } from "../../model.ts";
import type { Lowering } from "../lowering.ts";
import { isQuant8, isQuantised } from "../operand-types.ts";
import { isBasicLstm } from "../operator-tensors.ts";
import { fusedActivation, type Row } from "../row.ts";
import { lowerBasicLstm } from "./basic-lstm.ts";
import {
  differsFromHal,
  hasLayerNormalisation,
  intermediatesRefusal,
  layerNormalisation,
  lstmIntermediates,
  MOST_STEPS,
  quantisedLstm,
  quantisedSequence,
  range,
} from "./quantised-lstm.ts";

/** Codes of the activations inside an LSTM cell. */
const cellActivations: Readonly<Record<string, number>> = { NONE: 0, RELU: 1, RELU6: 3, TANH: 4 };

function cellActivation(op: Lowering): number {
  const name = op.text("fusedActivationFunction");
  const code = cellActivations[name];
  op.ensure(code !== undefined, () => `the HAL has no LSTM cells with the activation ${name}`);
  return op.int32(code);
}

/** Inputs that may be omitted, as floats; `rank` is theirs. */
function optionalFloats(op: Lowering, places: readonly number[], rank: number): number[] {
  return places.map((place) => (op.has(place) ? op.asFloat(place) : op.graph.omit("TENSOR_FLOAT32", rank)));
}

function ensureFloat(op: Lowering): void {
  const { type } = op.inputSpec(0);
  op.ensure(type === "TENSOR_FLOAT32", () => `the HAL computes it in float only, the input is ${type}`);
}

function clips(op: Lowering): number[] {
  return ["cellClip", "projClip"].map((option) => op.float(op.number(option), op.inputSpec(0)));
}

/** The weights and biases of one LSTM cell, which start at input `from` and are 17. */
function cell(op: Lowering, from: number): number[] {
  return [
    ...optionalFloats(op, range(from, from + 7), 2),
    ...optionalFloats(op, range(from + 8, from + 14), 1),
    ...optionalFloats(op, [from + 15], 2),
    ...optionalFloats(op, [from + 16], 1),
  ];
}

const hybridNote = "Hybrid: see above.";

const otherNote =
  "The extension takes INT8 cells with a clipped projection whose results have a zero point, and those whose normalisation weights have a scale of 0.0002 or more: TensorFlow Lite computes these otherwise than the HAL.";

/** True if a cell with weights at input `place` quantises its inputs. */
const quantisesWith = (place: number) => (op: Lowering) => op.quantisesInput(0, place);

/** One step of a float LSTM. */
function floatLstm(op: Lowering): void {
  const [hidden, memory] = [op.state(18), op.state(19)];
  const inputs = [op.input(0), ...cell(op, 1), hidden.input, memory.input, cellActivation(op), ...clips(op)];
  if (hasLayerNormalisation(op)) inputs.push(...optionalFloats(op, layerNormalisation, 1));
  const memorySpec = op.graph.spec(memory.input);
  const { dimensions } = memorySpec;
  const [batches, units] = dimensions;
  op.ensure(
    dimensions.length === 2 && batches !== undefined && units !== undefined,
    () => `the cell state has to have 2 dimensions, it has ${dimensions.length}`,
  );
  const gates = op.has(1) ? 4 : 3;
  const scratch = op.graph.temporary({ ...memorySpec, dimensions: [batches, gates * units] });
  op.emit("LSTM", inputs, [scratch, hidden.output, memory.output, op.output()]);
}

const lstm: Row = {
  operator: "LSTM",
  version: 4,
  operations: [
    ...([
      "LSTM",
      "QUANTIZED_LSTM",
      "QUANTIZED_16BIT_LSTM",
      "CONCATENATION",
      "FULLY_CONNECTED",
      "SPLIT",
      "LOGISTIC",
    ] as const),
    ...(["TANH", "MUL", "ADD", "SLICE"] as const),
  ],
  note: `QUANTIZED_LSTM for INT8. ${otherNote} The others are for the basic kernel: QUANTIZED_16BIT_LSTM for UINT8. ${hybridNote}`,
  isStateful: true,
  prefersExtension: (op) => !isBasicLstm(op.operator) && (quantisesWith(2)(op) || differsFromHal(op)),
  refusal: intermediatesRefusal,
  derivedOptions: lstmIntermediates,
  lower(op: Lowering) {
    if (isBasicLstm(op.operator)) lowerBasicLstm(op);
    else if (isQuantised(op.inputSpec(0).type)) quantisedLstm(op);
    else floatLstm(op);
  },
};

const sequenceLstm: Row = {
  operator: "UNIDIRECTIONAL_SEQUENCE_LSTM",
  version: 4,
  operations: ["UNIDIRECTIONAL_SEQUENCE_LSTM", "QUANTIZED_LSTM"],
  note: `INT8: one QUANTIZED_LSTM for each step, up to ${MOST_STEPS}. ${otherNote} ${hybridNote}`,
  isStateful: true,
  prefersExtension: (op) => quantisesWith(2)(op) || differsFromHal(op),
  refusal: intermediatesRefusal,
  derivedOptions: lstmIntermediates,
  lower(op: Lowering) {
    if (isQuant8(op.inputSpec(0).type)) {
      quantisedSequence(op);
      return;
    }
    ensureFloat(op);
    op.ensure(!op.flag("diagonalRecurrentTensors"), () => "the HAL has no diagonal recurrent weights");
    const [hidden, memory] = [op.state(18), op.state(19)];
    op.emit(
      "UNIDIRECTIONAL_SEQUENCE_LSTM",
      [
        ...[op.input(0), ...cell(op, 1), hidden.input, memory.input, cellActivation(op), ...clips(op)],
        ...[op.bool(op.flag("timeMajor")), ...optionalFloats(op, layerNormalisation, 1)],
      ],
      [op.output(), hidden.output, memory.output],
    );
  },
};

/** The results of a two-way operator: one for each direction, or both in one. */
function directionOutputs(op: Lowering): number[] {
  return op.flag("mergeOutputs") ? [op.output(0)] : [op.output(0), op.output(1)];
}

const twoWayLstm: Row = {
  operator: "BIDIRECTIONAL_SEQUENCE_LSTM",
  version: 3,
  operations: ["BIDIRECTIONAL_SEQUENCE_LSTM"],
  note: `Float. ${hybridNote}`,
  isStateful: true,
  prefersExtension: quantisesWith(2),
  lower(op: Lowering) {
    ensureFloat(op);
    const states = range(35, 38).map(op.state);
    op.emit(
      "BIDIRECTIONAL_SEQUENCE_LSTM",
      [
        ...[op.input(0), ...cell(op, 1), ...cell(op, 18), ...states.map(({ input }) => input)],
        ...[...optionalFloats(op, [39], 3), ...optionalFloats(op, range(40, 47), 2)],
        ...[cellActivation(op), ...clips(op), op.bool(op.flag("mergeOutputs")), op.bool(op.flag("timeMajor"))],
        ...range(53, 60).map(() => op.graph.omit("TENSOR_FLOAT32", 1)),
      ],
      [...directionOutputs(op), ...states.map(({ output }) => output)],
    );
  },
};

/** Weights and bias of a basic cell, which start at input `from`. */
function basicCell(op: Lowering, from: number): number[] {
  return range(from, from + 2).map(op.asFloat);
}

const rnn: Row = {
  operator: "RNN",
  version: 3,
  operations: ["RNN"],
  note: hybridNote,
  isStateful: true,
  prefersExtension: quantisesWith(1),
  lower(op: Lowering) {
    ensureFloat(op);
    const hidden = op.state(4);
    const inputs = [op.input(0), ...basicCell(op, 1), hidden.input, fusedActivation(op)];
    op.emit("RNN", inputs, [hidden.output, op.output()]);
  },
};

const sequenceRnn: Row = {
  operator: "UNIDIRECTIONAL_SEQUENCE_RNN",
  version: 3,
  operations: ["UNIDIRECTIONAL_SEQUENCE_RNN"],
  note: hybridNote,
  isStateful: true,
  prefersExtension: quantisesWith(1),
  lower(op: Lowering) {
    ensureFloat(op);
    const hidden = op.state(4);
    const timeMajor = op.int32(op.flag("timeMajor") ? 1 : 0);
    const inputs = [op.input(0), ...basicCell(op, 1), hidden.input, fusedActivation(op), timeMajor];
    op.emit("UNIDIRECTIONAL_SEQUENCE_RNN", inputs, [op.output(), hidden.output]);
  },
};

/**
 * The operator as .tflite's kernel takes it: of batches by times, it reads an auxiliary input only if that has weights. Of times by batches
 * it is the input of the backward direction otherwise, as in the HAL.
 */
function withoutIgnoredAuxiliary(operator: TfliteOperator): TfliteOperator {
  const isIgnored = operator.options["timeMajor"] !== true && (operator.inputs[10] ?? -1) < 0;
  return isIgnored
    ? { ...operator, inputs: operator.inputs.map((tensor, place) => (place === 9 ? -1 : tensor)) }
    : operator;
}

const twoWayRnn: Row = {
  operator: "BIDIRECTIONAL_SEQUENCE_RNN",
  version: 3,
  operations: ["BIDIRECTIONAL_SEQUENCE_RNN"],
  note: hybridNote,
  isStateful: true,
  asComputed: withoutIgnoredAuxiliary,
  prefersExtension: quantisesWith(1),
  lower(op: Lowering) {
    ensureFloat(op);
    const [forward, backward] = [op.state(4), op.state(8)];
    op.emit(
      "BIDIRECTIONAL_SEQUENCE_RNN",
      [
        ...[op.input(0), ...basicCell(op, 1), forward.input, ...basicCell(op, 5), backward.input],
        ...[...optionalFloats(op, [9], 3), ...optionalFloats(op, [10, 11], 2)],
        ...[fusedActivation(op), op.bool(op.flag("timeMajor")), op.bool(op.flag("mergeOutputs"))],
      ],
      [...directionOutputs(op), forward.output, backward.output],
    );
  },
};

const svdf: Row = {
  operator: "SVDF",
  version: 4,
  operations: ["SVDF"],
  note: `Float. ${hybridNote}`,
  isStateful: true,
  prefersExtension: quantisesWith(1),
  lower(op: Lowering) {
    ensureFloat(op);
    const state = op.state(4);
    const weights = [op.asFloat(1), op.asFloat(2), ...optionalFloats(op, [3], 1)];
    op.emit(
      "SVDF",
      [op.input(0), ...weights, state.input, op.int32(op.number("rank")), fusedActivation(op)],
      [state.output, op.output()],
    );
  },
};

export const recurrentRows: readonly Row[] = [lstm, sequenceLstm, twoWayLstm, rnn, sequenceRnn, twoWayRnn, svdf];
