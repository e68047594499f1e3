/**
 * LSTM and its sequence forms. One product computes all gates, and one the inputs at all times.
 */
import { type KernelTensor, optionalTensor, requiredTensor, type TensorArgs } from "@nnhal/backend";
import { ensure, isFloat, OperationError, type TensorInfo } from "@nnhal/operations";
import * as tf from "@tensorflow/tfjs-core";
import { type Bag, floatKernel, type Read, rank2, type Setup, steppedKernel } from "./_kernel.ts";
import { type CellStep, contributionsOf, linkAuxiliary, overTime, runSequence, sideBySide } from "./_sequence.ts";
import { withoutMean } from "./normalisation.ts";

interface Settings {
  readonly activation: number;
  readonly cellClip: number;
  readonly projectionClip: number;
}

interface PreparedCell {
  readonly weights: (read: Read) => tf.Tensor2D;
  readonly auxiliaryWeights: ((read: Read) => tf.Tensor2D) | undefined;
  /** States are [output, cell]. */
  step(read: Read, bag?: Bag): CellStep;
}

/** Activations of cells have codes of their own. */
function activationOf(code: number): (tensor: tf.Tensor) => tf.Tensor {
  switch (code) {
    case 0:
      return (tensor) => tensor;
    case 1:
      return tf.relu;
    case 2:
      return (tensor) => tf.clipByValue(tensor, -1, 1);
    case 3:
      return tf.relu6;
    case 4:
      return tf.tanh;
    case 6:
      return tf.sigmoid;
    default:
      throw new OperationError(`activation ${code} is none of NONE 0, RELU 1, RELU1 2, RELU6 3, TANH 4, SIGMOID 6`);
  }
}

function clipper(limit: number): (tensor: tf.Tensor) => tf.Tensor {
  ensure(limit >= 0, () => `the clip is ${limit}, less than 0`);
  return limit === 0 ? (tensor) => tensor : (tensor) => tf.clipByValue(tensor, -limit, limit);
}

/** Added to the variance, because that of a constant vector is 0. */
const LEAST_VARIANCE = 1e-8;

function normalise(sums: tf.Tensor, weights: tf.Tensor): tf.Tensor {
  const centred = withoutMean(sums, 1);
  const variance = tf.mean(tf.square(centred), 1, true);
  return tf.mul(tf.div(centred, tf.sqrt(tf.add(variance, LEAST_VARIANCE))), weights);
}

type GateName = "Input" | "Forget" | "Cell" | "Output";

/** A cell. Its operands have the names of the HAL after a prefix. Without an input gate, the forget gate replaces it (CIFG). */
function prepareCell(args: TensorArgs, prefix: "" | "fw" | "bw", settings: Settings, setup: Setup): PreparedCell {
  const named = (name: string) => (prefix === "" ? name : prefix + name[0].toUpperCase() + name.slice(1));
  const give = (name: string) => optionalTensor(args, named(name));
  const need = (name: string) => requiredTensor(args, named(name));
  const hasInputGate = give("inputToInputWeights") !== undefined;
  const gates: GateName[] = hasInputGate ? ["Input", "Forget", "Cell", "Output"] : ["Forget", "Cell", "Output"];
  const weightsFrom = (source: string) =>
    sideBySide(
      gates.map((gate) => need(`${source}To${gate}Weights`)),
      setup,
    );
  const recurrentWeights = weightsFrom("recurrent");
  const projectionWeights = give("projectionWeights");
  const projection = projectionWeights && sideBySide([projectionWeights], setup);
  const projectionBias = give("projectionBias");
  const activate = activationOf(settings.activation);
  const clipCell = clipper(settings.cellClip);
  const clipProjection = clipper(settings.projectionClip);
  const facts = new Map(
    gates.map((gate) => [
      gate,
      {
        place: gates.indexOf(gate),
        bias: need(gate === "Cell" ? "cellBias" : `${gate.toLowerCase()}GateBias`),
        peephole: gate === "Cell" ? undefined : give(`cellTo${gate}Weights`),
        norm: give(`${gate.toLowerCase()}LayerNormWeights`),
      },
    ]),
  );
  return {
    weights: weightsFrom("input"),
    auxiliaryWeights: give("auxiliaryToForgetWeights") && weightsFrom("auxiliary"),
    step(read, bag) {
      const recurrent = bag?.tidy(() => recurrentWeights(read)) ?? recurrentWeights(read);
      return (contribution, [output, cell]) => {
        const products = tf.split(tf.add(contribution, tf.matMul(output, recurrent)), gates.length, 1);
        /** The input of a gate. `seen` is the cell state that its peephole reads. */
        const sum = (gate: GateName, seen: tf.Tensor): tf.Tensor => {
          const fact = facts.get(gate);
          ensure(fact !== undefined, () => `there is no ${gate} gate`);
          let value: tf.Tensor = products[fact.place];
          if (fact.peephole) value = tf.add(value, tf.mul(seen, read(fact.peephole)));
          if (fact.norm) value = normalise(value, read(fact.norm));
          return tf.add(value, read(fact.bias));
        };
        const forget = tf.sigmoid(sum("Forget", cell));
        const take = hasInputGate ? tf.sigmoid(sum("Input", cell)) : tf.sub(1, forget);
        const next = clipCell(tf.add(tf.mul(forget, cell), tf.mul(take, activate(sum("Cell", cell)))));
        const result = tf.mul(tf.sigmoid(sum("Output", next)), activate(next));
        if (projection === undefined) return [rank2(result), rank2(next)];
        const projected = tf.matMul(rank2(result), projection(read));
        const biased = projectionBias ? tf.add(projected, read(projectionBias)) : projected;
        return [rank2(clipProjection(biased)), rank2(next)];
      };
    },
  };
}

interface States {
  readonly input: KernelTensor;
  readonly outputStateIn: KernelTensor;
  readonly cellStateIn: KernelTensor;
}

export const lstm = floatKernel({
  prepare({ input, outputStateIn, cellStateIn, ...args }: Settings & States & TensorArgs, outputs: Outputs, setup) {
    const cell = prepareCell(args, "", args, setup);
    const scratch = outputs.scratch?.dimensions ?? [];
    return (read) => {
      const contribution = rank2(tf.matMul(rank2(read(input)), cell.weights(read)));
      const [output, state] = cell.step(read)(contribution, [rank2(read(outputStateIn)), rank2(read(cellStateIn))]);
      return [tf.zeros([...scratch]), output, state, tf.clone(output)];
    };
  },
});

type Outputs = Readonly<Record<string, TensorInfo | undefined>>;

/** An estimate: peepholes, layer norms and projections take some more. */
const DISPATCHES_OF_A_CELL = 20;

export const unidirectionalSequenceLstm = steppedKernel({
  accepts: isFloat,
  dispatches: overTime(DISPATCHES_OF_A_CELL),
  prepare(
    {
      input,
      outputStateIn,
      cellStateIn,
      timeMajor,
      ...args
    }: Settings & States & { readonly timeMajor: boolean } & TensorArgs,
    { outputStateOut, cellStateOut }: Outputs,
    setup,
  ) {
    const cell = prepareCell(args, "", args, setup);
    return function* (read, bag) {
      const contributions = bag.tidy(() => contributionsOf([[read(input), cell.weights(read)]], timeMajor));
      const initial = [rank2(read(outputStateIn)), rank2(read(cellStateIn))];
      const { outputs, states } = yield* runSequence(contributions, initial, cell.step(read, bag), { timeMajor }, bag);
      return [outputs, outputStateOut && states[0], cellStateOut && states[1]];
    };
  },
});

interface Bidirectional extends Settings {
  readonly input: KernelTensor;
  readonly auxiliaryInput: KernelTensor | undefined;
  readonly timeMajor: boolean;
  readonly mergeOutputs: boolean;
}

export const bidirectionalSequenceLstm = steppedKernel({
  accepts: isFloat,
  dispatches: overTime(2 * DISPATCHES_OF_A_CELL),
  prepare(
    { input, auxiliaryInput, timeMajor, mergeOutputs, ...args }: Bidirectional & TensorArgs,
    outputs: Outputs,
    setup,
  ) {
    const forward = prepareCell(args, "fw", args, setup);
    const backward = prepareCell(args, "bw", args, setup);
    const linked = linkAuxiliary(input, auxiliaryInput, forward.auxiliaryWeights !== undefined);
    const run = (read: Read, cell: PreparedCell, seen: KernelTensor, prefix: string, backwards: boolean, bag: Bag) => {
      const { auxiliary } = linked;
      const initial = ["OutputStateIn", "CellStateIn"].map((name) =>
        rank2(read(requiredTensor(args, `${prefix}${name}`))),
      );
      const contributions = bag.tidy(() => {
        const extra = auxiliary && cell.auxiliaryWeights?.(read);
        const parts: [tf.Tensor, tf.Tensor2D][] = [[read(seen), cell.weights(read)]];
        if (auxiliary && extra) parts.push([read(auxiliary), extra]);
        return contributionsOf(parts, timeMajor);
      });
      return runSequence(contributions, initial, cell.step(read, bag), { timeMajor, backwards }, bag);
    };
    return function* (read, bag) {
      const fw = yield* run(read, forward, input, "fw", false, bag);
      const bw = yield* run(read, backward, linked.bwInput, "bw", true, bag);
      return [
        mergeOutputs ? bag.tidy(() => tf.concat([fw.outputs, bw.outputs], 2)) : fw.outputs,
        outputs.bwOutput && bw.outputs,
        outputs.fwOutputStateOut && fw.states[0],
        outputs.fwCellStateOut && fw.states[1],
        outputs.bwOutputStateOut && bw.states[0],
        outputs.bwCellStateOut && bw.states[1],
      ];
    };
  },
});
