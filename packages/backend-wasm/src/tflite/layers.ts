/**
 * Layers for the types of .tflite: elements of 16 bits with weights of 8, hybrid layers of floats with weights of 8 bits, no bias; products of stacks of matrices.
 */
import type { KernelTensor } from "@nnhal/backend";
import { activationRange, elementCount, isFloat, quantisedActivationRange, type TensorInfo } from "@nnhal/operations";
import { quantiseMultiplier } from "@nnhal/operations/compiling";
import { addElementwise, type Builder, outputOf, type Value } from "../plan/builder.ts";
import { addConnected, addConvolution, addDepthwise, type Layer } from "../plan/convolution.ts";
import { expectFewMatrices } from "../plan/deferred.ts";
import { awayFromZero, limit } from "../plan/elements.ts";
import { accumulator, channel, convert, element, makeInteger, on, within } from "../plan/expression.ts";
import { calc, choose, convertFormula, type Formula, realNumber } from "../plan/formula.ts";
import { fillTile, fillTileOfIntegers } from "../plan/lowering.ts";
import { addProducts, floatSums, type Matrices, wholeSums } from "../plan/matrices.ts";
import { refuse } from "../plan/refusal.ts";
import { addRoutine } from "../plan/routine.ts";
import { addTransposed } from "../plan/transposed.ts";
import { boundSums, type Sums } from "../plan/weighted.ts";
import { valueAsTensor } from "../plan/windows.ts";
import { numbersOf, type Result, type Table } from "./operands.ts";

const zeros = (count: number) => new Array<number>(count).fill(0);

function scalesOf({ scale, channelQuant }: TensorInfo, channels: number): readonly number[] {
  return channelQuant?.scales ?? new Array<number>(channels).fill(scale);
}

/** Whole factors of 2^-31 for sums of each channel: the upper 16 bits of a multiplier, with one rounding, as .tflite scales sums of 64 bits. */
function factorsOf(input: TensorInfo, scales: readonly number[], output: TensorInfo): number[] {
  return scales.map((scale) => {
    const { mantissa, shift } = quantiseMultiplier((input.scale * scale) / output.scale);
    const bits = 15 - shift;
    if (bits < 15 || bits > 31) refuse(`a factor of ${(input.scale * scale) / output.scale} is not available`);
    return Math.min((mantissa + 2 ** 15) >>> 16, 0x7fff) * 2 ** (31 - bits);
  });
}

/** Sums of products of elements of 16 bits and weights of 8. */
function wideSums(bias: KernelTensor | undefined): Sums {
  return (builder, { input, weights, output, activation }) => {
    const { filter, columns } = weights;
    const numbers = bias === undefined ? zeros(columns) : numbersOf("the bias", bias);
    boundSums(input, numbers, weights);
    const factors = factorsOf(input, scalesOf(filter, columns), output);
    const steps = on("highMul", accumulator("i32"), channel(builder.constant(fillTileOfIntegers(factors)), "i32"));
    const [least, greatest] = quantisedActivationRange(activation, output);
    const value = within(on("add", steps, makeInteger(output.zeroPoint)), least, greatest);
    return { bias: builder.constant(fillTileOfIntegers([...numbers])), value };
  };
}

/** True if a layer of elements of 16 bits has a bias of 32 bits: its sums are scaled by real numbers. */
const isExact = ({ input, bias }: Pick<Layer<"CONV_2D">, "input" | "bias">) =>
  input.type === "TENSOR_QUANT16_SYMM" && bias?.type === "TENSOR_INT32";

/** A layer of elements of 16 bits whose bias has 32. `sum` adds the layer of integers. The channels are the axis `channelAxis` of the result. */
function addExact(
  builder: Builder,
  name: string,
  { input, filter, bias, activation }: Pick<Layer<"CONV_2D">, "input" | "filter" | "bias" | "activation">,
  output: TensorInfo,
  channelAxis: number,
  sum: (output: TensorInfo, sums: Sums) => Value,
): Value {
  const sums = sum({ ...output, type: "TENSOR_INT32" }, (inner, { weights }) => {
    const numbers = bias === undefined ? zeros(weights.columns) : numbersOf("the bias", bias);
    boundSums(input, numbers, weights);
    return { bias: inner.constant(fillTileOfIntegers([...numbers])), value: accumulator("i32") };
  });
  const channels = output.dimensions[channelAxis] ?? 1;
  const each = elementCount(output.dimensions.slice(channelAxis + 1));
  const scales = scalesOf(filter, channels).map((scale) => (input.scale * scale) / output.scale);
  const list = { region: builder.constant(new Int32Array(Float64Array.from(scales).buffer)), type: "f64" } as const;
  const target = outputOf(builder, output);
  const [least, greatest] = quantisedActivationRange(activation, output);
  const size = channels * each;
  addRoutine(builder, name, elementCount(output.dimensions) / size, 16 * size, (routine) => {
    const [from, multipliers, to] = [routine.read(sums), routine.read(list), routine.write(target)];
    const first = routine.local(calc("mul", routine.unit, size));
    routine.each(0, size, (place) => {
      const at = routine.local(calc("add", first, place));
      const steps = routine.local(
        calc("mul", convertFormula("toReal", from.at(at)), multipliers.at(calc("div", place, each))),
      );
      const whole = calc("add", routine.local(awayFromZero(steps)), output.zeroPoint);
      routine.store(to, at, limit(whole, least, greatest));
    });
  });
  return target;
}

/** Rows of floats as integers, each by its own least and greatest number, and the scales: see the extension's hybrid layers. */
function addQuantisedRows(builder: Builder, source: Value, rows: number, isAsymmetric: boolean) {
  const size = elementCount(source.dimensions) / rows;
  const [values, scales] = [builder.value("i16", source.dimensions), builder.value("f32", [rows])];
  addRoutine(builder, "quantise", rows, 12 * size, (routine) => {
    const [numbers, integers, list] = [routine.read(source), routine.write(values), routine.write(scales)];
    const first = routine.local(calc("mul", routine.unit, size));
    const least = routine.local(realNumber(Number.POSITIVE_INFINITY));
    const greatest = routine.local(realNumber(Number.NEGATIVE_INFINITY));
    routine.each(0, size, (index) => {
      const value = routine.local(numbers.at(calc("add", first, index)));
      routine.when(calc("lt", value, least), () => routine.set(least, value));
      routine.when(calc("gt", value, greatest), () => routine.set(greatest, value));
    });
    const single = (value: Formula) => convertFormula("toSingle", value);
    const scale = routine.local(realNumber(1));
    const inverse = routine.local(realNumber(1));
    const zeroPoint = routine.local(realNumber(0));
    if (isAsymmetric) {
      const bottom = routine.local(choose(calc("lt", least, 0), least, realNumber(0)));
      const top = routine.local(choose(calc("gt", greatest, 0), greatest, realNumber(0)));
      routine.when(calc("lt", bottom, top), () => {
        const step = routine.local(calc("div", calc("sub", top, bottom), 255));
        const below = routine.local(calc("div", bottom, step));
        const above = routine.local(calc("div", top, step));
        // Of the two ends the one nearer to a whole step determines the zero point.
        const isBottomNearer = calc("lt", calc("sub", realNumber(128), below), calc("add", realNumber(127), above));
        const point = routine.local(
          choose(isBottomNearer, calc("sub", realNumber(-128), below), calc("sub", realNumber(127), above)),
        );
        routine.set(zeroPoint, limit(routine.local(awayFromZero(point)), -128, 127));
        routine.set(scale, single(step));
        routine.set(inverse, single(calc("div", realNumber(1), scale)));
      });
    } else {
      const range = routine.local(calc("max", calc("abs", least), calc("abs", greatest)));
      routine.when(calc("gt", range, 0), () => {
        routine.set(scale, single(calc("div", range, 127)));
        routine.set(inverse, single(calc("div", realNumber(127), range)));
      });
    }
    routine.each(0, size, (index) => {
      const at = routine.local(calc("add", first, index));
      const scaled = single(calc("mul", numbers.at(at), inverse));
      const step = routine.local(awayFromZero(routine.local(single(calc("add", zeroPoint, scaled)))));
      routine.store(integers, at, calc("sub", limit(step, isAsymmetric ? -128 : -127, 127), zeroPoint));
    });
    routine.store(list, routine.unit, scale);
  });
  return { values, scales };
}

/** Weights of a hybrid layer: signed bytes without a zero point, whatever their type says. */
function hybridWeights(filter: KernelTensor): KernelTensor {
  const { data } = filter;
  const signed = { ...filter, type: "TENSOR_QUANT8_ASYMM_SIGNED", zeroPoint: 0 } as const;
  if (!(data instanceof Uint8Array))
    return filter.type === "TENSOR_QUANT8_ASYMM" ? refuse("the weights are not constant") : signed;
  return { ...signed, data: new Int8Array(data.buffer, data.byteOffset, data.length) };
}

/** Parts of a hybrid layer. */
interface Hybrid {
  readonly input: KernelTensor;
  readonly filter: KernelTensor;
  readonly bias: KernelTensor | undefined;
  readonly activation: number;
  /** Parts of the input that are quantised each by itself. */
  readonly rows: number;
  readonly isAsymmetric: boolean;
  /** The shape of the result in which the first axis is the rows, and the place of the axis of channels. */
  readonly shape: readonly number[];
  readonly channelAxis: number;
}

/** A layer of floats with weights of 8 bits. `sum` adds the layer of integers. */
function addHybrid(
  builder: Builder,
  name: string,
  { input, filter, bias, activation, rows, isAsymmetric, shape, channelAxis }: Hybrid,
  output: TensorInfo,
  sum: (input: KernelTensor, filter: KernelTensor, output: TensorInfo, sums: Sums) => Value,
): Value {
  const { values, scales } = addQuantisedRows(builder, builder.read(input), rows, isAsymmetric);
  const integers = valueAsTensor(builder, { ...input, type: "TENSOR_QUANT16_SYMM", scale: 1, zeroPoint: 0 }, values);
  const sums = sum(integers, hybridWeights(filter), { ...output, type: "TENSOR_INT32" }, wholeSums);
  const [channels = 1] = filter.dimensions;
  const ofRows = shape.map((extent, axis) => (axis === 0 ? extent : 1));
  const ofChannels = shape.map((extent, axis) => (axis === channelAxis ? extent : 1));
  const list: Value = {
    region: builder.constant(fillTile([...scalesOf(filter, channels)])),
    type: "f32",
    dimensions: ofChannels,
  };
  const target = outputOf(builder, output);
  const units = on("mul", on("mul", convert("toFloat", element(0, "i32")), element(1, "f32")), element(2, "f32"));
  const value = bias === undefined ? units : on("add", units, element(3, "f32"));
  addElementwise(
    builder,
    name,
    [
      { ...sums, dimensions: shape },
      { ...scales, dimensions: ofRows },
      list,
      ...(bias === undefined ? [] : [{ ...builder.read(bias), dimensions: ofChannels }]),
    ],
    { ...target, dimensions: shape },
    within(value, ...activationRange(activation)),
  );
  return target;
}

const isHybrid = (input: TensorInfo, filter: TensorInfo) => isFloat(input.type) && !isFloat(filter.type);

/** The use of sums of a layer that is not hybrid. */
function sumsOf({ input, bias }: Pick<Layer<"CONV_2D">, "input" | "bias">): { readonly sums?: Sums } {
  if (input.type === "TENSOR_QUANT16_SYMM") return { sums: wideSums(bias) };
  if (!isFloat(input.type)) return refuse("elements of 8 bits with these scales are not available");
  return bias === undefined ? { sums: floatSums } : {};
}

/** The lowerings. */
export const layers: Table = {
  CONV_2D(args: Layer<"CONV_2D">, outputs: Result, builder): Value {
    const { input, filter, bias, activation, nchw } = args;
    const [, , , depth = 1] = filter.dimensions;
    const [batches = 1] = input.dimensions;
    const shape = outputs.output.dimensions;
    if (input.dimensions[nchw ? 1 : 3] !== depth) refuse("groups of filters are not available");
    if (isExact(args))
      return addExact(builder, "CONV_2D", args, outputs.output, nchw ? 1 : 3, (output, sums) =>
        addConvolution({ ...args, activation: 0, sums }, { output }, builder),
      );
    if (!isHybrid(input, filter)) return addConvolution({ ...args, ...sumsOf(args) }, outputs, builder);
    const isAsymmetric = new Set(filter.channelQuant?.scales).size > 1;
    const hybrid = { input, filter, bias, activation, rows: batches, isAsymmetric, shape, channelAxis: nchw ? 1 : 3 };
    return addHybrid(builder, "CONV_2D", hybrid, outputs.output, (integers, weights, output, sums) =>
      addConvolution({ ...args, input: integers, filter: weights, activation: 0, sums }, { output }, builder),
    );
  },
  DEPTHWISE_CONV_2D(args: Layer<"DEPTHWISE_CONV_2D">, outputs: Result, builder): Value {
    if (isHybrid(args.input, args.filter)) refuse("a hybrid layer is not available");
    if (isExact(args))
      return addExact(builder, "DEPTHWISE_CONV_2D", args, outputs.output, args.nchw ? 1 : 3, (output, sums) =>
        addDepthwise({ ...args, activation: 0, sums }, { output }, builder),
      );
    return addDepthwise({ ...args, ...sumsOf(args) }, outputs, builder);
  },
  TRANSPOSE_CONV_2D(args: Layer<"TRANSPOSE_CONV_2D">, outputs: Result, builder): Value {
    if (Math.min(args.paddingTop, args.paddingLeft) < 0) refuse("a padding below 0 is not available");
    if (isExact(args))
      return addExact(builder, "TRANSPOSE_CONV_2D", args, outputs.output, args.nchw ? 1 : 3, (output, sums) =>
        addTransposed({ ...args, activation: 0, sums }, { output }, builder),
      );
    return addTransposed({ ...args, ...sumsOf(args) }, outputs, builder);
  },
  FULLY_CONNECTED({ asymmetricQuantizeInputs, blockScales, ...args }, outputs: Result, builder): Value {
    const { input, weights: filter, bias, activation }: Layer<"FULLY_CONNECTED"> = args;
    if (blockScales !== undefined) refuse("weights in blocks are not available");
    if (isExact(args))
      return addExact(
        builder,
        "FULLY_CONNECTED",
        { ...args, filter },
        outputs.output,
        outputs.output.dimensions.length - 1,
        (output, sums) => addConnected({ ...args, activation: 0, sums }, { output }, builder),
      );
    if (!isHybrid(input, filter)) return addConnected({ ...args, ...sumsOf(args) }, outputs, builder);
    const [units = 1, size = 1] = filter.dimensions;
    const rows = elementCount(input.dimensions) / size;
    const shape = [rows, units];
    const isAsymmetric = asymmetricQuantizeInputs;
    const hybrid = { input, filter, bias, activation, rows, isAsymmetric, shape, channelAxis: 1 };
    return addHybrid(builder, "FULLY_CONNECTED", hybrid, outputs.output, (integers, weights, output, sums) =>
      addConnected({ input: integers, weights, bias, activation: 0, sums }, { output }, builder),
    );
  },
  BATCH_MATMUL(args: Matrices, { output }: Result, builder): Value {
    const { x, y } = args;
    const isWide = x.type === "TENSOR_QUANT16_SYMM" && y.type !== x.type && output.type === x.type;
    if (!isWide && !(isFloat(x.type) && isFloat(y.type))) refuse("matrices of these types are not available");
    expectFewMatrices(output);
    return addProducts(builder, args, output, outputOf(builder, output), isWide ? wideSums(undefined) : floatSums);
  },
};
