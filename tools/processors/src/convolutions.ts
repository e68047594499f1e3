/**
 * Random convolutions at their limits: activations, weights and zero points at the ends of their types, so that sums of products are as
 * large as they can be. The reference computes the expected results on the host, where it is fast. Many convolutions are one model.
 */
import { referenceBackend } from "@nnhal/backend-reference";
import { modelRunner } from "@nnhal/conformance";
import { openDevice } from "@nnhal/driver-core/device";
import { elementAt } from "@nnhal/operations";
import { type Model, type Operand, OperandLifeTime, OperandType, type Operation, OperationType } from "@nnhal/types";

/** Convolutions that are one model, each with an output of its own. */
export interface Pack {
  readonly model: Model;
  readonly inputs: readonly Uint8Array[];
  readonly expected: readonly Uint8Array[];
  /** What each convolution is, for messages. */
  readonly names: readonly string[];
}

/** Convolutions of a pack. */
const packed = 50;

/** Draws `count` convolutions, a whole number above 0, in packs. The same numbers give the same packs. */
export async function drawConvolutions(count: number, seed = 1): Promise<readonly Pack[]> {
  const device = await openDevice({ backend: referenceBackend });
  if ("unavailable" in device) throw new Error(device.unavailable);
  const random = createRandom(seed);
  const packs: Pack[] = [];
  for (let left = count; left > 0; left -= packed) {
    const drawn = drawPack(Math.min(left, packed), random);
    const run = await modelRunner(drawn.model, [device]);
    packs.push({ ...drawn, expected: await run(drawn.inputs) });
  }
  return packs;
}

/** Whole numbers within [least, greatest]. */
type Random = (least: number, greatest: number) => number;

/** A stream of numbers by the constants of Numerical Recipes; the high bits are used. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return (least, greatest) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return least + Math.floor((state / 2 ** 32) * (greatest - least + 1));
  };
}

type Drawn = Omit<Pack, "expected">;

function drawPack(count: number, random: Random): Drawn {
  const maker = createMaker();
  for (let each = 0; each < count; each++) drawConvolution(maker, random);
  return maker.finish();
}

const operations = ["CONV_2D", "DEPTHWISE_CONV_2D", "GROUPED_CONV_2D", "FULLY_CONNECTED"] as const;

/** The types of activations, and of weights that the HAL has with them. */
const forms = [
  ["TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM"],
  ["TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_SYMM_PER_CHANNEL"],
  ["TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT8_ASYMM_SIGNED"],
  ["TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT8_SYMM_PER_CHANNEL"],
] as const;

type Type = (typeof forms)[number][number];

const rangeOf = (type: Type) => (type === "TENSOR_QUANT8_ASYMM" ? ([0, 255] as const) : ([-128, 127] as const));

function drawConvolution(maker: Maker, random: Random): void {
  const pick = <T>(list: readonly T[]): T => elementAt(list, random(0, list.length - 1));
  const name = pick(operations);
  // A FULLY_CONNECTED has one scale for all channels.
  const [type, weightType] = name === "FULLY_CONNECTED" ? pick([forms[0], forms[2]]) : pick(forms);
  const isDepthwise = name === "DEPTHWISE_CONV_2D";
  const isFlat = name === "FULLY_CONNECTED";
  const groups = name === "GROUPED_CONV_2D" ? random(2, 3) : 1;
  const channels = groups * pick([1, 2, 3, 4, 7, 8, 16, 17, 32, 64]);
  const multiplier = isDepthwise ? random(1, 2) : 1;
  const made = isDepthwise ? channels * multiplier : groups * pick([1, 2, 4, 5, 8, 16]);
  const [kernel, height, width, stride] = [pick([1, 1, 2, 3]), random(1, 4), random(1, 4), random(1, 2)];
  const isSame = height < kernel || width < kernel || random(0, 1) === 0;
  const outExtent = (extent: number) => Math.ceil((isSame ? extent : extent - kernel + 1) / stride);
  const rows = pick([1, 2, 5, 8]);
  const terms = isFlat ? channels : (kernel * kernel * (isDepthwise ? 1 : channels)) / groups;

  const zeroOf = (of: Type) => {
    const [least, greatest] = rangeOf(of);
    if (of === "TENSOR_QUANT8_SYMM_PER_CHANNEL") return 0;
    return pick([least, greatest, least + 128, random(least, greatest)]);
  };
  const [inputZero, weightZero] = [zeroOf(type), zeroOf(weightType)];
  // Products of a scale around 1 and of the greatest sum fill the range of the output.
  const [inputScale, weightScale] = [2 ** -random(4, 8), 2 ** -random(4, 8)];
  const scale = Math.fround((inputScale * weightScale * terms * 255 * 127) / 127 / pick([1, 2, 4]));
  const fill = (of: Type, count: number) => {
    const [least, greatest] = rangeOf(of);
    const kind = random(0, 3);
    return Uint8Array.from({ length: count }, () => {
      if (kind === 0) return greatest;
      if (kind === 1) return least;
      return kind === 2 ? pick([least, greatest]) : random(least, greatest);
    });
  };

  const inputDims = isFlat ? [rows, channels] : [1, height, width, channels];
  const input = maker.input(type, inputDims, inputScale, inputZero, fill(type, sizeOf(inputDims)));
  const weightDims = isFlat
    ? [made, channels]
    : isDepthwise
      ? [1, kernel, kernel, made]
      : [made, kernel, kernel, channels / groups];
  const isPerChannel = weightType === "TENSOR_QUANT8_SYMM_PER_CHANNEL";
  const weights = maker.constant(
    weightType,
    weightDims,
    fill(weightType, sizeOf(weightDims)),
    isPerChannel
      ? {
          extraParams: {
            kind: "channelQuant",
            channelQuant: { scales: new Array(made).fill(weightScale), channelDim: isDepthwise ? 3 : 0 },
          },
        }
      : { scale: weightScale, zeroPoint: weightZero },
  );
  const limit = pick([0, 1000, terms * 255 * 127]);
  const sums = Int32Array.from({ length: made }, () => random(-limit, limit));
  const bias = maker.constant("TENSOR_INT32", [made], new Uint8Array(sums.buffer), {
    scale: isPerChannel ? 0 : inputScale * weightScale,
  });
  const scalar = (value: number) => maker.constant("INT32", [], new Uint8Array(Int32Array.of(value).buffer));
  const window = () => [scalar(isSame ? 1 : 2), scalar(stride), scalar(stride)];
  const activation = scalar(pick([0, 0, 1, 3]));
  const rest = {
    CONV_2D: () => [...window(), activation],
    DEPTHWISE_CONV_2D: () => [...window(), scalar(multiplier), activation],
    GROUPED_CONV_2D: () => [...window(), scalar(groups), activation, maker.constant("BOOL", [], Uint8Array.of(0))],
    FULLY_CONNECTED: () => [activation],
  }[name]();
  const outputDims = isFlat ? [rows, made] : [1, outExtent(height), outExtent(width), made];
  const output = maker.output(type, outputDims, scale, zeroOf(type));
  const kinds = `${shortName(type)} x ${shortName(weightType)}`;
  const shape = isFlat ? `${rows} rows` : `${height}x${width}, window ${kernel}, stride ${stride}`;
  maker.operation(name, [input, weights, bias, ...rest], output, `${name} ${kinds}, ${channels} to ${made}, ${shape}`);
}

function shortName(type: Type): string {
  return { TENSOR_QUANT8_ASYMM: "u8", TENSOR_QUANT8_ASYMM_SIGNED: "s8", TENSOR_QUANT8_SYMM_PER_CHANNEL: "s8 per channel" }[
    type
  ];
}

const sizeOf = (dims: readonly number[]) => dims.reduce((product, extent) => product * extent, 1);

/** Puts operations beside each other into one model. */
interface Maker {
  input(type: Type, dims: readonly number[], scale: number, zeroPoint: number, bytes: Uint8Array): number;
  constant(type: keyof typeof OperandType, dims: readonly number[], bytes: Uint8Array, facts?: Partial<Operand>): number;
  output(type: Type, dims: readonly number[], scale: number, zeroPoint: number): number;
  operation(type: keyof typeof OperationType, inputs: readonly number[], output: number, name: string): void;
  finish(): Drawn;
}

function createMaker(): Maker {
  const operands: Operand[] = [];
  const made: Operation[] = [];
  const inputs: Uint8Array[] = [];
  const names: string[] = [];
  const indexes = { inputs: [] as number[], outputs: [] as number[] };
  const values: number[] = [];
  const add = (type: keyof typeof OperandType, dims: readonly number[], facts: Partial<Operand>): number =>
    operands.push({
      type: OperandType[type],
      dimensions: dims,
      numberOfConsumers: 1,
      scale: 0,
      zeroPoint: 0,
      lifetime: OperandLifeTime.CONSTANT_COPY,
      location: { poolIndex: 0, offset: 0, length: 0 },
      extraParams: { kind: "none" },
      ...facts,
    }) - 1;
  return {
    input(type, dims, scale, zeroPoint, bytes) {
      const index = add(type, dims, { scale, zeroPoint, lifetime: OperandLifeTime.SUBGRAPH_INPUT });
      indexes.inputs.push(index);
      inputs.push(bytes);
      return index;
    },
    constant(type, dims, bytes, facts = {}) {
      const location = { poolIndex: 0, offset: values.length, length: bytes.length };
      values.push(...bytes);
      while (values.length % 4 > 0) values.push(0);
      return add(type, dims, { location, ...facts });
    },
    output(type, dims, scale, zeroPoint) {
      const lifetime = OperandLifeTime.SUBGRAPH_OUTPUT;
      const index = add(type, dims, { scale, zeroPoint, lifetime, numberOfConsumers: 0 });
      indexes.outputs.push(index);
      return index;
    },
    operation(type, operandsIn, output, name) {
      made.push({ type: OperationType[type], inputs: operandsIn, outputs: [output] });
      names.push(name);
    },
    finish: () => ({
      model: {
        main: { operands, operations: made, inputIndexes: indexes.inputs, outputIndexes: indexes.outputs },
        referenced: [],
        operandValues: Uint8Array.from(values),
        pools: [],
        relaxComputationFloat32toFloat16: false,
        extensionNameToPrefix: [],
      },
      inputs,
      names,
    }),
  };
}
