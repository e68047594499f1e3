/**
 * A step of an LSTM cell.
 */
import type { Tensor } from "../tensor.ts";
import { cellActivation, sigmoid } from "./_gate-activation.ts";
import type { Gate, LstmCell, LstmSettings, LstmSizes } from "./_lstm.ts";
import { type Product, plainProduct } from "./_matrix.ts";
import type { StepPart } from "./_time-steps.ts";

/** State of one batch of a cell, changed by every step. */
export interface LstmState {
  /** [outputs] */
  readonly output: Float64Array;
  /** [units] */
  readonly cell: Float64Array;
}

type LstmPart = StepPart<LstmState>;

/**
 * A step of a cell, in parts that run one after the other:
 *
 *     i = σ(Wi·x + Ri·h + Pi∘c + bi)        (CIFG: 1 − f)
 *     f = σ(Wf·x + Rf·h + Pf∘c + bf)
 *     c' = clip(f∘c + i∘act(Wc·x + Rc·h + bc))
 *     o = σ(Wo·x + Ro·h + Po∘c' + bo)
 *     h' = clip(Wp·(o∘act(c')) + bp)        (without projection: o∘act(c'))
 *
 * With layer normalisation the sums before the bias are normalised and weighted. `product`: how matrices are multiplied with vectors.
 */
export function lstmStep(
  { inputGate, forgetGate, cellGate, outputGate, projection, projectionBias }: LstmCell,
  { units, outputs }: LstmSizes,
  { activation, cellClip, projectionClip }: LstmSettings,
  product: Product = plainProduct,
): readonly LstmPart[] {
  const activate = cellActivation(activation);
  const [i, f, c, o] = Array.from({ length: 4 }, () => new Float64Array(units));
  /** The sums of a gate: W·x + R·h + P∘c + b */
  const sum =
    (sums: Float64Array, gate: Gate): LstmPart =>
    (x, aux, state) => {
      sums.fill(0);
      product(sums, gate.input, x.data, x.offset);
      if (aux !== undefined && gate.auxiliary !== undefined) product(sums, gate.auxiliary, aux.data, aux.offset);
      product(sums, gate.recurrent, state.output, 0);
      if (gate.cell !== undefined) for (let u = 0; u < units; u++) sums[u] += gate.cell.data[u] * state.cell[u];
      if (gate.norm !== undefined) normalise(sums, gate.norm);
      for (let u = 0; u < units; u++) sums[u] += gate.bias.data[u];
    };
  const updateCell: LstmPart = (_x, _aux, { cell }) => {
    for (let u = 0; u < units; u++) {
      const forget = sigmoid(f[u]);
      const take = inputGate === undefined ? 1 - forget : sigmoid(i[u]);
      cell[u] = clip(forget * cell[u] + take * activate(c[u]), cellClip);
    }
  };
  const showOutput: LstmPart = (_x, _aux, { cell, output }) => {
    for (let u = 0; u < units; u++) o[u] = sigmoid(o[u]) * activate(cell[u]);
    output.set(projection === undefined ? o : (projectionBias?.data ?? new Float64Array(outputs)));
    if (projection === undefined) return;
    product(output, projection, o, 0);
    for (let at = 0; at < outputs; at++) output[at] = clip(output[at], projectionClip);
  };
  const gates = [sum(f, forgetGate), sum(c, cellGate), updateCell, sum(o, outputGate), showOutput];
  return inputGate === undefined ? gates : [sum(i, inputGate), ...gates];
}

/** A limit of 0 is off. */
function clip(value: number, limit: number): number {
  return limit === 0 ? value : Math.min(limit, Math.max(-limit, value));
}

/** Added to the variance, so that a constant vector can be normalised. */
const LEAST_VARIANCE = 1e-8;

/** (x − mean) / √variance · weight */
function normalise(values: Float64Array, weights: Tensor): void {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  const factor = 1 / Math.sqrt(variance + LEAST_VARIANCE);
  for (let at = 0; at < values.length; at++) values[at] = (values[at] - mean) * factor * weights.data[at];
}
