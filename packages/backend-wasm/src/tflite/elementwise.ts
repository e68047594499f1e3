/**
 * Operators on each element. Of quantised elements each is computed as the kernels of the extension do, in floats of 64 bits; functions of one element of
 * at most 16 bits are tables that these kernels compute.
 */
import type { KernelTensor } from "@nnhal/backend";
import {
  type AnyArgs,
  type AnyOutputs,
  activationRange,
  createData,
  elementCount,
  integerRange,
  isExtensionType,
  isFloat,
  type KernelContext,
  quantisedActivationRange,
  runToEnd,
  type Tensor,
  type TensorInfo,
  typeText,
} from "@nnhal/operations";
import { FusedActivationFunc } from "@nnhal/types";
import { elementOf } from "../plan/arithmetic.ts";
import {
  addElementwise,
  type Builder,
  type ConstantData,
  layoutOf,
  outputOf,
  type PlannedOperation,
  type Value,
} from "../plan/builder.ts";
import { realElement, storeReal } from "../plan/elements.ts";
import {
  convert,
  type Expression,
  element,
  makeInteger,
  on,
  real,
  select,
  shiftBits,
  within,
} from "../plan/expression.ts";
import { calc, convertFormula, type Formula, realNumber } from "../plan/formula.ts";
import { around } from "../plan/lowering.ts";
import { halLowerings } from "../plan/lowerings.ts";
import { type ElementType, elementBytes } from "../plan/plan.ts";
import { exponentialOf, powersOfTwo } from "../plan/real-functions.ts";
import { refuse } from "../plan/refusal.ts";
import { addRoutine } from "../plan/routine.ts";
import { addForEach, addSine, spreadTo } from "../plan/transcendental.ts";
import { expectPlain, type One, type Result, type Table, type Two } from "./operands.ts";

/** Returns true if elements have a scale and a zero point. */
function isQuantised({ type }: TensorInfo): boolean {
  return typeof type === "string" && type.startsWith("TENSOR_QUANT");
}

/** Returns true if elements are their own real values: no quantised type, or one without quantisation. */
function isPlain(info: TensorInfo): boolean {
  return !isQuantised(info) || (info.scale === 1 && info.zeroPoint === 0);
}

/** The lowering of the HAL's operation of this name. */
function byHal(name: string, args: AnyArgs, outputs: AnyArgs, builder: Builder): Value {
  const lowering = halLowerings({ name });
  if (lowering === undefined) return refuse(`floats are not available for ${name}`);
  // Those here have one result.
  return lowering(args, outputs, builder) as Value;
}

/** For each value of an element of at most 16 bits, by its bits, the element of the output, by the kernel of an operator with one tensor. */
function tableOf(
  { reference, name }: PlannedOperation,
  input: TensorInfo,
  output: TensorInfo,
  args: AnyArgs,
  bits: number,
): ConstantData {
  if (reference === undefined) throw new TypeError(`${name} has no reference kernel`);
  const count = 2 ** bits;
  const data = createData(input.type, count);
  for (let place = 0; place < count; place++) data[place] = place;
  const result = { ...output, dimensions: [count], data: createData(output.type, count) };
  const record: AnyOutputs = { output: result };
  const tensor: Tensor = { ...input, dimensions: [count], data };
  const context: KernelContext = { random: () => 0 };
  runToEnd(reference({ ...args, input: tensor }, record, context));
  return result.data as ConstantData;
}

/** The bits of elements as a whole number from 0 on. */
const unsigned: Readonly<Partial<Record<ElementType, ElementType>>> = { i8: "u8", i16: "u16", u8: "u8", u16: "u16" };

/** Looks each element of at most 16 bits up in a table of the kernel's results. */
function byTable(name: string, { input, ...args }: One & AnyArgs, { output }: Result, builder: Builder): Value {
  const source = builder.read(input);
  const index = unsigned[source.type];
  if (index === undefined) return refuse(`${typeText(input.type)} is not available`);
  const target = outputOf(builder, output);
  const definition = builder.definition();
  const table: Value = {
    region: builder.constant(() => tableOf(definition, input, output, args, 8 * elementBytes[index])),
    type: target.type,
    dimensions: [2 ** (8 * elementBytes[index])],
  };
  addForEach(builder, name, elementCount(output.dimensions), 4, (routine) => {
    const [places, results, to] = [
      routine.read({ ...source, type: index }),
      routine.read(table),
      routine.write(target),
    ];
    return (at) => routine.store(to, at, results.at(places.at(at)));
  });
  return target;
}

/** A function of one element: of floats that of the HAL's operation, or an expression; of others a table. */
function unary(name: string, ofFloat?: (x: Expression, args: AnyArgs) => Expression) {
  return (args: One & AnyArgs, outputs: Result, builder: Builder): Value => {
    if (!isFloat(args.input.type)) return byTable(name, args, outputs, builder);
    if (ofFloat === undefined) return byHal(name, args, { ...outputs }, builder);
    const target = outputOf(builder, outputs.output);
    addElementwise(builder, name, [builder.read(args.input)], target, ofFloat(element(0, "f32"), args), 6);
    return target;
  };
}

/** An integer that wraps in a type. */
function wrap(value: Expression, { type }: TensorInfo): Expression {
  const sign = (bits: number) => shiftBits("shr", shiftBits("shl", value, 32 - bits), 32 - bits);
  switch (layoutOf({ type, dimensions: [] }).type) {
    case "i8":
      return sign(8);
    case "i16":
      return sign(16);
    case "u8":
      return on("and", value, makeInteger(0xff));
    case "u16":
      return on("and", value, makeInteger(0xffff));
    default:
      return value;
  }
}

/** A function of two elements: floats by the HAL's operation, quantised ones as real numbers, all other integers wrap. */
function pair(
  name: "ADD" | "SUB" | "MUL",
  ofReals: (a: Formula, b: Formula) => Formula,
  ofIntegers: (a: Expression, b: Expression) => Expression,
  mayWrap: (left: TensorInfo) => boolean,
) {
  return ({ left, right, activation }: Two & { activation: number }, { output }: Result, builder: Builder): Value => {
    const operands = [left, right, output];
    for (const info of operands) expectPlain(info);
    if (isFloat(left.type)) return byHal(name, { left, right, activation }, { output }, builder);
    const target = outputOf(builder, output);
    if (!isQuantised(left) || (operands.every(isPlain) && mayWrap(left))) {
      const sum = wrap(ofIntegers(elementOf(0, left), elementOf(1, right)), output);
      const value = activation === FusedActivationFunc.NONE ? sum : within(sum, ...activationRange(activation));
      addElementwise(builder, name, [builder.read(left), builder.read(right)], target, value);
      return target;
    }
    const [lefts, rights] = [left, right].map((tensor) =>
      spreadTo(builder, builder.read(tensor), output.dimensions),
    ) as [Value, Value];
    const bounds = quantisedActivationRange(activation, output);
    addForEach(builder, name, elementCount(output.dimensions), 16, (routine) => {
      const [a, b, to] = [routine.read(lefts), routine.read(rights), routine.write(target)];
      return (at) => {
        const value = ofReals(realElement(a, left, at), realElement(b, right, at));
        storeReal(routine, to, output, at, routine.local(value), bounds);
      };
    });
    return target;
  };
}

/** Elements as they are stored, in another type: fractions are cut off, floats outside of the type are its bounds, and integers wrap. */
function addCast({ input }: One, { output }: Result, builder: Builder): Value {
  const [source, target] = [builder.read(input), outputOf(builder, output)];
  const isLong = (info: TensorInfo) => isExtensionType(info.type) && info.type.name === "TENSOR_INT64";
  if (isLong(input) || isLong(output)) return addLongCast(input, source, output, target, builder);
  for (const info of [input, output]) expectPlain(info);
  const x = elementOf(0, input);
  addElementwise(builder, "CAST", [source], target, castOf(x, input, output));
  return target;
}

function castOf(x: Expression, input: TensorInfo, output: TensorInfo): Expression {
  if (input.type === output.type) return x;
  if (output.type === "TENSOR_BOOL8") {
    return on("and", on("ne", x, x.type === "f32" ? real(0) : makeInteger(0)), makeInteger(1));
  }
  if (isFloat(output.type)) return x.type === "f32" ? x : convert("toFloat", x);
  if (x.type === "i32") return wrap(x, output);
  const [least, greatest] = integerRange(output.type);
  const inside = convert("toInteger", within(x, least, greatest));
  return select(on("eq", x, x), inside, makeInteger(greatest));
}

/** Integers of 64 bits are two of 32, the lower first. */
function addLongCast(input: KernelTensor, source: Value, output: TensorInfo, target: Value, builder: Builder): Value {
  const fromLong = isExtensionType(input.type);
  if (fromLong === isExtensionType(output.type)) return refuse("integers of 64 bits are not available here");
  const { type } = output;
  if (fromLong && type !== "TENSOR_INT32" && type !== "TENSOR_FLOAT32") refuse(`${typeText(type)} is not available`);
  if (!fromLong && isFloat(input.type)) refuse(`${typeText(input.type)} is not available`);
  addForEach(builder, "CAST", elementCount(output.dimensions), 6, (routine) => {
    const [from, to] = [routine.read(source), routine.write(target)];
    return (at) => {
      const low = routine.local(calc("mul", at, 2));
      const high = routine.local(calc("add", low, 1));
      if (!fromLong) {
        const value = routine.local(from.at(at));
        routine.store(to, low, value);
        routine.store(to, high, calc("shr", value, 31));
      } else if (type === "TENSOR_INT32") routine.store(to, at, from.at(low));
      else {
        const lower = routine.local(convertFormula("toReal", from.at(low)));
        routine.when(calc("lt", lower, 0), () => routine.set(lower, calc("add", lower, 2 ** 32)));
        routine.store(to, at, calc("add", calc("mul", convertFormula("toReal", from.at(high)), 2 ** 32), lower));
      }
    };
  });
  return target;
}

/** The quantisation of a type of the extension, as of one of the HAL. */
function withQuantisation(info: TensorInfo): TensorInfo {
  if (!isExtensionType(info.type) || info.type.name !== "TENSOR_QUANT16_ASYMM_SIGNED") return info;
  // The codec of the type returns these.
  const { scale, zeroPoint } = info.params as { readonly scale: number; readonly zeroPoint: number };
  return { ...info, type: "TENSOR_QUANT16_SYMM", scale, zeroPoint };
}

interface Softmax extends One {
  readonly beta: number;
  readonly axis: number;
}

/** Shares of quantised elements, in floats of 64 bits: of each lane along an axis. */
function addSoftmax({ input, beta, axis }: Softmax, outputs: Result, builder: Builder): Value {
  if (isFloat(input.type)) return byHal("SOFTMAX", { input, beta, axis }, { ...outputs }, builder);
  if (input.type === "TENSOR_QUANT16_SYMM") refuse("elements of 16 bits are not available");
  const [outer, length, inner] = around(input, axis);
  const output = withQuantisation(outputs.output);
  const [source, target, table] = [builder.read(input), outputOf(builder, output), powersOfTwo(builder)];
  addRoutine(builder, "SOFTMAX", outer * inner, 90 * length, (routine) => {
    const [elements, powers, to] = [routine.read(source), routine.read(table), routine.write(target)];
    const column = calc("rem", routine.unit, inner);
    const first = routine.local(calc("add", calc("mul", calc("div", routine.unit, inner), length * inner), column));
    const at = (index: Formula) => routine.local(calc("add", first, calc("mul", index, inner)));
    const greatest = routine.local(realNumber(Number.NEGATIVE_INFINITY));
    routine.each(0, length, (index) =>
      routine.set(greatest, calc("max", greatest, realElement(elements, input, at(index)))),
    );
    const power = (index: Formula) => {
      const below = calc("sub", realElement(elements, input, at(index)), greatest);
      return routine.local(exponentialOf(routine, powers, routine.local(calc("mul", below, beta))));
    };
    const sum = routine.local(realNumber(0));
    routine.each(0, length, (index) => routine.set(sum, calc("add", sum, power(index))));
    routine.each(0, length, (index) => {
      storeReal(routine, to, output, at(index), routine.local(calc("div", power(index), sum)));
    });
  });
  return target;
}

/** The lowerings. */
export const elementwise: Table = {
  ADD: pair(
    "ADD",
    (a, b) => calc("add", a, b),
    (a, b) => on("add", a, b),
    ({ type }) => type === "TENSOR_QUANT16_SYMM",
  ),
  SUB: pair(
    "SUB",
    (a, b) => calc("sub", a, b),
    (a, b) => on("sub", a, b),
    () => false,
  ),
  MUL: pair(
    "MUL",
    (a, b) => calc("mul", a, b),
    (a, b) => on("mul", a, b),
    ({ type }) => type === "TENSOR_QUANT16_SYMM",
  ),
  CAST: addCast,
  SOFTMAX: addSoftmax,
  COS: ({ input }: One, { output }: Result, builder) => addSine(builder, "COS", input, output, 1),
  LEAKY_RELU: unary("LEAKY_RELU", (x, { alpha }) => select(on("gt", x, real(0)), x, on("mul", x, real(Number(alpha))))),
  QUANTIZE(args: One, outputs: Result, builder) {
    if (args.input.type === "TENSOR_FLOAT32") return byHal("QUANTIZE", { ...args }, { ...outputs }, builder);
    return byTable("QUANTIZE", { ...args }, outputs, builder);
  },
  ...Object.fromEntries(
    [
      "ABS",
      "ELU",
      "EXP",
      "HARD_SWISH",
      "LOG",
      "LOGISTIC",
      "NEG",
      "RELU",
      "RELU1",
      "RELU6",
      "RSQRT",
      "SQRT",
      "TANH",
    ].map((name) => [name, unary(name)]),
  ),
};
