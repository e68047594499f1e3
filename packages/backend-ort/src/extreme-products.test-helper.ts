/**
 * Random 8-bit convolutions and matrix products with extreme values: activations, weights and zero points at their limits, weights of one
 * scale and of one for each channel, constant and not. The reference backend is the judge.
 */
import { type BackendSession, viewModel } from "@nnhal/backend";
import { referenceBackend } from "@nnhal/backend-reference";
import { elementAt, elementCount } from "@nnhal/operations";
import { Model } from "@nnhal/runtime";
import { ErrorStatus, type Memory, type OperationTypeName } from "@nnhal/types";

/** Numbers in [0, 1), the same in each run. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A model of one operation, and what it runs on. */
export interface ExtremeProduct {
  /** For messages. */
  readonly name: string;
  readonly model: Model;
  readonly inputs: readonly { readonly bytes: Uint8Array; readonly dimensions: readonly number[] }[];
  readonly outputs: number;
}

type Draw = () => number;

/** Draws one. */
export function drawExtremeProduct(random: Draw): ExtremeProduct {
  const pick = <const T>(list: readonly [T, ...T[]]): T => list[Math.floor(random() * list.length)] ?? list[0];
  const kind = pick(["CONV_2D", "CONV_2D", "GROUPED_CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"]);
  const type = pick(["TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM_SIGNED"]);
  const isPerChannel = kind !== "FULLY_CONNECTED" && pick([true, false]);
  const isVariable = random() < 0.15;
  const nchw = random() < 0.15;
  const isMatrix = kind === "FULLY_CONNECTED";
  const isDepthwise = kind === "DEPTHWISE_CONV_2D";
  const group = kind === "GROUPED_CONV_2D" ? pick([1, 2, 3, 4]) : 1;
  const channels = group * pick([1, 2, 3, 4, 5, 8, 15, 16, 17, 32]);
  const outputs = isDepthwise ? channels * pick([1, 1, 1, 2]) : group * pick([1, 2, 4, 7, 8, 16, 17]);
  const kernel = isMatrix ? [1, 1] : [pick([1, 1, 2, 3, 3, 5]), pick([1, 1, 2, 3, 3, 5])];
  const [height = 1, width = 1] = kernel;
  const extents = isMatrix ? [pick([1, 1, 2, 5, 9])] : [height + pick([0, 1, 3]), width + pick([0, 1, 2, 3, 5])];
  const products = isDepthwise ? height * width : (channels / group) * height * width;

  const shift = type === "TENSOR_QUANT8_ASYMM" ? 0 : -128;
  const [least, greatest] = [shift, shift + 255];
  const zeroPoint = () => pick([least, greatest, shift + 128, shift + Math.floor(random() * 256)]);
  const [low, high] = isPerChannel ? [pick([-128, -127]), 127] : [least, greatest];
  const scale = 2 ** -Math.floor(random() * 6) * (1 + random());
  const filterScale = 2 ** -Math.floor(random() * 8) * (1 + random());
  const outputScale = (scale * filterScale * products * 2 ** 15 * 2 ** (-4 * random() * random())) / 127;

  const dimensions = isMatrix
    ? [elementAt(extents, 0), channels]
    : nchw
      ? [1, channels, elementAt(extents, 0), elementAt(extents, 1)]
      : [1, elementAt(extents, 0), elementAt(extents, 1), channels];
  const filterDimensions = isMatrix
    ? [outputs, channels]
    : isDepthwise
      ? [1, height, width, outputs]
      : [outputs, height, width, channels / group];
  const image = drawBytes(elementCount(dimensions), least, greatest, random);
  const weights = drawBytes(elementCount(filterDimensions), low, high, random);

  const model = new Model();
  const input = model.addOperand({ type, dimensions, scale, zeroPoint: zeroPoint() });
  const filter = model.addOperand(
    isPerChannel
      ? { type: "TENSOR_QUANT8_SYMM_PER_CHANNEL", dimensions: filterDimensions }
      : { type, dimensions: filterDimensions, scale: filterScale, zeroPoint: zeroPoint() },
  );
  if (isPerChannel) {
    const scales = Array.from({ length: outputs }, () => filterScale * (0.25 + random()));
    model.setOperandSymmPerChannelQuantParams(filter, { scales, channelDim: isDepthwise ? 3 : 0 });
  }
  const asBytes = (values: Int16Array, isSigned: boolean) =>
    isSigned ? Int8Array.from(values) : Uint8Array.from(values);
  const stored = asBytes(weights, low < 0);
  if (!isVariable) model.setOperandValue(filter, stored);
  const biasScale = isPerChannel ? 0 : Math.fround(Math.fround(scale) * Math.fround(filterScale));
  const bias = model.addOperand({ type: "TENSOR_INT32", dimensions: [outputs], scale: biasScale });
  const limit = products * 2 ** pick([4, 10, 14]);
  model.setOperandValue(
    bias,
    Int32Array.from({ length: outputs }, () => Math.round((random() - 0.5) * limit)),
  );
  const scalar = (value: number, of: "INT32" | "BOOL" = "INT32") => {
    const operand = model.addOperand({ type: of });
    model.setOperandValue(operand, of === "BOOL" ? Uint8Array.of(value) : Int32Array.of(value));
    return operand;
  };
  const activation = pick([0, 0, 1, 3]);
  const more: readonly number[] = isMatrix
    ? [activation]
    : [
        pick([1, 2]),
        ...[pick([1, 1, 2]), pick([1, 1, 2])],
        ...(kind === "GROUPED_CONV_2D" ? [group] : isDepthwise ? [outputs / channels] : []),
        activation,
      ];
  const output = model.addOperand({ type, dimensions: [], scale: outputScale, zeroPoint: zeroPoint() });
  const settings = more.map((value) => scalar(value));
  if (!isMatrix) settings.push(scalar(nchw ? 1 : 0, "BOOL"));
  model.addOperation(kind satisfies OperationTypeName, [input, filter, bias, ...settings], [output]);
  model.identifyInputsAndOutputs(isVariable ? [input, filter] : [input], [output]);
  model.finish();
  const bytes = (from: Int8Array | Uint8Array) => new Uint8Array(from.buffer);
  const inputs = [{ bytes: bytes(asBytes(image, shift < 0)), dimensions }];
  if (isVariable) inputs.push({ bytes: bytes(stored), dimensions: filterDimensions });
  const facts = [isPerChannel && "per channel", isVariable && "variable", nchw && "NCHW"].filter(Boolean).join(", ");
  return {
    name: `${kind} of ${type} ${dimensions.join("x")} with filters ${filterDimensions.join("x")} (${facts})`,
    model,
    inputs,
    outputs: elementAt(dimensions, 0) * outputs * elementCount(extents) * 64,
  };
}

/** Whole numbers of two limits: all at one, in runs, or in any order; some with numbers in between. */
function drawBytes(length: number, least: number, greatest: number, random: Draw): Int16Array {
  const mode = Math.floor(random() * 6);
  const span = greatest - least + 1;
  let isHigh = random() < 0.5;
  return Int16Array.from({ length }, () => {
    if (mode === 5) return least + Math.floor(random() * span);
    if (mode === 4 && random() < 0.3) return least + Math.floor(random() * span);
    if (mode >= 2 && random() < (mode === 2 ? 0.05 : 0.5)) isHigh = !isHigh;
    return isHigh ? greatest : least;
  });
}

/** Large constants lie in buffers. */
function bytesOfPool({ handle, size }: Memory): Uint8Array {
  if (handle === null || !("buffer" in handle) || !(handle.buffer instanceof ArrayBuffer))
    throw new Error("the pool is a buffer");
  return new Uint8Array(handle.buffer, handle.byteOffset, size);
}

const context = { now: () => 0n, loopTimeoutDuration: 0n, measure: false, random: Math.random };

/** The bytes that a session computes; a text if it refuses the operation. */
async function computeOn(session: BackendSession, product: ExtremeProduct): Promise<Uint8Array | string> {
  const graph = viewModel({ model: product.model.hal, pools: product.model.hal.pools.map(bytesOfPool) });
  for (const operation of graph.operations) {
    const support = session.supports(operation);
    if (!support.supported) return support.reason;
  }
  const executable = await session.compile(graph, { preference: 1, priority: 1 });
  const bytes = new Uint8Array(product.outputs);
  const result = await executable.run(product.inputs, [{ bytes, dimensions: [] }], context);
  executable.close();
  if (result.status !== ErrorStatus.NONE) throw new Error(`${product.name}: ${result.message}`);
  return bytes.slice(0, elementCount(elementAt(result.outputShapes, 0).dimensions));
}

/** The outcome of a comparison. */
export interface Comparison {
  readonly compared: number;
  readonly refused: number;
  /** Elements that differ from the reference by one step, which rounding in float32 explains, and all elements. */
  readonly steps: number;
  readonly elements: number;
  /** Operations with an element that differs by more. */
  readonly wrong: readonly string[];
}

/** Compares random products on a session with the reference. */
export async function compareExtremeProducts(
  session: BackendSession,
  { seed, count }: { readonly seed: number; readonly count: number },
): Promise<Comparison> {
  const reference = await referenceBackend.open();
  if ("unavailable" in reference) throw new Error(reference.unavailable);
  const random = randomFrom(seed);
  const wrong: string[] = [];
  let [compared, refused, steps, elements] = [0, 0, 0, 0];
  for (let drawn = 0; drawn < count; drawn++) {
    const product = drawExtremeProduct(random);
    const actual = await computeOn(session, product);
    if (typeof actual === "string") {
      refused++;
      continue;
    }
    const expected = await computeOn(reference, product);
    if (typeof expected === "string") throw new Error(expected);
    compared++;
    elements += expected.length;
    const isSigned = product.name.includes("ASYMM_SIGNED");
    const numberOf = (byte: number | undefined) => (isSigned ? ((byte ?? 0) << 24) >> 24 : (byte ?? 0));
    let most = 0;
    for (let at = 0; at < expected.length; at++) {
      const distance = Math.abs(numberOf(actual[at]) - numberOf(expected[at]));
      if (distance === 1) steps++;
      most = Math.max(most, distance);
    }
    if (most > 1) wrong.push(`number ${drawn} of seed ${seed}, ${product.name}: off by ${most}`);
  }
  return { compared, refused, steps, elements, wrong };
}
