/** LSTM and its sequence forms. One product computes all gates, and one the inputs at all times. */
import { type KernelTensor, optionalTensor, requiredTensor, type TensorArgs } from "@nnhal/backend";
import { elementAt, elementCount, ensure, OperationError, type TensorInfo } from "@nnhal/operations";
import { type Builder, integers, real, type Value } from "../graph/builder.ts";
import type { Lowered, Scope } from "../graph/scope.ts";
import { applyActivation } from "./_lowering.ts";
import {
  alongTime,
  type CellStep,
  combine,
  divideEqually,
  ensureFloat,
  joinValues,
  linkAuxiliary,
  product,
} from "./_sequence.ts";

interface Settings {
  readonly activation: number;
  readonly cellClip: number;
  readonly projectionClip: number;
}

interface PreparedCell {
  /** The weights of the inputs of all gates, one gate below the other. */
  readonly weights: Value;
  readonly auxiliaryWeights: Value | undefined;
  /** States are [output, cell]. */
  readonly step: CellStep;
}

/**
 * 1 / (1 + exp(−x)), with all digits also where it is near 0. The operator of the engine has an error of 2^-24 of 1 there, which a cell
 * state that is not bounded multiplies.
 */
function sigmoidOf(builder: Builder, value: Value): Value {
  const power = builder.node("Exp", [builder.node("Neg", [value], value)], value);
  return builder.node("Reciprocal", [builder.node("Add", [power, real(builder, 1)], value)], value);
}

/** Activations of cells have codes of their own. */
function activate(builder: Builder, value: Value, code: number): Value {
  switch (code) {
    case 0:
    case 1:
    case 2:
    case 3:
      return applyActivation(builder, value, code);
    case 4:
      return builder.node("Tanh", [value], value);
    case 6:
      return sigmoidOf(builder, value);
    default:
      throw new OperationError(`activation ${code} is none of NONE 0, RELU 1, RELU1 2, RELU6 3, TANH 4, SIGMOID 6`);
  }
}

function clipTo(builder: Builder, value: Value, limit: number): Value {
  ensure(limit >= 0, () => `the clip is ${limit}, less than 0`);
  return limit === 0 ? value : builder.node("Clip", [value, real(builder, -limit), real(builder, limit)], value);
}

/** Added to the variance, because that of a constant vector is 0. */
const LEAST_VARIANCE = 1e-8;

function normaliseSums(builder: Builder, sums: Value, weights: Value): Value {
  const mean = (value: Value) =>
    builder.node("ReduceMean", [value, integers(builder, [1])], {
      type: "float32",
      dims: [elementAt(value.dims, 0), 1],
    });
  // The mean of large sums is rounded, and the mean of what is left is the rest of it.
  const near = combine(builder, "Sub", sums, mean(sums));
  const centred = combine(builder, "Sub", near, mean(near));
  const variance = combine(
    builder,
    "Add",
    mean(combine(builder, "Mul", centred, centred)),
    real(builder, LEAST_VARIANCE),
  );
  const deviation = builder.node("Sqrt", [variance], variance);
  return combine(builder, "Mul", combine(builder, "Div", centred, deviation), weights);
}

type GateName = "Input" | "Forget" | "Cell" | "Output";

/** A cell. Its operands have the names of the HAL after a prefix. Without an input gate, the forget gate replaces it (CIFG). */
function prepareCell(args: TensorArgs, prefix: "" | "fw" | "bw", settings: Settings, scope: Scope): PreparedCell {
  const { builder, read } = scope;
  const named = (name: string) => (prefix === "" ? name : prefix + name.charAt(0).toUpperCase() + name.slice(1));
  const give = (name: string) => {
    const tensor = optionalTensor(args, named(name));
    return tensor && read(tensor);
  };
  const need = (name: string) => read(requiredTensor(args, named(name)));
  const hasInputGate = give("inputToInputWeights") !== undefined;
  const gates: GateName[] = hasInputGate ? ["Input", "Forget", "Cell", "Output"] : ["Forget", "Cell", "Output"];
  const weightsFrom = (source: string) =>
    joinValues(
      builder,
      gates.map((gate) => need(`${source}To${gate}Weights`)),
      0,
    );
  const recurrent = weightsFrom("recurrent");
  const projection = give("projectionWeights");
  const sigmoid = (value: Value) => sigmoidOf(builder, value);
  const step: CellStep = (contribution, [output, cell]) => {
    ensure(output !== undefined && cell !== undefined, () => "a state is omitted");
    const sums = combine(builder, "Add", contribution, product(builder, output, recurrent));
    const products = divideEqually(builder, sums, gates.length, 1);
    /** The input of a gate. `seen` is the cell state that its peephole reads. */
    const sum = (gate: GateName, seen: Value): Value => {
      const lower = gate.toLowerCase();
      let value = elementAt(products, gates.indexOf(gate));
      const peephole = gate === "Cell" ? undefined : give(`cellTo${gate}Weights`);
      if (peephole !== undefined) value = combine(builder, "Add", value, combine(builder, "Mul", seen, peephole));
      const norm = give(`${lower}LayerNormWeights`);
      if (norm !== undefined) value = normaliseSums(builder, value, norm);
      return combine(builder, "Add", value, need(gate === "Cell" ? "cellBias" : `${lower}GateBias`));
    };
    const forget = sigmoid(sum("Forget", cell));
    const take = hasInputGate ? sigmoid(sum("Input", cell)) : combine(builder, "Sub", real(builder, 1), forget);
    const candidate = activate(builder, sum("Cell", cell), settings.activation);
    const kept = combine(builder, "Mul", forget, cell);
    const next = clipTo(
      builder,
      combine(builder, "Add", kept, combine(builder, "Mul", take, candidate)),
      settings.cellClip,
    );
    const shown = activate(builder, next, settings.activation);
    const result = combine(builder, "Mul", sigmoid(sum("Output", next)), shown);
    if (projection === undefined) return [result, next];
    const projected = product(builder, result, projection, give("projectionBias"));
    return [clipTo(builder, projected, settings.projectionClip), next];
  };
  return {
    weights: weightsFrom("input"),
    auxiliaryWeights: give("auxiliaryToForgetWeights") && weightsFrom("auxiliary"),
    step,
  };
}

interface States {
  readonly input: KernelTensor;
  readonly outputStateIn: KernelTensor;
  readonly cellStateIn: KernelTensor;
}

type Outputs = Readonly<Record<string, TensorInfo | undefined>>;

export function lstm(
  { input, outputStateIn, cellStateIn, ...args }: Settings & States & TensorArgs,
  { scratch }: Outputs,
  scope: Scope,
): Lowered[] {
  ensureFloat(input);
  const { builder, read } = scope;
  const cell = prepareCell(args, "", args, scope);
  const contribution = product(builder, read(input), cell.weights);
  const [output, state] = cell.step(contribution, [read(outputStateIn), read(cellStateIn)]);
  ensure(output !== undefined && state !== undefined, () => "a state is omitted");
  const dims = scratch?.dimensions ?? [];
  const zeros = builder.constant("float32", dims, () => new Float32Array(elementCount(dims)));
  return [zeros, output, state, output];
}

export function unidirectionalSequenceLstm(
  args: Settings & States & { readonly timeMajor: boolean } & TensorArgs,
  _: unknown,
  scope: Scope,
): Lowered[] {
  const { input, outputStateIn, cellStateIn, timeMajor, ...rest } = args;
  const cell = prepareCell(rest, "", rest, scope);
  const initial = [scope.read(outputStateIn), scope.read(cellStateIn)];
  const { outputs, states } = alongTime(scope, [[input, cell.weights]], initial, cell.step, { timeMajor });
  return [outputs, ...states];
}

interface Bidirectional extends Settings {
  readonly input: KernelTensor;
  readonly auxiliaryInput: KernelTensor | undefined;
  readonly timeMajor: boolean;
  readonly mergeOutputs: boolean;
}

export function bidirectionalSequenceLstm(args: Bidirectional & TensorArgs, _: unknown, scope: Scope): Lowered[] {
  const { input, auxiliaryInput, timeMajor, mergeOutputs, ...rest } = args;
  const { builder, read } = scope;
  const cells = { fw: prepareCell(rest, "fw", rest, scope), bw: prepareCell(rest, "bw", rest, scope) };
  const linked = linkAuxiliary(input, auxiliaryInput, cells.fw.auxiliaryWeights !== undefined);
  const run = (prefix: "fw" | "bw", seen: KernelTensor, backwards: boolean) => {
    const { weights, auxiliaryWeights, step } = cells[prefix];
    const parts: [KernelTensor, Value][] = [[seen, weights]];
    if (linked.auxiliary !== undefined && auxiliaryWeights !== undefined) {
      parts.push([linked.auxiliary, auxiliaryWeights]);
    }
    const initial = ["OutputStateIn", "CellStateIn"].map((name) => read(requiredTensor(args, `${prefix}${name}`)));
    return alongTime(scope, parts, initial, step, { timeMajor, backwards });
  };
  const fw = run("fw", input, false);
  const bw = run("bw", linked.bwInput, true);
  const outputs = mergeOutputs ? [joinValues(builder, [fw.outputs, bw.outputs], 2)] : [fw.outputs, bw.outputs];
  return [...outputs, ...fw.states, ...bw.states];
}
