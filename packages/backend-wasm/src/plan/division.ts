/** DIV: integers towards minus infinity, and 0 for a divisor of 0, as the reference does. */
import { elementCount, type TensorInfo } from "@nnhal/operations";
import { both, plain, type Two } from "./arithmetic.ts";
import { type Builder, outputOf, type Value } from "./builder.ts";
import { calc, choose, convertFormula, realNumber } from "./formula.ts";
import type { LoweringTable } from "./lowering.ts";
import { addForEach, spreadTo } from "./transcendental.ts";

/** Adds a division of integers of 32 bits. */
function addWholeDivision(builder: Builder, { left, right }: Two, output: TensorInfo): Value {
  const target = outputOf(builder, output);
  const [dividends, divisors] = [left, right].map((tensor) =>
    spreadTo(builder, builder.read(tensor), output.dimensions),
  ) as [Value, Value];
  addForEach(builder, "DIV", elementCount(output.dimensions), 16, (routine) => {
    const [from, by, to] = [routine.read(dividends), routine.read(divisors), routine.write(target)];
    return (index) => {
      const divisor = routine.local(convertFormula("toReal", by.at(index)));
      const quotient = routine.local(calc("floor", calc("div", convertFormula("toReal", from.at(index)), divisor)));
      // The one quotient that does not fit wraps.
      routine.when(calc("gt", quotient, 2 ** 31 - 1), () => routine.set(quotient, -(2 ** 31)));
      routine.store(to, index, choose(calc("eq", divisor, 0), realNumber(0), quotient));
    };
  });
  return target;
}

/** The lowerings. */
export const divisions: LoweringTable = {
  DIV({ left, right, activation }, { output }, builder) {
    if (left.type === "TENSOR_INT32" && activation === 0) return addWholeDivision(builder, { left, right }, output);
    return both(builder, "DIV", { left, right }, output, plain("div", left, right, activation));
  },
};
