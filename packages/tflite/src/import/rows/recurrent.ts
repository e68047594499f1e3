/**
 * Rows of recurrent operators. A variable tensor of the file is state: the HAL's operation has the old value as an input
 * and the new one as an output.
 */
import { elementAt } from "@nnhal/operations";
import { listText } from "../../error.ts";
import type { TfliteOperator } from "../../model.ts";
import type { Lowering } from "../lowering.ts";
import { isQuant8, isQuantised } from "../operand-types.ts";
import { isBasicLstm } from "../operator-tensors.ts";
import { fusedActivation, type Row } from "../row.ts";
import { lowerBasicLstm } from "./basic-lstm.ts";

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
  return places.map((place) => (op.has(place) ? op.asFloat(place) : op.graph.omitted("TENSOR_FLOAT32", rank)));
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
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

/** Whether a cell with weights at input `place` quantises its inputs. */
const quantisesWith = (place: number) => (op: Lowering) => op.quantisesInput(0, place);

/** What the file says about values inside an integer LSTM. */
function lstmIntermediates(op: Lowering): Readonly<Record<string, number>> {
  const [input, forget, cell, output, hidden] = [0, 1, 2, 3, 4].map((place) => intermediate(op, place));
  return {
    inputIntermediateScale: input?.scale ?? 0,
    forgetIntermediateScale: forget?.scale ?? 0,
    cellIntermediateScale: cell?.scale ?? 0,
    outputIntermediateScale: output?.scale ?? 0,
    hiddenStateZeroPoint: hidden?.zeroPoint ?? 0,
    hiddenStateScale: hidden?.scale ?? 0,
  };
}

const layerNormalisation = range(20, 23);

function hasLayerNormalisation(op: Lowering): boolean {
  return layerNormalisation.some(op.has);
}

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

/** Scale of the values before a gate's activation if the file has none: 12 fractional bits. */
const GATE_SCALE = 2 ** -12;

/** An INT8 weight of a quantised LSTM: symmetric in the HAL. */
function symmetricWeight(op: Lowering, place: number): number {
  if (!op.has(place)) return op.graph.omitted("TENSOR_QUANT8_SYMM", 2);
  const { type, dimensions, scale, zeroPoint } = op.inputSpec(place);
  op.ensure(
    type === "TENSOR_QUANT8_ASYMM_SIGNED" && zeroPoint === 0,
    () => `weight (input ${place}) has to be INT8 with one scale and zero point 0, it is ${type} with ${zeroPoint}`,
  );
  return op.graph.reinterpret(op.inputIndex(place), "weight", () => ({
    type: "TENSOR_QUANT8_SYMM",
    dimensions,
    scale,
    zeroPoint: 0,
  }));
}

function optionalOf(op: Lowering, type: "TENSOR_QUANT16_SYMM" | "TENSOR_INT32", places: readonly number[]): number[] {
  return places.map((place) => (op.has(place) ? op.input(place) : op.graph.omitted(type, 1)));
}

/** Quantisation of intermediate value `place`, from the tensor that describes it. */
function intermediate(op: Lowering, place: number): { scale: number | undefined; zeroPoint: number } {
  const tensor = op.operator.intermediates?.[place];
  const quantization = tensor === undefined ? undefined : op.graph.subgraph.tensors[tensor]?.quantization;
  return { scale: quantization?.scale[0], zeroPoint: quantization?.zeroPoint[0] ?? 0 };
}

/** Operands of one step of a quantised LSTM. */
interface Step {
  readonly input: number;
  readonly hidden: number;
  readonly memory: number;
  /** The new hidden state, the new memory and the result. */
  readonly outputs: readonly number[];
}

/** Steps of an LSTM with INT8 activations and weights and an INT16 memory. */
function quantisedSteps(op: Lowering, steps: readonly Step[]): void {
  const weights = (from: number, to: number) => range(from, to).map((place) => symmetricWeight(op, place));
  const inner = intermediate(op, 4);
  const innerScale = inner.scale;
  if (innerScale === undefined) op.fail("the quantisation of the hidden state (intermediate 4) is missing");
  const float = { ...op.inputSpec(0), type: "TENSOR_FLOAT32" as const };
  const gateScales = [0, 1, 2, 3].map((gate) => {
    const scale = hasLayerNormalisation(op) ? intermediate(op, gate).scale : undefined;
    return op.float(scale ?? GATE_SCALE, float);
  });
  const cell = [
    ...weights(1, 8),
    ...optionalOf(op, "TENSOR_QUANT16_SYMM", range(9, 11)),
    ...optionalOf(op, "TENSOR_INT32", range(12, 15)),
    ...weights(16, 16),
    ...optionalOf(op, "TENSOR_INT32", [17]),
  ];
  const rest = [
    ...optionalOf(op, "TENSOR_QUANT16_SYMM", layerNormalisation),
    ...["cellClip", "projClip"].map((option) => op.float(op.number(option), float)),
    ...[...gateScales, op.int32(inner.zeroPoint), op.float(innerScale, float)],
  ];
  for (const { input, hidden, memory, outputs } of steps) {
    op.emit("QUANTIZED_LSTM", [input, ...cell, hidden, memory, ...rest], outputs);
  }
}

/**
 * Whether .tflite computes an integer LSTM otherwise than the HAL does: it clips a projection with the zero point of its results, and the
 * least variance of its layer normalisation grows with the scale of the weights.
 */
function differsFromHal(op: Lowering): boolean {
  if (!isQuant8(op.inputSpec(0).type)) return false;
  const isClipped = op.has(16) && op.number("projClip") > 0;
  if (isClipped && op.outputSpec().zeroPoint !== 0) return true;
  return layerNormalisation.some((place) => op.has(place) && op.inputSpec(place).scale * 10_000 >= 2);
}

/** The intermediate values of a cell whose gates have 8 bits too. */
const ALL_IN_BYTES = 12;

/** Why an LSTM with these intermediate values cannot be imported. */
function intermediatesRefusal({ intermediates }: TfliteOperator): string | undefined {
  return intermediates?.length === ALL_IN_BYTES
    ? `an LSTM with ${ALL_IN_BYTES} intermediate tensors is refused: what TensorFlow Lite computes for it depends on memory outside its tables`
    : undefined;
}

/** One step of an LSTM with INT8 activations. */
function quantisedLstm(op: Lowering): void {
  const [hidden, memory] = [op.state(18), op.state(19)];
  const outputs = [hidden.output, memory.output, op.output()];
  quantisedSteps(op, [{ input: op.input(0), hidden: hidden.input, memory: memory.input, outputs }]);
}

/** Most steps of a sequence that become operations. */
const MOST_STEPS = 1024;

/** A sequence of steps of an LSTM with INT8 activations: the HAL has single steps only. */
function quantisedSequence(op: Lowering): void {
  const spec = op.inputSpec(0);
  const result = op.outputSpec();
  const time = op.flag("timeMajor") ? 0 : 1;
  op.ensure(
    spec.dimensions.length === 3 && result.dimensions.length === 3 && !spec.dimensions.includes(0),
    () => `the input has to have 3 known dimensions, it has ${listText(spec.dimensions)}`,
  );
  const count = elementAt(spec.dimensions, time);
  op.ensure(count <= MOST_STEPS, () => `a sequence of ${count} steps is longer than ${MOST_STEPS}`);
  const [hidden, memory] = [op.state(18), op.state(19)];
  const parts = range(1, count).map(() => op.graph.temporary({ ...spec, dimensions: spec.dimensions.with(time, 1) }));
  op.emit("SPLIT", [op.input(0), op.int32(time), op.int32(count)], parts);
  const axis = op.int32Tensor([time]);
  const results: number[] = [];
  let last = { hidden: hidden.input, memory: memory.input };
  const steps = parts.map((part, step): Step => {
    const isLast = step === count - 1;
    const input = op.graph.temporary({ ...spec, dimensions: spec.dimensions.toSpliced(time, 1) });
    op.emit("SQUEEZE", [part, axis], [input]);
    const next = {
      hidden: isLast ? hidden.output : op.graph.temporary(op.graph.spec(hidden.output)),
      memory: isLast ? memory.output : op.graph.temporary(op.graph.spec(memory.output)),
    };
    const output = op.graph.temporary({ ...result, dimensions: result.dimensions.toSpliced(time, 1) });
    results.push(output);
    const made = { input, ...last, outputs: [next.hidden, next.memory, output] };
    last = next;
    return made;
  });
  quantisedSteps(op, steps);
  const rows = results.map((each) => {
    const row = op.graph.temporary({ ...result, dimensions: result.dimensions.with(time, 1) });
    op.emit("EXPAND_DIMS", [each, op.int32(time)], [row]);
    return row;
  });
  op.emit("CONCATENATION", [...rows, op.int32(time)], [op.output()]);
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
  note: `QUANTIZED_LSTM for INT8. The others are for the basic kernel: QUANTIZED_16BIT_LSTM for UINT8. ${hybridNote}`,
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
  note: `INT8: one QUANTIZED_LSTM for each step, up to ${MOST_STEPS}. ${hybridNote}`,
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
        ...range(53, 60).map(() => op.graph.omitted("TENSOR_FLOAT32", 1)),
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
