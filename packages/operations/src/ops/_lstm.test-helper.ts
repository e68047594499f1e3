/**
 * One step of an LSTM cell in float64 on plain arrays, for the tests of every LSTM; and the names of its operands.
 */

const directions = ["Input", "Forget", "Cell", "Output"] as const;
type GateName = (typeof directions)[number];

/** Names of a cell's weights and biases, in the HAL's order. */
export const cellNames = [
  ...directions.map((gate) => `inputTo${gate}Weights`),
  ...directions.map((gate) => `recurrentTo${gate}Weights`),
  "cellToInputWeights",
  "cellToForgetWeights",
  "cellToOutputWeights",
  "inputGateBias",
  "forgetGateBias",
  "cellBias",
  "outputGateBias",
  "projectionWeights",
  "projectionBias",
];

/** Names of a cell's normalisation weights. */
export const normNames = directions.map((gate) => `${gate.toLowerCase()}LayerNormWeights`);

/** Names of a cell's weights of the auxiliary input. */
export const auxiliaryNames = directions.map((gate) => `auxiliaryTo${gate}Weights`);

/** Sizes and optional parts of a cell. */
export interface CellShape {
  readonly inputs: number;
  readonly units: number;
  /** Other than `units` only with a projection. */
  readonly outputs?: number;
  readonly auxiliaries?: number;
  readonly coupled?: boolean;
  readonly peephole?: boolean;
  readonly projection?: "plain" | "biased";
  readonly norm?: boolean;
}

/** The shape of an operand of a cell; undefined where the cell has none by that name. */
export function shapeOfOperand(name: string, cell: CellShape): number[] | undefined {
  const { inputs, units, outputs = units, auxiliaries } = cell;
  if (cell.coupled && /ToInputWeights|inputGateBias|inputLayerNorm/.test(name)) return undefined;
  if (name.startsWith("inputTo")) return [units, inputs];
  if (name.startsWith("recurrentTo")) return [units, outputs];
  if (name.startsWith("auxiliaryTo")) return auxiliaries === undefined ? undefined : [units, auxiliaries];
  if (name.startsWith("cellTo")) return cell.peephole ? [units] : undefined;
  if (name.endsWith("LayerNormWeights")) return cell.norm ? [units] : undefined;
  if (name === "projectionWeights") return cell.projection ? [outputs, units] : undefined;
  if (name === "projectionBias") return cell.projection === "biased" ? [outputs] : undefined;
  return [units];
}

/** Real values of a cell's operands by name. */
export type CellValues = Readonly<Record<string, readonly number[] | undefined>>;

/** Settings of a step beside the cell. */
export interface StepSettings {
  readonly activate?: (x: number) => number;
  readonly cellClip?: number;
  readonly projectionClip?: number;
  readonly auxiliary?: readonly number[];
}

/** Output and cell state after a step from the states `h` and `c` with the input `x`. */
export function lstmFormula(
  cell: CellValues,
  x: readonly number[],
  h: readonly number[],
  c: readonly number[],
  { activate = Math.tanh, cellClip = 0, projectionClip = 0, auxiliary = [] }: StepSettings = {},
): { readonly output: number[]; readonly cell: number[] } {
  const sigma = (value: number) => 1 / (1 + Math.exp(-value));
  const gate = (name: GateName, state: readonly number[]) => {
    const lower = name.toLowerCase();
    const peephole = name === "Cell" ? undefined : cell[`cellTo${name}Weights`];
    const bias = cell[name === "Cell" ? "cellBias" : `${lower}GateBias`];
    const norm = cell[`${lower}LayerNormWeights`];
    let sums = c.map(
      (_, unit) =>
        dot(cell[`inputTo${name}Weights`], unit, x) +
        dot(cell[`recurrentTo${name}Weights`], unit, h) +
        dot(cell[`auxiliaryTo${name}Weights`], unit, auxiliary) +
        (peephole ? peephole[unit] * state[unit] : 0),
    );
    if (norm) {
      const mean = sums.reduce((a, b) => a + b) / sums.length;
      const variance = sums.reduce((total, value) => total + (value - mean) ** 2, 0) / sums.length;
      sums = sums.map((value, unit) => ((value - mean) / Math.sqrt(variance)) * norm[unit]);
    }
    return sums.map((value, unit) => value + (bias?.[unit] ?? 0));
  };
  const clip = (value: number, limit: number) => (limit > 0 ? Math.max(-limit, Math.min(limit, value)) : value);
  const keep = gate("Forget", c).map(sigma);
  const take = cell.inputToInputWeights ? gate("Input", c).map(sigma) : keep.map((value) => 1 - value);
  const proposal = gate("Cell", c).map(activate);
  const state = c.map((value, unit) => clip(keep[unit] * value + take[unit] * proposal[unit], cellClip));
  const hidden = gate("Output", state).map((value, unit) => sigma(value) * activate(state[unit]));
  if (cell.projectionWeights === undefined) return { output: hidden, cell: state };
  const output = h.map((_, index) =>
    clip(dot(cell.projectionWeights, index, hidden) + (cell.projectionBias?.[index] ?? 0), projectionClip),
  );
  return { output, cell: state };
}

/** A row of a matrix times a vector; 0 where there is no matrix. */
function dot(matrix: readonly number[] | undefined, row: number, vector: readonly number[]): number {
  if (matrix === undefined) return 0;
  return vector.reduce((sum, value, column) => sum + value * matrix[row * vector.length + column], 0);
}
