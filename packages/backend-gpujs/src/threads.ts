/**
 * Chooses the number of elements per thread. Four is faster; one is used if the compiler or driver computes four
 * incorrectly. The probe is a layer of a few rows with a residual in the same kernel, which is read at the index of
 * each thread.
 */
import { type FormChoice, type KernelTable, kernelsByName } from "@nnhal/backend";
import {
  checkForms,
  choiceRefusal,
  chooseForm,
  differenceOf,
  type Probe,
  type ProbeFollowing,
  type ProbeOperation,
  type ProofOptions,
  runAlone,
  type SelfCheck,
  type TableEngine,
} from "@nnhal/backend/proof";
import type { TensorInfo } from "@nnhal/operations";
import type { Machine, Value } from "./machine/machine.ts";

type Engine = TableEngine<Value>;

const SUBJECT = "elements of layers per thread";
const forms = ["four", "one"] as const;
type ThreadForm = (typeof forms)[number];

/** A machine whose threads compute one element. */
export function withOneElement(machine: Machine): Machine {
  return { ...machine, vectors: Number.POSITIVE_INFINITY, packs: false, groups: false };
}

/** The engine of the first form that holds, and the choice. Without one, all layers are refused. */
export async function chooseThreads(
  machine: Machine,
  engineOn: (machine: Machine) => Engine,
  { processor, outcomes }: ProofOptions,
): Promise<{ readonly engine: Engine; readonly choice: FormChoice }> {
  const engines: Readonly<Record<ThreadForm, Engine>> = {
    four: engineOn(machine),
    one: engineOn(withOneElement(machine)),
  };
  const probe: Probe<ThreadForm> = {
    forms,
    async run() {
      const four = await residualFailure(engines.four);
      return four === undefined ? {} : { four, one: await residualFailure(engines.one) };
    },
  };
  const check = await checkForms({ engine: `${engines.four.version} threads`, processor, probes: [probe], outcomes });
  return threadsOf(engines, check);
}

/** The engine and the choice of an outcome. */
export function threadsOf(
  engines: Readonly<Record<ThreadForm, Engine>>,
  check: SelfCheck<ThreadForm>,
): { readonly engine: Engine; readonly choice: FormChoice } {
  const choice = chooseForm(SUBJECT, forms, check);
  const { chosen } = choice;
  return { engine: chosen === undefined ? withoutLayers(engines.one, choice) : engines[chosen], choice };
}

/** An engine that refuses each operation in whose kernel another one can follow. */
function withoutLayers(engine: Engine, choice: FormChoice): Engine {
  const kernels = Object.entries(kernelsByName(engine.kernels)).map(([name, kernel]) => [
    name,
    kernel?.leads === true ? { ...kernel, refuse: () => choiceRefusal(choice) } : kernel,
  ]);
  // Each kernel keeps the name of its operation; the compiler cannot infer this from the entries.
  return { ...engine, kernels: Object.fromEntries(kernels) as KernelTable<Value> };
}

/** The extents of the layer: fewer rows than form groups, and enough products for four elements per thread in each mode. */
const [ROWS, UNITS, DEPTH] = [3, 16, 64];

/** Whole numbers from -2 to 2. */
const numbers = (count: number, step: number) =>
  Array.from({ length: count }, (_, place) => (((place + 1) * step) % 5) - 2);

const float = (...dimensions: number[]): TensorInfo => ({ type: "TENSOR_FLOAT32", dimensions, scale: 0, zeroPoint: 0 });

/** Describes the error in the result of a layer with a following sum in its kernel; undefined if it is correct. */
async function residualFailure(engine: Engine): Promise<string | undefined> {
  const kernel = kernelsByName(engine.kernels).FULLY_CONNECTED;
  if (kernel === undefined) return undefined;
  const input = { ...float(ROWS, DEPTH), elements: numbers(ROWS * DEPTH, 7) };
  const weights = { ...float(UNITS, DEPTH), elements: numbers(UNITS * DEPTH, 3), isConstant: true };
  const bias = { ...float(UNITS), elements: numbers(UNITS, 9), isConstant: true };
  const second = { ...float(ROWS, UNITS), elements: numbers(ROWS * UNITS, 11) };
  const output = float(ROWS, UNITS);
  const layer: ProbeOperation = { args: { input, weights, bias, activation: 0 }, output };
  const sum: ProbeFollowing = { name: "ADD", args: { right: second, activation: 0 }, output, chained: "left" };
  const elements = await runAlone(engine, { kernel, ...layer, following: [sum] });
  const expected = second.elements.map((residual, place) => {
    const [row, unit] = [Math.floor(place / UNITS), place % UNITS];
    const products = Array.from({ length: DEPTH }, (_, at) => {
      return (input.elements[row * DEPTH + at] ?? 0) * (weights.elements[unit * DEPTH + at] ?? 0);
    });
    return products.reduce((total, each) => total + each, bias.elements[unit] ?? 0) + residual;
  });
  return differenceOf("FULLY_CONNECTED and ADD", expected, elements, Number.EPSILON);
}
