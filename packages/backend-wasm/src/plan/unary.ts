/** Operations on each element of one tensor. */
import type { KernelTensor } from "@nnhal/backend";
import {
  activationRange,
  elementCount,
  integerRange,
  isFloat,
  quantisedActivationRange,
  type TensorInfo,
} from "@nnhal/operations";
import { FusedActivationFunc } from "@nnhal/types";
import { elementOf } from "./arithmetic.ts";
import { addElementwise, type Builder, outputOf, type Value } from "./builder.ts";
import { fixedProduct, limit } from "./elements.ts";
import { convert, type Expression, element, makeInteger, on, real, roundedAway, select, within } from "./expression.ts";
import { calc, convertFormula } from "./formula.ts";
import { hyperbolicTangent, logistic } from "./functions.ts";
import { expectReal, isQuant8, type LoweringTable } from "./lowering.ts";
import { tableOf } from "./reference.ts";
import { refuse } from "./refusal.ts";
import { addTable } from "./table.ts";
import { addForEach, spreadTo } from "./transcendental.ts";

interface One {
  readonly input: KernelTensor;
}

interface Result {
  readonly output: TensorInfo;
}

/** Adds an elementwise step over one tensor. */
function each(
  builder: Builder,
  name: string,
  { input }: One,
  { output }: Result,
  value: Expression,
  work?: number,
): Value {
  const target = outputOf(builder, output);
  addElementwise(builder, name, [builder.read(input)], target, value, work);
  return target;
}

/** The function of 8-bit elements that the reference has. */
function byTable(builder: Builder, name: string, { input }: One, { output }: Result): Value {
  const target = outputOf(builder, output);
  addTable(builder, name, builder.read(input), target, tableOf(builder.definition(), input, output));
  return target;
}

function ofReals(name: string, float: (x: Expression) => Expression, work = 4) {
  return (args: One, outputs: Result, builder: Builder): Value => {
    expectReal(args.input);
    if (isQuant8(args.input)) return byTable(builder, name, args, outputs);
    return each(builder, name, args, outputs, float(element(0, "f32")), work);
  };
}

function rectifier(name: "RELU" | "RELU1" | "RELU6") {
  return (args: One, outputs: Result, builder: Builder): Value => {
    expectReal(args.input);
    const bounds = activationRange(FusedActivationFunc[name]);
    if (!isQuant8(args.input)) return each(builder, name, args, outputs, within(element(0, "f32"), ...bounds));
    const steps = quantisedActivationRange(FusedActivationFunc[name], args.input);
    return each(builder, name, args, outputs, within(element(0, "i32"), ...steps));
  };
}

/** Functions of floats, and of integers of 32 bits where `integers` says so. */
function ofFloats(name: string, float: (x: Expression) => Expression, integers = false, work = 4) {
  return (args: One, outputs: Result, builder: Builder): Value => {
    const { type } = args.input;
    const isAllowed = type === "TENSOR_FLOAT32" || (integers && type === "TENSOR_INT32");
    if (!isAllowed) refuse(`${String(type)} is not available`);
    return each(builder, name, args, outputs, float(elementOf(0, args.input)), work);
  };
}

/** Fixed point, as the reference: a product of elements has at most 17 bits. */
function addQuantisedPrelu(builder: Builder, input: KernelTensor, alpha: KernelTensor, output: TensorInfo): Value {
  const target = outputOf(builder, output);
  const [sources, slopes] = [input, alpha].map((tensor) => spreadTo(builder, builder.read(tensor), output.dimensions));
  if (sources === undefined || slopes === undefined) throw new TypeError("an operand has no value");
  const [least, greatest] = integerRange(output.type);
  const positive = Math.fround(input.scale / output.scale);
  const negative = Math.fround(input.scale * alpha.scale) / output.scale;
  addForEach(builder, "PRELU", elementCount(output.dimensions), 24, (routine) => {
    const [values, factors, results] = [routine.read(sources), routine.read(slopes), routine.write(target)];
    return (index) => {
      const value = routine.local(convertFormula("toReal", calc("sub", values.at(index), input.zeroPoint)));
      const steps = routine.local(fixedProduct(routine, value, positive));
      routine.when(calc("lt", value, 0), () => {
        const factor = convertFormula("toReal", calc("sub", factors.at(index), alpha.zeroPoint));
        const product = routine.local(calc("mul", value, factor));
        routine.set(steps, fixedProduct(routine, product, negative));
      });
      routine.store(results, index, limit(calc("add", steps, output.zeroPoint), least, greatest));
    };
  });
  return target;
}

/** The lowerings. */
export const unary: LoweringTable = {
  RELU: rectifier("RELU"),
  RELU1: rectifier("RELU1"),
  RELU6: rectifier("RELU6"),
  LOGISTIC: ofReals("LOGISTIC", logistic, 16),
  TANH: ofReals("TANH", hyperbolicTangent, 24),
  HARD_SWISH: ofReals("HARD_SWISH", (x) => on("div", on("mul", x, within(on("add", x, real(3)), 0, 6)), real(6))),
  ABS: ofFloats("ABS", (x) => on("abs", x), true),
  NEG: ofFloats("NEG", (x) => on("neg", x), true),
  SQRT: ofFloats("SQRT", (x) => on("sqrt", x)),
  RSQRT: ofReals("RSQRT", (x) => on("div", real(1), on("sqrt", x))),
  FLOOR: ofFloats("FLOOR", (x) => on("floor", x)),
  LOGICAL_NOT(args, outputs, builder) {
    return each(
      builder,
      "LOGICAL_NOT",
      args,
      outputs,
      on("and", on("eq", element(0, "i32"), makeInteger(0)), makeInteger(1)),
    );
  },
  QUANTIZE(args, outputs, builder) {
    const { scale, zeroPoint, type } = outputs.output;
    if (!isFloat(args.input.type) || args.input.type !== "TENSOR_FLOAT32")
      refuse(`${String(args.input.type)} is not available`);
    const [least, greatest] = integerRange(type);
    const x = element(0, "f32");
    const steps = within(roundedAway(on("div", x, real(scale))), least - zeroPoint, greatest - zeroPoint);
    const value = on("add", convert("toInteger", steps), makeInteger(zeroPoint));
    // NaN becomes 0, as when it is stored in an array of integers.
    return each(builder, "QUANTIZE", args, outputs, select(on("eq", x, x), value, makeInteger(0)));
  },
  DEQUANTIZE(args, outputs, builder) {
    const { input } = args;
    if (outputs.output.type !== "TENSOR_FLOAT32") refuse(`${String(outputs.output.type)} is not available`);
    const { channelQuant, dimensions, zeroPoint } = input;
    const steps = convert("toFloat", on("sub", element(0, "i32"), makeInteger(zeroPoint)));
    if (channelQuant === undefined)
      return each(builder, "DEQUANTIZE", args, outputs, on("mul", steps, real(input.scale)));
    const { channelDim, scales } = channelQuant;
    if (scales.length !== dimensions[channelDim])
      refuse(`there are ${scales.length} scales for ${dimensions[channelDim]} channels`);
    const shape = dimensions.map((extent, axis) => (axis === channelDim ? extent : 1));
    const list: Value = { region: builder.constant(Float32Array.from(scales)), type: "f32", dimensions: shape };
    const target = outputOf(builder, outputs.output);
    addElementwise(builder, "DEQUANTIZE", [builder.read(input), list], target, on("mul", steps, element(1, "f32")));
    return target;
  },
  PRELU({ input, alpha }, { output }, builder) {
    expectReal(input);
    if (isQuant8(input)) return addQuantisedPrelu(builder, input, alpha, output);
    const x = element(0, "f32");
    const value = select(on("lt", x, real(0)), on("mul", x, element(1, "f32")), x);
    const target = outputOf(builder, output);
    addElementwise(builder, "PRELU", [builder.read(input), builder.read(alpha)], target, value);
    return target;
  },
};
