/** LOG, SIN, POW and ELU. */
import type { KernelTensor } from "@nnhal/backend";
import { elementCount, type TensorInfo } from "@nnhal/operations";
import { elementOf } from "./arithmetic.ts";
import { addElementwise, type Builder, outputOf, type Value } from "./builder.ts";
import { type Expression, element, on, real, select, within } from "./expression.ts";
import { calc, choose, type Formula, realNumber } from "./formula.ts";
import { accurateExponential, logarithm, smallExponential } from "./functions.ts";
import { expectFloat, type LoweringTable } from "./lowering.ts";
import { anglesOfBits, bitsOf, exponentialOf, logarithmOfBits, powersOfTwo, sineOfBits } from "./real-functions.ts";
import { addRoutine, type Place, type Routine } from "./routine.ts";

/** Elements of a unit. */
const UNIT = 1024;

/** Calls `body` for each element of a unit. */
export function eachInUnit(routine: Routine, count: number, body: (index: Formula) => void): void {
  const first = routine.local(calc("mul", routine.unit, UNIT));
  const end = routine.local(calc("min", calc("add", first, UNIT), count));
  routine.each(first, end, body);
}

/** Adds a routine over `count` elements. */
export function addForEach(
  builder: Builder,
  name: string,
  count: number,
  work: number,
  write: (routine: Routine) => (index: Formula) => void,
): void {
  addRoutine(builder, name, Math.ceil(count / UNIT), work * Math.min(count, UNIT), (routine) => {
    eachInUnit(routine, count, write(routine));
  });
}

/** sin(x), or of as many quarters of a turn more. */
export function addSine(
  builder: Builder,
  name: string,
  input: KernelTensor,
  output: TensorInfo,
  quarters: number,
): Value {
  expectFloat(input);
  const target = outputOf(builder, output);
  const source = bitsOf(builder.read(input));
  const table = anglesOfBits(builder);
  addForEach(builder, name, elementCount(output.dimensions), 40, (routine) => {
    const [bits, angles, results] = [routine.read(source), routine.read(table), routine.write(target)];
    return (index) =>
      routine.store(results, index, sineOfBits(routine, angles, routine.local(bits.at(index)), quarters));
  });
  return target;
}

/** A value in the shape of another one, with its elements repeated. */
export function spreadTo(builder: Builder, value: Value, dimensions: readonly number[]): Value {
  if (elementCount(value.dimensions) === elementCount(dimensions)) return { ...value, dimensions };
  const result = builder.value(value.type, dimensions);
  const copy: Expression = element(0, value.type === "f32" ? "f32" : "i32");
  addElementwise(builder, "repeat", [value], result, copy);
  return result;
}

/** base^exponent as IEEE 754 has it: 1 to any power is 1, and whole powers of negative numbers are there. */
export function powerOf(routine: Routine, powers: Place, base: Formula, baseBits: Formula, exponent: Formula): Formula {
  const result = routine.local(realNumber(1));
  const isPlain = calc("and", calc("ne", exponent, realNumber(0)), calc("ne", base, realNumber(1)));
  routine.when(isPlain, () => {
    const size = routine.local(calc("abs", base));
    const isWhole = routine.local(calc("eq", exponent, calc("trunc", exponent)));
    const half = calc("mul", exponent, 0.5);
    const isOdd = routine.local(calc("and", isWhole, calc("ne", half, calc("trunc", half))));
    const infinite = realNumber(Number.POSITIVE_INFINITY);
    const isPowerInfinite = routine.local(calc("eq", calc("abs", exponent), infinite));
    const isZeroOrInfinite = calc("or", calc("eq", size, realNumber(0)), calc("eq", size, infinite));
    const grows = calc("eq", calc("gt", size, realNumber(1)), calc("gt", exponent, realNumber(0)));
    routine.when(
      calc("or", isZeroOrInfinite, isPowerInfinite),
      () => {
        const limit = choose(grows, infinite, realNumber(0));
        routine.set(
          result,
          choose(calc("and", isPowerInfinite, calc("eq", size, realNumber(1))), realNumber(1), limit),
        );
        routine.when(calc("or", calc("ne", base, base), calc("ne", exponent, exponent)), () =>
          routine.set(result, Number.NaN),
        );
      },
      () => {
        // Numbers without a leading 1 are so small that their digits do not matter.
        const logarithmOfSize = logarithmOfBits(routine, routine.local(calc("and", baseBits, 0x7fff_ffff)));
        routine.set(result, exponentialOf(routine, powers, calc("mul", exponent, logarithmOfSize)));
        const isNan = calc("or", calc("ne", base, base), calc("ne", exponent, exponent));
        const isRoot = calc("and", calc("lt", base, realNumber(0)), calc("eq", isWhole, 0));
        routine.when(calc("or", isNan, isRoot), () => routine.set(result, Number.NaN));
      },
    );
    routine.when(calc("and", isOdd, calc("shr", calc("and", baseBits, -0x8000_0000), 31)), () =>
      routine.set(result, calc("neg", result)),
    );
  });
  return result;
}

/** The lowerings. */
export const transcendental: LoweringTable = {
  LOG({ input }, { output }, builder) {
    expectFloat(input);
    const target = outputOf(builder, output);
    addElementwise(builder, "LOG", [builder.read(input)], target, logarithm(elementOf(0, input)), 24);
    return target;
  },
  EXP({ input }, { output }, builder) {
    expectFloat(input);
    const target = outputOf(builder, output);
    addElementwise(builder, "EXP", [builder.read(input)], target, accurateExponential(elementOf(0, input)), 18);
    return target;
  },
  ELU({ input, alpha }, { output }, builder) {
    expectFloat(input);
    const x = element(0, "f32");
    const below = on("mul", real(alpha), smallExponential(x));
    const positive = select(on("gt", x, real(0)), x, select(on("eq", x, x), real(0), x));
    const target = outputOf(builder, output);
    const value = on("add", positive, within(below, Number.NEGATIVE_INFINITY, 0));
    addElementwise(builder, "ELU", [builder.read(input)], target, value, 24);
    return target;
  },
  SIN: ({ input }, { output }, builder) => addSine(builder, "SIN", input, output, 0),
  POW({ base, exponent }, { output }, builder) {
    expectFloat(base);
    const target = outputOf(builder, output);
    const bases = spreadTo(builder, builder.read(base), output.dimensions);
    const exponents = spreadTo(builder, builder.read(exponent), output.dimensions);
    const table = powersOfTwo(builder);
    addForEach(builder, "POW", elementCount(output.dimensions), 60, (routine) => {
      const [values, bits, powers] = [routine.read(bases), routine.read(bitsOf(bases)), routine.read(exponents)];
      const [twos, results] = [routine.read(table), routine.write(target)];
      return (index) => {
        const [x, b, y] = [values.at(index), bits.at(index), powers.at(index)].map((each) => routine.local(each));
        if (x && b && y) routine.store(results, index, powerOf(routine, twos, x, b, y));
      };
    });
    return target;
  },
};
