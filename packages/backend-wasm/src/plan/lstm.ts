/** LSTM cells of floats, along time: see `lstmStep` of the reference for the formulas. */
import type { KernelTensor } from "@nnhal/backend";
import { elementCount } from "@nnhal/operations";
import { type Gate, type LstmCell, lstmCell, lstmSizes } from "@nnhal/operations/compiling";
import { addElementwise, type Builder, outputOf, type Value } from "./builder.ts";
import { type Expression, element, on, real, within } from "./expression.ts";
import { hyperbolicTangent, logistic } from "./functions.ts";
import type { LoweringTable } from "./lowering.ts";
import { addFloatProduct, addTimes, copyOf, putInto, takeTime } from "./recurrent.ts";
import { addCentred, addSums } from "./reduction.ts";
import { refuse } from "./refusal.ts";

/** Settings of a cell. A clip of 0 is off. */
interface Settings {
  readonly activation: number;
  readonly cellClip: number;
  readonly projectionClip: number;
}

/** One direction of a sequence. */
interface Run {
  readonly name: string;
  readonly cell: LstmCell<KernelTensor>;
  readonly settings: Settings;
  /** [times, batches, inputs], or [batches, times, inputs] */
  readonly input: KernelTensor;
  readonly auxiliary?: KernelTensor | undefined;
  readonly outputStateIn: KernelTensor;
  readonly cellStateIn: KernelTensor;
  readonly timeMajor: boolean;
  readonly backwards: boolean;
  readonly output: Value;
  readonly outputOffset: number;
}

/** The function of an activation code of a cell. */
function activate(code: number, x: Expression): Expression {
  switch (code) {
    case 0:
      return x;
    case 1:
      return within(x, 0, Number.POSITIVE_INFINITY);
    case 3:
      return within(x, 0, 6);
    case 4:
      return hyperbolicTangent(x);
    case 6:
      return logistic(x);
    default:
      return refuse(`activation ${code} of a cell is not available`);
  }
}

const clip = (value: Expression, limit: number): Expression => (limit === 0 ? value : within(value, -limit, limit));

const [first, second, third, fourth] = [0, 1, 2, 3].map((operand) => element(operand, "f32")) as [
  Expression,
  Expression,
  Expression,
  Expression,
];

/** Least variance of a normalised layer. */
const LEAST_VARIANCE = 1e-8;

/** (x - mean) / √variance · weight + bias, along the second axis. */
function addNormalised(builder: Builder, name: string, value: Value, norm: KernelTensor, bias: KernelTensor): Value {
  const [, units = 1] = value.dimensions;
  const centred = addCentred(builder, name, value, [false, true]);
  const squares = addSums(builder, name, centred, [false, true], true);
  const deviation = on("sqrt", on("add", on("div", second, real(units)), real(LEAST_VARIANCE)));
  const result = builder.value("f32", value.dimensions);
  const scaled = on("add", on("mul", on("div", first, deviation), third), fourth);
  addElementwise(builder, name, [centred, squares, builder.read(norm), builder.read(bias)], result, scaled, 12);
  return result;
}

/** Adds the steps of a cell for each time. Returns the last states. */
function addRun(builder: Builder, run: Run): { readonly outputState: Value; readonly cellState: Value } {
  const { name, cell, settings, input, auxiliary } = run;
  const { units } = lstmSizes(cell, input.dimensions[2] ?? 1);
  const shape = [input.dimensions[0] ?? 1, input.dimensions[1] ?? 1, units];
  /** The share of the inputs in the sums of a gate, for all time steps. With normalisation the bias comes later. */
  const ahead = (gate: Gate<KernelTensor>): Value => {
    const bias = gate.norm === undefined ? gate.bias : undefined;
    const sums = addFloatProduct(builder, name, builder.read(input), gate.input, bias);
    if (auxiliary === undefined || gate.auxiliary === undefined) return { ...sums, dimensions: shape };
    const more = addFloatProduct(builder, name, builder.read(auxiliary), gate.auxiliary, undefined);
    const both = builder.value("f32", shape);
    addElementwise(
      builder,
      name,
      [
        { ...sums, dimensions: shape },
        { ...more, dimensions: shape },
      ],
      both,
      on("add", first, second),
    );
    return both;
  };
  const gates = [cell.inputGate, cell.forgetGate, cell.cellGate, cell.outputGate].map((gate) =>
    gate === undefined ? undefined : { gate, sums: ahead(gate) },
  );
  const [inputGate, forgetGate, cellGate, outputGate] = gates;
  if (forgetGate === undefined || cellGate === undefined || outputGate === undefined)
    throw new TypeError("a cell has no gates");
  const [outputState, cellState] = [copyOf(builder, run.outputStateIn), copyOf(builder, run.cellStateIn)];
  const states = [outputState.region, cellState.region, run.output.region];
  addTimes(builder, name, input, run.timeMajor, run.backwards, states, (times) => {
    /** The sums of a gate. */
    const total = ({ gate, sums }: { readonly gate: Gate<KernelTensor>; readonly sums: Value }): Value => {
      const now = takeTime(builder, name, times, sums);
      const recurrent = addFloatProduct(builder, name, outputState, gate.recurrent, undefined);
      const result = builder.value("f32", [times.batches, units]);
      const plain = on("add", first, second);
      if (gate.cell === undefined) addElementwise(builder, name, [recurrent, now], result, plain);
      else {
        const peephole = on("add", plain, on("mul", third, fourth));
        addElementwise(builder, name, [recurrent, now, cellState, builder.read(gate.cell)], result, peephole);
      }
      return gate.norm === undefined ? result : addNormalised(builder, name, result, gate.norm, gate.bias);
    };
    const [forget, candidate] = [total(forgetGate), total(cellGate)];
    const kept = logistic(first);
    const act = (x: Expression) => activate(settings.activation, x);
    if (inputGate === undefined) {
      const taken = on("mul", on("sub", real(1), kept), act(third));
      const value = clip(on("add", on("mul", kept, second), taken), settings.cellClip);
      addElementwise(builder, name, [forget, cellState, candidate], cellState, value, 40);
    } else {
      const taken = on("mul", logistic(fourth), act(third));
      const value = clip(on("add", on("mul", kept, second), taken), settings.cellClip);
      addElementwise(builder, name, [forget, cellState, candidate, total(inputGate)], cellState, value, 60);
    }
    const open = total(outputGate);
    const value = on("mul", logistic(first), act(second));
    const { projection } = cell;
    if (projection === undefined) addElementwise(builder, name, [open, cellState], outputState, value, 40);
    else {
      const inner = builder.value("f32", [times.batches, units]);
      addElementwise(builder, name, [open, cellState], inner, value, 40);
      const projected = addFloatProduct(builder, name, inner, projection, cell.projectionBias);
      addElementwise(builder, name, [projected], outputState, clip(first, settings.projectionClip));
    }
    putInto(builder, name, times, outputState, run.output, run.outputOffset);
  });
  return { outputState, cellState };
}

/** The operands of one direction by the names of LSTM. */
function directionOf(args: object, prefix: "fw" | "bw"): LstmCell<KernelTensor> {
  const own = Object.entries(args).flatMap(([name, tensor]): [string, KernelTensor][] =>
    name.startsWith(prefix) ? [[(name[2] ?? "").toLowerCase() + name.slice(3), tensor]] : [],
  );
  // The names of both operations are the same after the prefix, as their definitions say.
  return lstmCell(Object.fromEntries(own) as unknown as Parameters<typeof lstmCell<KernelTensor>>[0]);
}

/** The lowerings. */
export const lstms: LoweringTable = {
  LSTM({ input, outputStateIn, cellStateIn, ...operands }, outputs, builder) {
    const scratch = outputOf(builder, outputs.scratch);
    const count = elementCount(scratch.dimensions);
    addElementwise(builder, "LSTM", [], { ...scratch, dimensions: [count] }, real(0), 1);
    const shape = (dimensions: readonly number[]) => [1, dimensions[0] ?? 1, dimensions[1] ?? 1];
    const output = { ...outputOf(builder, outputs.output), dimensions: shape(outputs.output.dimensions) };
    const { outputState, cellState } = addRun(builder, {
      name: "LSTM",
      cell: lstmCell(operands),
      settings: operands,
      input: { ...input, dimensions: shape(input.dimensions) },
      outputStateIn,
      cellStateIn,
      timeMajor: true,
      backwards: false,
      output,
      outputOffset: 0,
    });
    return [scratch, outputState, cellState, { ...output, dimensions: outputs.output.dimensions }];
  },
  UNIDIRECTIONAL_SEQUENCE_LSTM({ input, outputStateIn, cellStateIn, timeMajor, ...operands }, outputs, builder) {
    const output = outputOf(builder, outputs.output);
    const { outputState, cellState } = addRun(builder, {
      name: "UNIDIRECTIONAL_SEQUENCE_LSTM",
      cell: lstmCell(operands),
      settings: operands,
      input,
      outputStateIn,
      cellStateIn,
      timeMajor,
      backwards: false,
      output,
      outputOffset: 0,
    });
    return [output, outputState, cellState];
  },
  BIDIRECTIONAL_SEQUENCE_LSTM(args, outputs, builder) {
    const { input, auxiliaryInput, mergeOutputs, timeMajor } = args;
    const [forward, backward] = [directionOf(args, "fw"), directionOf(args, "bw")];
    const isParallel = forward.forgetGate.auxiliary === undefined;
    const auxiliary = isParallel ? undefined : auxiliaryInput;
    const shared = { name: "BIDIRECTIONAL_SEQUENCE_LSTM", settings: args, auxiliary, timeMajor };
    const forwardOutput = outputOf(builder, outputs.fwOutput);
    const separate = outputs.bwOutput;
    const backwardOutput = mergeOutputs || separate === undefined ? forwardOutput : outputOf(builder, separate);
    const ahead = addRun(builder, {
      ...shared,
      cell: forward,
      input,
      outputStateIn: args.fwOutputStateIn,
      cellStateIn: args.fwCellStateIn,
      backwards: false,
      output: forwardOutput,
      outputOffset: 0,
    });
    const behind = addRun(builder, {
      ...shared,
      cell: backward,
      input: isParallel && auxiliaryInput !== undefined ? auxiliaryInput : input,
      outputStateIn: args.bwOutputStateIn,
      cellStateIn: args.bwCellStateIn,
      backwards: true,
      output: backwardOutput,
      outputOffset: mergeOutputs ? lstmSizes(forward, input.dimensions[2] ?? 1).outputs : 0,
    });
    const states = [ahead.outputState, ahead.cellState, behind.outputState, behind.cellState];
    return [...(mergeOutputs ? [forwardOutput] : [forwardOutput, backwardOutput]), ...states];
  },
};
