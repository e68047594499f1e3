/** SVDF in integers. */
import type { KernelTensor } from "@nnhal/backend";
import { integerRange, type TensorInfo } from "@nnhal/operations";
import { addElementwise, addMove, type Builder, operandOf, outputOf, type Value } from "../plan/builder.ts";
import { rowsOf } from "../plan/convolution.ts";
import { accumulator, type Expression, element, makeInteger, on, within } from "../plan/expression.ts";
import { fixedMultiple } from "../plan/fixed-point.ts";
import { calc, integer } from "../plan/formula.ts";
import { fillTileOfIntegers } from "../plan/lowering.ts";
import { wholeSums } from "../plan/matrices.ts";
import { refuse } from "../plan/refusal.ts";
import { addRoutine } from "../plan/routine.ts";
import { addProduct } from "../plan/weighted.ts";
import type { Table } from "./operands.ts";

/** A sum of products of two tensors as an element of a result. The multiplier is computed in numbers of 32 bits. */
function requantise(sum: Expression, left: TensorInfo, right: TensorInfo, result: TensorInfo): Expression {
  const multiplier = Math.fround(Math.fround(left.scale * right.scale) / result.scale);
  return within(on("add", fixedMultiple(sum, multiplier), makeInteger(result.zeroPoint)), ...integerRange(result.type));
}

interface Filter {
  readonly input: KernelTensor;
  readonly featureWeights: KernelTensor;
  readonly timeWeights: KernelTensor;
  readonly bias: KernelTensor | undefined;
  readonly stateIn: KernelTensor;
  readonly rank: number;
}

/** The lowerings. */
export const recurrent: Table = {
  SVDF(args: Filter, { output, stateOut }, builder: Builder): readonly Value[] {
    const { input, featureWeights, timeWeights, bias, stateIn, rank } = args;
    if (input.type !== "TENSOR_QUANT8_ASYMM_SIGNED")
      refuse("floats with these weights or activations are not available");
    const [batches = 1, inputs = 1] = input.dimensions;
    const [filters = 1, memory = 1] = timeWeights.dimensions;
    const units = filters / rank;
    const [result, state] = [outputOf(builder, output), outputOf(builder, stateOut)];
    const [before, weights] = [builder.read(stateIn), builder.read(timeWeights)];
    const features = builder.value(state.type, [batches, filters]);
    // The zero point of weights does not count.
    const filter = { ...featureWeights, zeroPoint: 0 };
    const product = { filter, depth: inputs, columns: filters, depthStep: 1, columnStep: inputs };
    const sums: typeof wholeSums = (_, weighted) => ({
      ...wholeSums(builder, weighted),
      value: requantise(accumulator("i32"), input, featureWeights, stateIn),
    });
    const weighted = { input, weights: product, bias: undefined, output: stateOut, activation: 0, sums };
    addProduct(builder, "SVDF", weighted, batches, rowsOf(builder.read(input), batches, inputs), features);
    // The state without its oldest column, and the new one.
    const rows = [batches * filters, memory - 1];
    addMove(builder, "SVDF", rows, operandOf(before, [memory, 1], 1), operandOf(state, [memory, 1]));
    const newest = operandOf(state, [memory, 1], memory - 1);
    addMove(builder, "SVDF", [batches * filters, 1], operandOf(features, [1, 1]), newest);
    const first: Value =
      bias === undefined
        ? {
            region: builder.constant(fillTileOfIntegers(new Array<number>(units).fill(0))),
            type: "i32",
            dimensions: [units],
          }
        : builder.read(bias);
    const totals = builder.value("i32", [batches, units]);
    addRoutine(builder, "SVDF", batches * units, 3 * rank * memory, (routine) => {
      const [biases, times, states] = [routine.read(first), routine.read(weights), routine.read(state)];
      const to = routine.write(totals);
      const unit = routine.local(calc("rem", routine.unit, units));
      const sum = routine.local(biases.at(unit));
      const time = routine.local(calc("mul", unit, rank * memory));
      const place = routine.local(calc("add", calc("mul", calc("div", routine.unit, units), filters * memory), time));
      routine.each(integer(0), rank * memory, (index) => {
        const step = calc("sub", states.at(calc("add", place, index)), stateIn.zeroPoint);
        routine.set(sum, calc("add", sum, calc("mul", times.at(calc("add", time, index)), step)));
      });
      routine.store(to, routine.unit, sum);
    });
    addElementwise(builder, "SVDF", [totals], result, requantise(element(0, "i32"), stateIn, timeWeights, output), 12);
    return [result, state];
  },
};
