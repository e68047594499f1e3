/**
 * Operations that slide a window over an image, on small images with paddings, strides and dilations of every kind: a window
 * that reaches beyond the image tempts an engine to read outside its memory.
 */
import { elementAt, halTypeName, OperationError, type Tensor } from "@nnhal/operations";
import { ErrorStatus, type HalVersion, type OperandTypeName, type OperationTypeName } from "@nnhal/types";
import { endAsUnsupported, type Need } from "../../needs.ts";
import { createRandom, type Random } from "../../random/random.ts";
import type { ExampleOperand } from "../../vectors/example.ts";
import { type Bench, supportOf } from "../bench.ts";
import { expectExecution, expectStatus, mismatch } from "../check.ts";
import { expectValues } from "../execution.ts";
import { referenceResult } from "../reference-result.ts";
import { constant, modelOfGraphs, operandOf } from "../small-models.ts";
import { casesOf, type SuiteCase } from "../suite-case.ts";
import { bytesOf, emptyMemory, memoryWith, requestFor } from "../values.ts";

/**
 * Number of models that a case draws: on the device as it is, and through a HAL version, which passes on the device's results.
 */
const drawn = { direct: 60, throughVersion: 12 } as const;

const windowed = [
  "CONV_2D",
  "DEPTHWISE_CONV_2D",
  "AVERAGE_POOL_2D",
  "MAX_POOL_2D",
  "L2_POOL_2D",
] as const satisfies readonly (Need & OperationTypeName)[];

/** An operation with a window. */
type Windowed = (typeof windowed)[number];

/** One model: its operands, and how to call it. */
interface Drawn {
  readonly label: string;
  readonly inputs: readonly Tensor[];
}

type Extents = readonly number[];

function tensor(type: OperandTypeName, dimensions: Extents, values: readonly number[]): Tensor {
  return { type, dimensions, scale: 0, zeroPoint: 0, data: dataOf(type, values) };
}

function dataOf(type: OperandTypeName, values: readonly number[]): Tensor["data"] {
  if (type === "INT32") return Int32Array.from(values);
  return type === "BOOL" ? Uint8Array.from(values) : Float32Array.from(values);
}

function integers(...values: readonly number[]): Tensor[] {
  return values.map((value) => tensor("INT32", [], [value]));
}

/** Values that differ from one another, exact in float16. */
function image(random: Random, dimensions: Extents): Tensor {
  const count = dimensions.reduce((product, extent) => product * extent, 1);
  return tensor(
    "TENSOR_FLOAT32",
    dimensions,
    Array.from({ length: count }, () => random.integer(-16, 16) / 8),
  );
}

/** Draws a model. HAL 1.0 has neither NCHW nor dilations. */
function draw(operation: Windowed, version: HalVersion, random: Random): Drawn {
  const size = () => random.integer(1, 4);
  const window = () => random.integer(1, 4);
  const isConvolution = operation === "CONV_2D" || operation === "DEPTHWISE_CONV_2D";
  const isNewer = version >= "1.2";
  const isNchw = isNewer && random.chance(0.3);
  const [batches, height, width, depth] = [random.integer(1, 2), size(), size(), random.integer(1, 3)];
  const [filterHeight, filterWidth] = [window(), window()];
  const dilation = () => (isConvolution && isNewer ? random.integer(1, 2) : 1);
  const [dilationWidth, dilationHeight] = [dilation(), dilation()];
  const strides = [random.integer(1, 3), random.integer(1, 3)];
  const shape = isNchw ? [batches, depth, height, width] : [batches, height, width, depth];
  const scheme = random.pick(["SAME", "VALID", "explicit"] as const);
  // Less than the window, so that every window overlaps the image.
  const reach = (extent: number, dilated: number) => random.integer(0, (extent - 1) * dilated);
  const paddings = [
    reach(filterWidth, dilationWidth),
    reach(filterWidth, dilationWidth),
    reach(filterHeight, dilationHeight),
    reach(filterHeight, dilationHeight),
  ];
  const padding = scheme === "explicit" ? paddings : [scheme === "SAME" ? 1 : 2];
  const activation = random.pick([0, 0, 1]);
  const multiplier = random.integer(1, 2);
  const channels = operation === "CONV_2D" ? random.integer(1, 3) : depth * multiplier;
  const filter =
    operation === "CONV_2D" ? [channels, filterHeight, filterWidth, depth] : [1, filterHeight, filterWidth, channels];
  const weights = isConvolution ? [image(random, filter), image(random, [channels])] : [];
  const sizes = isConvolution ? [] : [filterWidth, filterHeight];
  const own = operation === "DEPTHWISE_CONV_2D" ? [multiplier] : [];
  const layout = isNewer ? [tensor("BOOL", [], [isNchw ? 1 : 0])] : [];
  const dilations = isNewer && isConvolution ? integers(dilationWidth, dilationHeight) : [];
  const shown = isConvolution
    ? `filter [${filter}], dilations [${dilationWidth}, ${dilationHeight}]`
    : `window [${sizes}]`;
  return {
    label: `input [${shape}]${isNchw ? " NCHW" : ""}, ${shown}, ${scheme === "explicit" ? `padding [${padding}]` : scheme}, strides [${strides}], activation ${activation}`,
    inputs: [
      image(random, shape),
      ...weights,
      ...integers(...padding, ...strides, ...sizes, ...own, activation),
      ...layout,
      ...dilations,
    ],
  };
}

function operandFor({ type, dimensions, data }: Tensor, isInput: boolean): ExampleOperand {
  const name = halTypeName(type);
  return isInput ? operandOf(name, dimensions, "SUBGRAPH_INPUT") : constant(name, dimensions, [...data]);
}

/** Executes a model, and compares with the reference kernel. Returns whether the device supports it. */
async function compare(bench: Bench, operation: Windowed, { label, inputs }: Drawn): Promise<string | undefined> {
  const { dimensions, values } = referenceResult(operation, inputs, "TENSOR_FLOAT32");
  const model = modelOfGraphs({
    operands: [
      ...inputs.map((input, index) => operandFor(input, index === 0)),
      operandOf("TENSOR_FLOAT32", dimensions, "SUBGRAPH_OUTPUT"),
    ],
    operations: [{ type: operation, inputs: inputs.map((_, index) => index), outputs: [inputs.length] }],
    inputIndexes: [],
    outputIndexes: [],
  });
  const reason = await supportOf(bench.device, model);
  if (reason !== undefined) return reason;
  const { preparedModel, ...outcome } = await bench.device.prepareModel(model);
  expectStatus(`prepareModel of ${operation} of ${label}`, outcome, ErrorStatus.NONE);
  if (preparedModel === null) mismatch("prepareModel: NONE without a prepared model");
  try {
    const output = emptyMemory(bytesOf("TENSOR_FLOAT32", values).length);
    const request = requestFor([memoryWith("TENSOR_FLOAT32", [...elementAt(inputs, 0).data])], [output]);
    expectExecution(`execute of ${operation} of ${label}`, await preparedModel.execute(request), ErrorStatus.NONE);
    expectValues(`${operation} of ${label}`, "TENSOR_FLOAT32", output, values);
  } finally {
    preparedModel.close();
  }
  return undefined;
}

async function sweep(bench: Bench, operation: Windowed, version: HalVersion): Promise<void> {
  const random = createRandom(windowed.indexOf(operation) * 0x1_0001 + Number(version) * 10);
  let reason: string | undefined;
  let judged = 0;
  const count = bench.device === bench.own.device ? drawn.direct : drawn.throughVersion;
  for (let turn = 0; turn < count; turn++) {
    try {
      const refusal = await compare(bench, operation, draw(operation, version, random));
      reason ??= refusal;
      if (refusal === undefined) judged++;
    } catch (error) {
      // Without padding a window may be larger than the image: there is no such model.
      if (!(error instanceof OperationError)) throw error;
    }
  }
  if (judged === 0) endAsUnsupported(operation, reason);
}

const kinds = [
  { since: "1.0", what: "paddings and strides" },
  { since: "1.2", what: "paddings, strides, dilations and layouts" },
] as const;

export const windowCases: readonly SuiteCase[] = kinds.flatMap(({ since, what }) =>
  casesOf(
    "windows",
    since,
    windowed,
    (operation) => `${operation} on small images, with ${what} drawn at random`,
    (bench, operation) => sweep(bench, operation, since),
  ),
);
