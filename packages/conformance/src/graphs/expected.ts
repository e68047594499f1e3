/**
 * The expected results of a graph on a device, with their allowances. The values are those of the reference kernels. The
 * allowances are measured: the graph is computed several more times, with each result of each operation as far off as the
 * operation's allowance permits, and with every value that the HAL leaves open replaced by another.
 */
import {
  elementAt,
  integerRange,
  isFloat,
  isTensorType,
  roundToFloat16,
  type Tensor,
  type TensorData,
} from "@nnhal/operations";
import { allowanceFor, hasFixedUnusual } from "../arithmetic/allowances.ts";
import type { RandomOperation } from "../random/draw.ts";
import { bytesOf } from "../random/examples.ts";
import { createRandom, type Random } from "../random/random.ts";
import type { JudgedElements } from "../result.ts";
import type { Allowance, Example, ExampleOperand, ExampleOperation } from "../vectors/example.ts";
import { type Deviation, definitionOf, evaluate } from "./evaluate.ts";

/** Number of times that a graph is computed with deviations. In the first two all deviations have one sign. */
const runs = 6;

/** The same if an operation says where elements lie: of two that are nearly equal, half of the other runs put the wrong one first. */
const runsOfPlaces = 24;

/** Operations whose results are the places of elements. */
const placing: ReadonlySet<string> = new Set(["ARGMAX", "ARGMIN", "TOPK_V2"]);

/** A device may be so many times as far off as any of these runs. */
const margin = 2;

/**
 * Beyond this a difference would say nothing, so the element is not compared: of floats a part of the element and of the root mean
 * square of its tensor, of quantised numbers steps (the HAL's own test of random graphs allows as many), of other integers 1.
 */
const greatest = { float: 0.1, quantised: 12, integer: 1 } as const;

const none: Allowance = { absolute: 0, relative: 0 };

/** The part of a number that is lost at most when it is rounded to float16: between operations a device may keep more digits. */
const halfUnit16 = 2 ** -11;

/** The graph with what its outputs must be. */
export interface Expectation {
  readonly example: Example;
  readonly elements: JudgedElements;
}

/**
 * Computes the expected results of a graph; undefined if the reference refuses it, or a device with allowed deviations could.
 * `exact`: each element must be the reference's, unless it depends on numbers that are drawn at random.
 */
export function expectationOf(graph: Example, exact = false): Expectation | undefined {
  const right = outputsOf(graph, 0);
  if (right === undefined) return undefined;
  const others: (readonly Tensor[])[] = [];
  const drawn = drawnOperands(graph);
  const most = exact ? 0 : findsPlaces(graph) ? runsOfPlaces : runs;
  for (let run = 1; run <= most; run++) {
    const other = outputsOf(graph, run, deviationOf(run));
    if (other === undefined) return undefined;
    others.push(other);
  }
  let [judged, total] = [0, 0];
  const operands = [...graph.main.operands];
  for (const [position, index] of graph.main.outputIndexes.entries()) {
    const value = elementAt(right, position);
    const found = others.map((outputs) => elementAt(outputs, position));
    const allowance = drawn.has(index) ? undefined : exact ? none : allowanceOf(value, found);
    operands[index] = outputWith(elementAt(operands, index), value, allowance);
    total += value.data.length;
    judged += allowance?.elements?.filter((bound) => bound !== null).length ?? (allowance ? value.data.length : 0);
  }
  return { example: { ...graph, main: { ...graph.main, operands } }, elements: { judged, total } };
}

function findsPlaces({ main, referenced }: Example): boolean {
  return [main, ...referenced].some(({ operations }) =>
    operations.some(({ type }) => placing.has(definitionOf(type)?.name ?? "")),
  );
}

function outputsOf(graph: Example, run: number, deviation?: Deviation): readonly Tensor[] | undefined {
  const evaluation = evaluate(graph, createRandom(run), deviation);
  if ("refused" in evaluation) return undefined;
  const outputs = graph.main.outputIndexes.map((index) => evaluation.values[index]);
  return outputs.includes(undefined) ? undefined : outputs.filter((output) => output !== undefined);
}

/** Operands of the main subgraph that depend on numbers that are drawn at random: any device draws others. */
function drawnOperands({ main, referenced }: Example): ReadonlySet<number> {
  const isDrawing = ({ type }: ExampleOperation) => definitionOf(type)?.random === true;
  const inSubgraphs = referenced.some(({ operations }) => operations.some(isDrawing));
  const drawn = new Set<number>();
  for (const operation of main.operations) {
    const isCall = definitionOf(operation.type) === undefined;
    if (isDrawing(operation) || (isCall && inSubgraphs) || operation.inputs.some((index) => drawn.has(index))) {
      for (const index of operation.outputs) drawn.add(index);
    }
  }
  return drawn;
}

/** `allowance` undefined: not even the shape is known. */
function outputWith(operand: ExampleOperand, value: Tensor, allowance: Allowance | undefined): ExampleOperand {
  const data = value.data.length === 0 ? null : bytesOf(value);
  const isIgnored = allowance === undefined;
  return { ...operand, dimensions: value.dimensions, data, isIgnored, ...(allowance && { allowance }) };
}

/** Returns the allowance of an output from the deviations of several runs. */
function allowanceOf(right: Tensor, others: readonly Tensor[]): Allowance | undefined {
  const isShape = (other: Tensor) => String(other.dimensions) === String(right.dimensions);
  if (!others.every(isShape)) return undefined;
  const { data } = right;
  const limit = limitOf(right);
  const elements = Array.from(data, (wanted, index): number | null => {
    const found = others.map((other) => elementAt(other.data, index));
    if (!Number.isFinite(wanted)) return found.every((other) => Object.is(other, wanted)) ? 0 : null;
    // A NaN is further off than any limit.
    const most = Math.max(0, ...found.map((other) => Math.abs(other - wanted)));
    return most <= limit(wanted) ? most * margin : null;
  });
  const means = others.map((other) => meansOf(right, other, elements));
  return {
    ...none,
    elements,
    bias: margin * Math.max(...means.map(({ bias }) => Math.abs(bias))),
    meanSquare: margin * margin * Math.max(...means.map(({ meanSquare }) => meanSquare)),
  };
}

function limitOf({ type, scale, data }: Tensor): (wanted: number) => number {
  if (type === "TENSOR_BOOL8" || type === "BOOL") return () => 0;
  if (!isFloat(type)) return () => (scale > 0 ? greatest.quantised : greatest.integer);
  let [count, squares] = [0, 0];
  for (const element of data) {
    if (!Number.isFinite(element)) continue;
    count++;
    squares += element * element;
  }
  const size = Math.sqrt(squares / Math.max(1, count));
  return (wanted) => greatest.float * (Math.abs(wanted) + size);
}

function meansOf(right: Tensor, other: Tensor, elements: readonly (number | null)[]) {
  let [count, sum, squares] = [0, 0, 0];
  for (const [index, wanted] of right.data.entries()) {
    if (elements[index] === null || !Number.isFinite(wanted)) continue;
    const difference = elementAt(other.data, index) - wanted;
    count++;
    sum += difference;
    squares += difference * difference;
  }
  return { bias: sum / Math.max(1, count), meanSquare: squares / Math.max(1, count) };
}

/** A device that is as far off as it may be. */
function deviationOf(run: number): Deviation {
  const random = createRandom(0x5eed + run);
  const sign = () => (run === 1 ? 1 : run === 2 ? -1 : random.pick([-1, 1]) * (0.5 + random.next() / 2));
  return {
    inputs(drawn) {
      if (hasFixedUnusual(drawn) || drawn.inputs.every((input) => input === undefined || isUsual(input))) return drawn;
      const inputs = drawn.inputs.map((input) =>
        input && isTensorType(input.type) ? withoutUnusual(input, random) : input,
      );
      return { ...drawn, inputs };
    },
    outputs: (drawn, outputs) => outputs.map((output) => shaken(drawn, output, sign, random)),
  };
}

function isUsual({ type, data }: Tensor): boolean {
  return !isFloat(type) || data.every(Number.isFinite);
}

/** Replaces NaN and infinities by random values: the HAL leaves their effect open. */
function withoutUnusual<Value extends Tensor>(tensor: Value, random: Random): Value {
  if (isUsual(tensor)) return tensor;
  const anything = () => random.pick([0, 1, -1, 60_000, -60_000, Number.NaN]);
  const data = tensor.data.map((element) => (Number.isFinite(element) ? element : anything()));
  return { ...tensor, data };
}

function shaken(drawn: RandomOperation, output: Tensor, sign: () => number, random: Random): Tensor {
  const { absolute, relative } = allowanceFor(drawn, { ...output });
  const whole = hasFixedUnusual(drawn) ? output : withoutUnusual(output, random);
  const unrounded = output.type === "TENSOR_FLOAT16" ? halfUnit16 : 0;
  if (absolute === 0 && relative === 0 && unrounded === 0) return whole;
  const round = findRounding(output);
  const data: TensorData = whole.data.map((element) => {
    if (!Number.isFinite(element)) return element;
    const size = Math.abs(element);
    return round(element + sign() * (absolute + relative * size)) + sign() * unrounded * size;
  });
  return { ...whole, data };
}

/** To the nearest number of a type. */
function findRounding({ type }: Tensor): (value: number) => number {
  if (type === "TENSOR_FLOAT16") return roundToFloat16;
  if (isFloat(type)) return Math.fround;
  if (type === "TENSOR_BOOL8") return (value) => (value > 0 ? 1 : 0);
  const [least, most] = integerRange(type);
  return (value) => Math.min(most, Math.max(least, Math.round(value)));
}
