/**
 * Vectors of 256 bits, in Node.js: V8 can join two neighbouring vectors of 128 bits ("revectorisation") if a flag of the process says so. The flag is
 * experimental, so it is set only if the option says so, and used only if it is proven and faster.
 */
import { caseFailure, type FormChoice, type ProbeCase } from "@nnhal/backend/proof";
import type { TensorInfo } from "@nnhal/operations";
import { type PreparedCases, type ProvenMachine, prepareCases } from "./self-check.ts";
import { setsWideFlag, wideFlag } from "./wide-flag.ts";

/** The flags of V8. */
export interface V8Flags {
  /** The version, such as "13.6.233.17-node.48". */
  readonly version: string;
  /** Those of the command line. */
  readonly given: readonly string[];
  set(flag: string): void;
}

/** The outcome. */
export interface WideVectors {
  readonly isWide: boolean;
  readonly choices: readonly FormChoice[];
  /** Lets V8 compile the modules of some work with its optimising compiler, which alone joins vectors. */
  optimise<Result>(work: () => Promise<Result>): Promise<Result>;
}

/** Older ones lack the flag, or join too little. */
const leastVersion = 13;

/** The flags of this process; undefined if it is not Node.js. */
export function flagsOfProcess(): V8Flags | undefined {
  const v8 = globalThis.process?.getBuiltinModule?.("node:v8");
  const version = globalThis.process?.versions?.v8;
  if (v8 === undefined || version === undefined) return undefined;
  return { version, given: globalThis.process.execArgv, set: (each) => v8.setFlagsFromString(each) };
}

/** Sets the flag, and takes it back if what it does is wrong or not faster. */
export async function openWide(machine: ProvenMachine, flags = flagsOfProcess()): Promise<WideVectors> {
  const subject = "vectors";
  const plain = (reason: string): WideVectors => ({
    isWide: false,
    choices: [{ subject, chosen: "128 bits", reason }],
    optimise: (work) => work(),
  });
  if (flags === undefined) return plain("only Node.js can join them");
  if (!(Number.parseInt(flags.version, 10) >= leastVersion)) {
    return plain(`V8 ${flags.version} cannot join them; Node.js 24 or newer can`);
  }
  const optimise = <Result>(work: () => Promise<Result>) => withoutBaseline(flags, work);
  let expected: Results;
  try {
    // Not optimised, so that nothing is joined.
    expected = await computeOnce({ ...machine, isWide: false });
  } catch (error) {
    return plain(`even apart, they cannot be compiled: ${messageOf(error)}`);
  }
  flags.set(wideFlag);
  const fault = await optimise(() => findFault(machine, expected));
  if (fault === undefined) return { isWide: true, choices: [{ subject, chosen: "256 bits" }], optimise };
  if (!setsWideFlag(flags.given)) flags.set(wideFlag.replace("--", "--no-"));
  return plain(fault);
}

/** Compiles without the baseline compiler meanwhile. V8 compiles a function when it is called first. */
async function withoutBaseline<Result>(flags: V8Flags, work: () => Promise<Result>): Promise<Result> {
  if (flags.given.some((each) => each.includes("liftoff"))) return work();
  flags.set("--no-liftoff");
  try {
    return await work();
  } finally {
    flags.set("--liftoff");
  }
}

type Results = ReadonlyMap<ProbeCase, ArrayLike<number>>;

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

async function computeOnce(machine: ProvenMachine): Promise<Results> {
  const prepared = await prepareCases(machine, cases);
  prepared.compute();
  prepared.close();
  return prepared.results();
}

/** Why joined vectors are not used: they compute something else, or are not faster. Undefined if they are. */
async function findFault(machine: ProvenMachine, expected: Results): Promise<string | undefined> {
  try {
    const results = await computeOnce({ ...machine, isWide: true });
    for (const [each, numbers] of expected) {
      const failure = caseFailure({ ...each, expected: Array.from(numbers) }, results.get(each) ?? []);
      if (failure !== undefined) return `joined, they compute something else: ${each.name}: ${failure}`;
    }
    const [wide, narrow] = await Promise.all(
      [true, false].map((isWide) => prepareCases({ ...machine, team: undefined, isWide }, [large])),
    );
    return wide && narrow && leastTime(wide, narrow);
  } catch (error) {
    return `joined, they cannot be compiled: ${messageOf(error)}`;
  }
}

/** Turns in which the faster one shows, though others use the processor. */
const turns = 20;

function leastTime(wide: PreparedCases, narrow: PreparedCases): string | undefined {
  const least = [wide, narrow].map(() => Number.POSITIVE_INFINITY);
  for (let turn = 0; turn < turns; turn++) {
    for (const [place, { compute }] of [wide, narrow].entries()) {
      const start = performance.now();
      compute();
      least[place] = Math.min(least[place] ?? 0, performance.now() - start);
    }
  }
  for (const each of [wide, narrow]) each.close();
  const [joined = 0, apart = 0] = least;
  if (joined < apart) return undefined;
  return `joined, they are not faster: ${joined.toFixed(3)} ms instead of ${apart.toFixed(3)} ms`;
}

const infoOf = (type: TensorInfo["type"], dimensions: readonly number[], scale = 0, zeroPoint = 0): TensorInfo => ({
  type,
  dimensions,
  scale,
  zeroPoint,
});

/** Elements of all sizes, in no order. */
const elementsOf = (dimensions: readonly number[], least: number, count: number) =>
  Array.from(
    { length: dimensions.reduce((all, extent) => all * extent, 1) },
    (_, place) => least + ((place * 97 + 31) % count),
  );

const floats = (dimensions: readonly number[], isConstant = false) => ({
  ...infoOf("TENSOR_FLOAT32", dimensions),
  elements: elementsOf(dimensions, -50, 101).map((each) => each / 64),
  isConstant,
});
const bytes = (dimensions: readonly number[], isConstant = false) => ({
  ...infoOf("TENSOR_QUANT8_ASYMM", dimensions, 0.5, 120),
  elements: elementsOf(dimensions, 0, 256),
  isConstant,
});
const biasOf = (count: number) => ({
  ...infoOf("TENSOR_INT32", [count], 0.25),
  elements: elementsOf([count], -500, 1000),
  isConstant: true,
});

const window = {
  ...{ paddingLeft: 1, paddingRight: 1, paddingTop: 1, paddingBottom: 1, strideWidth: 1, strideHeight: 1 },
  ...{ dilationWidth: 1, dilationHeight: 1, nchw: false },
};

/** A FULLY_CONNECTED of noise. */
export function connectCase(
  isFloat: boolean,
  rows: number,
  depth: number,
  columns: number,
  activation: number,
): ProbeCase {
  const of = isFloat ? floats : bytes;
  return {
    name: "FULLY_CONNECTED",
    args: {
      input: of([rows, depth]),
      weights: of([columns, depth], true),
      bias: isFloat ? floats([columns], true) : biasOf(columns),
      activation,
    },
    output: infoOf(
      isFloat ? "TENSOR_FLOAT32" : "TENSOR_QUANT8_ASYMM",
      [rows, columns],
      isFloat ? 0 : 40,
      isFloat ? 0 : 130,
    ),
    expected: [],
  };
}

/** A DEPTHWISE_CONV_2D of 3x3 of noise, with padding SAME. */
export function depthwiseCase(isFloat: boolean, side: number, channels: number, activation: number): ProbeCase {
  const of = isFloat ? floats : bytes;
  return {
    name: "DEPTHWISE_CONV_2D",
    args: {
      input: of([1, side, side, channels]),
      filter: of([1, 3, 3, channels], true),
      bias: isFloat ? floats([channels], true) : biasOf(channels),
      ...window,
      depthMultiplier: 1,
      activation,
    },
    output: infoOf(
      isFloat ? "TENSOR_FLOAT32" : "TENSOR_QUANT8_ASYMM",
      [1, side, side, channels],
      isFloat ? 0 : 20,
      isFloat ? 0 : 130,
    ),
    expected: [],
  };
}

/** Whole tiles, rows and columns that are left, and borders; with the activations NONE and RELU6. */
const cases: readonly ProbeCase[] = [true, false].flatMap((isFloat) => [
  ...[0, 3].flatMap((activation) => [
    connectCase(isFloat, 13, 39, 53, activation),
    connectCase(isFloat, 3, 16, 40, activation),
    depthwiseCase(isFloat, 7, 29, activation),
  ]),
]);

/** A product that takes some hundredths of a millisecond. */
const large = connectCase(true, 40, 256, 64, 0);
