/**
 * Examples that show a bias: an engine that always rounds down is within the step that each element may be off, but its errors add up in a
 * network. Each example has so many results between two steps that the mean of their differences tells rounding down from rounding to
 * the nearest.
 *
 * The bound. If results are rounded to the nearest step, a difference from the reference is as often above as below it, and its mean is 0; a
 * device that rounds down has the mean -F, where F is the share of results that the reference rounds up. The bound B is half of F. Halves
 * may be rounded in either direction, so a share T of halves may add T to a mean; draws with T above B / 4 are not taken. Differences are
 * within -1 and 1, so by Hoeffding's inequality the mean of n of them is off by t or more with a probability of at most 2 exp(-n t² / 2).
 * Both kinds of devices keep a distance of at least t = 3 B / 4 from the bound, and n is such that this probability is below 10^-4. Results of one
 * fraction say little, so F is at most 0.6.
 */
import { arithmeticIn } from "@nnhal/diff";
import {
  bindArguments,
  bindOutputs,
  elementAt,
  halTypeName,
  integerRange,
  matchOperation,
  type Operation,
  type OutputTensor,
  PaddingScheme,
  type Tensor,
} from "@nnhal/operations";
import { drawOperation, type RandomOperation } from "../random/draw.ts";
import { scalarTensor } from "../random/elements.ts";
import { createRandom, type Random } from "../random/random.ts";
import { runRandomOperation } from "../random/run.ts";
import { type Signature, signaturesOf } from "../random/signature.ts";
import { realSteps, roundedDown } from "./reals.ts";

/** An example of a bias: the rest of its name, such as `4.0`, its operands, its results, and the most that their mean may be off. */
export interface BiasExample {
  readonly name: string;
  readonly drawn: RandomOperation;
  readonly outputs: readonly OutputTensor[];
  readonly bias: number;
}

/** The most draws until one shows enough. */
const mostDraws = 16;

/** The most probability that chance exceeds the bound, or hides a device that rounds down. */
const mostChance = 1e-4;

/** The greatest share of results that the reference rounds up. */
const mostShare = 0.6;

/**
 * Operations without such examples: CAST does not round to a step, RSQRT has no result for half of all elements; the others have few results, or
 * results that depend on few numbers.
 */
export const withoutBias: ReadonlySet<string> = new Set([
  "AXIS_ALIGNED_BBOX_TRANSFORM",
  "BATCH_MATMUL",
  "CAST",
  "HEATMAP_MAX_KEYPOINT",
  "QUANTIZED_16BIT_LSTM",
  "QUANTIZED_LSTM",
  "ROI_ALIGN",
  "ROI_POOLING",
  "RSQRT",
]);

/** Returns the signatures for which such examples exist: one for each row of types whose results are rounded to 8 bits. */
export function biasSignatures(
  operation: Operation,
): readonly { readonly place: number; readonly signature: Signature }[] {
  const arithmetic = arithmeticIn(operation);
  const isMoved = arithmetic?.kind === "moved" && arithmetic.rescales !== true;
  if (isMoved || withoutBias.has(operation.name) || operation.dynamic) return [];
  const seen = new Set<string>();
  return signaturesOf(operation).flatMap((signature, place) => {
    const [first] = signature.outputs;
    const type = String(first && signature.types.get(first));
    const key = signature.row.join(" ");
    if (!type.includes("QUANT8") || seen.has(key)) return [];
    seen.add(key);
    return [{ place, signature }];
  });
}

/** The example of a signature; undefined if no draw shows enough. */
export function biasExample(place: number, signature: Signature): BiasExample | undefined {
  for (let turn = 0; turn < mostDraws; turn++) {
    const example = drawBias(place, signature, turn);
    if (example !== undefined) return example;
  }
  return undefined;
}

/** Shapes of about 4000 elements by rank. The last extent is odd, so that few means over it are halves. */
const shapes = [[], [3888], [1296, 3], [36, 36, 3], [4, 18, 18, 3], [2, 2, 18, 18, 3]] as const;

/**
 * Scalars, if the form has them: windows of odd numbers of cells that lie inside the border, images in other sizes, no
 * activation.
 */
const scalars: Readonly<Record<string, number>> = {
  activation: 0,
  filterWidth: 3,
  filterHeight: 3,
  paddingLeft: 0,
  paddingRight: 0,
  paddingTop: 0,
  paddingBottom: 0,
  paddingScheme: PaddingScheme.VALID,
  strideWidth: 1,
  strideHeight: 1,
  width: 25,
  height: 23,
};

/** Factors for the drawn scale of the output: one of them may suit the results better. */
const factors = [1, 4, 16, 64, 1 / 4, 1 / 16] as const;

function drawBias(place: number, signature: Signature, turn: number): BiasExample | undefined {
  const seed = signature.operation.code * 0x1_0301 + place * 0x2003 + turn * 0x3_ffff;
  const random = createRandom(seed);
  const shape = (rank: number): number[] => [...elementAt<readonly number[]>(shapes, Math.min(5, Math.max(1, rank)))];
  const any = drawOperation(signature, random, {
    spoilt: 0,
    fill: "plain",
    steer: {
      shape: (least = 1, greatest = 4) => shape(random.integer(least, Math.min(4, Math.max(least, greatest)))),
      offerShape: shape,
      // Powers of two would make many halves.
      scale: () => drawScale(random),
    },
  });
  const whole = { ...any, inputs: any.inputs.map((input, position) => steerOperand(signature, position, input)) };
  const outputs = whole.outputs.map((output) => ({ ...output, ...middleOf(output) }));
  for (const factor of factors) {
    const example = tryDrawn({
      ...whole,
      outputs: outputs.map((output) => ({ ...output, scale: Math.fround(output.scale * factor) })),
    });
    if (example === "refused") break;
    if (example !== undefined) return example;
  }
  // Operations that fix the quantisation of their results refuse any other.
  const example = tryDrawn(whole);
  return example === "refused" ? undefined : example;

  function tryDrawn(drawn: RandomOperation): BiasExample | "refused" | undefined {
    const outcome = runRandomOperation(drawn, createRandom(1), false);
    if (outcome.kind !== "computed") return "refused";
    const bias = boundOf(drawn, outcome.outputs);
    return bias === undefined ? undefined : { name: `${place}.${turn}`, drawn, outputs: outcome.outputs, bias };
  }
}

/** An operand that makes results many and no halves, where it was drawn otherwise. */
function steerOperand({ inputs }: Signature, position: number, input: Tensor | undefined): Tensor | undefined {
  const { name, kind } = elementAt(inputs, position);
  if (input === undefined) return input;
  if (name === "axes") return { ...input, dimensions: [1], data: Int32Array.of(-1) };
  const value = kind === "tensor" ? undefined : scalars[name];
  return value === undefined ? input : scalarTensor(halTypeName(input.type), value);
}

function drawScale(random: Random): number {
  return Math.fround(2 ** -random.integer(2, 7) * (1 + random.next()));
}

/** The zero point in the middle of the range, by which most results are within it. */
function middleOf({ type, zeroPoint }: Pick<Tensor, "type" | "zeroPoint">): Pick<Tensor, "zeroPoint"> {
  const [least, greatest] = integerRange(type);
  return { zeroPoint: greatest - least === 255 ? Math.ceil((least + greatest) / 2) : zeroPoint };
}

/**
 * Returns the greatest allowed distance of the mean difference of the first result from 0; undefined if the example shows too
 * little.
 */
function boundOf(drawn: RandomOperation, outputs: readonly OutputTensor[]): number | undefined {
  const [output] = outputs;
  if (output === undefined || output.data.length === 0) return undefined;
  const count = output.data.length;
  const [share, halves] = sharesOf(drawn, outputs, output);
  const bound = share / 2;
  const distance = (3 * bound) / 4;
  if (halves > bound / 4 || share > mostShare) return undefined;
  return 2 * Math.exp((-count * distance * distance) / 2) < mostChance ? bound : undefined;
}

/** Which share of results rounding down makes less by one, and which share is halves. */
function sharesOf(
  drawn: RandomOperation,
  outputs: readonly OutputTensor[],
  output: OutputTensor,
): readonly [number, number] {
  const count = output.data.length;
  const steps = stepsOf(drawn, outputs);
  if (steps === undefined) {
    // Without real numbers: of results between the ends half are rounded up, if they are many different ones.
    const [least, greatest] = integerRange(output.type);
    const between = output.data.filter((element) => element > least && element < greatest);
    return new Set(between).size < 24 ? [0, 1] : [between.length / count / 2, 0];
  }
  const down = roundedDown(steps, output.type);
  let [less, halves] = [0, 0];
  for (const [index, value] of steps.entries()) {
    if (elementAt(down, index) < elementAt(output.data, index)) less++;
    if (Math.abs(value - Math.floor(value) - 0.5) < 2 ** -10) halves++;
  }
  return [less / count, halves / count];
}

/** The results in real numbers, in steps of the first output; undefined if the operation has no float kernel. */
export function stepsOf(
  { signature, inputs }: RandomOperation,
  outputs: readonly OutputTensor[],
): Float64Array | undefined {
  const { operation } = signature;
  const types = signature.inputs.map((param) => signature.types.get(param));
  const match = matchOperation(
    operation,
    types,
    outputs.map(({ type }) => type),
  );
  if ("mismatch" in match) return undefined;
  return realSteps(operation, bindArguments(operation, match.form, inputs), bindOutputs(match.form, outputs));
}
