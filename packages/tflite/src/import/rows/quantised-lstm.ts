/**
 * LSTMs with INT8 activations and weights and an INT16 memory, as steps of the HAL's QUANTIZED_LSTM.
 */
import { elementAt } from "@nnhal/operations";
import { listText } from "../../error.ts";
import type { TfliteOperator } from "../../model.ts";
import type { Lowering } from "../lowering.ts";
import { isQuant8 } from "../operand-types.ts";

/** Integers of which both bounds are included. */
export function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}

/** Quantisation of values inside an integer LSTM, as the file states it. */
export function lstmIntermediates(op: Lowering): Readonly<Record<string, number>> {
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

/** The weights of a layer normalisation, by their places among the inputs. */
export const layerNormalisation = range(20, 23);

export function hasLayerNormalisation(op: Lowering): boolean {
  return layerNormalisation.some(op.has);
}

/** Scale of the values before a gate's activation if the file has none: 12 fractional bits. */
const GATE_SCALE = 2 ** -12;

/** An INT8 weight of a quantised LSTM: symmetric in the HAL. */
function symmetricWeight(op: Lowering, place: number): number {
  if (!op.has(place)) return op.graph.omit("TENSOR_QUANT8_SYMM", 2);
  const { type, dimensions, scale, zeroPoint } = op.inputSpec(place);
  op.ensure(
    type === "TENSOR_QUANT8_ASYMM_SIGNED" && zeroPoint === 0,
    () => `weight (input ${place}): expected INT8 with one scale and zero point 0, got ${type} with ${zeroPoint}`,
  );
  return op.graph.reinterpret(op.inputIndex(place), "weight", () => ({
    type: "TENSOR_QUANT8_SYMM",
    dimensions,
    scale,
    zeroPoint: 0,
  }));
}

function optionalOf(op: Lowering, type: "TENSOR_QUANT16_SYMM" | "TENSOR_INT32", places: readonly number[]): number[] {
  return places.map((place) => (op.has(place) ? op.input(place) : op.graph.omit(type, 1)));
}

/** Quantisation of intermediate value `place`, from the tensor that describes it. */
function intermediate(op: Lowering, place: number): { scale: number | undefined; zeroPoint: number } {
  const tensor = op.operator.intermediates?.[place];
  const quantization = tensor === undefined ? undefined : op.graph.tensor(tensor)?.quantization;
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
 * True if .tflite computes an integer LSTM otherwise than the HAL does: it clips a projection with the zero point of its results, and the
 * least variance of its layer normalisation grows with the scale of the weights.
 */
export function differsFromHal(op: Lowering): boolean {
  if (!isQuant8(op.inputSpec(0).type)) return false;
  const isClipped = op.has(16) && op.number("projClip") > 0;
  if (isClipped && op.outputSpec().zeroPoint !== 0) return true;
  return layerNormalisation.some((place) => op.has(place) && op.inputSpec(place).scale * 10_000 >= 2);
}

/** The intermediate values of a cell whose gates have 8 bits too. */
const ALL_IN_BYTES = 12;

/** Why an LSTM with these intermediate values cannot be imported. */
export function intermediatesRefusal({ intermediates }: TfliteOperator): string | undefined {
  return intermediates?.length === ALL_IN_BYTES
    ? `an LSTM with ${ALL_IN_BYTES} intermediate tensors is refused: what TensorFlow Lite computes for it depends on memory outside its tables`
    : undefined;
}

/** One step of an LSTM with INT8 activations. */
export function quantisedLstm(op: Lowering): void {
  const [hidden, memory] = [op.state(18), op.state(19)];
  const outputs = [hidden.output, memory.output, op.output()];
  quantisedSteps(op, [{ input: op.input(0), hidden: hidden.input, memory: memory.input, outputs }]);
}

/** Most steps of a sequence that become operations. */
export const MOST_STEPS = 1024;

/** A sequence of steps of an LSTM with INT8 activations: the HAL has single steps only. */
export function quantisedSequence(op: Lowering): void {
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
