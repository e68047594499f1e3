/**
 * The self-check of engines of kernels that compute in float32. Each kind of computation is probed with the engine's own kernels. What fails
 * is refused, or stated if the HAL leaves it open.
 */
import { type AnyArgs, createData, elementCount, isExtensionType, type Tensor } from "@nnhal/operations";
import { operandTypes } from "@nnhal/types";
import { type Kernel, type KernelEngine, type KernelTable, kernelsByName } from "../kernels/kernel.ts";
import type { Processor } from "../processor.ts";
import {
  checkForms,
  choiceRefusal,
  chooseForm,
  type FormChoice,
  type FormFailures,
  type OutcomeStore,
  type Probe,
  type SelfCheck,
  versionSuffix,
} from "../self-check.ts";
import {
  digits,
  type FunctionChain,
  functionChains,
  functions,
  infinities,
  layersOf8Bits,
  longSums,
  numbersOf8Bits,
  type ProbeCase,
  tinyNumbers,
} from "./float32-cases.ts";
import { type ProbeArgument, runAlone } from "./run-alone.ts";

/** The engines that can be proven: kernels by the names of their operations. */
export type TableEngine<Handle> = KernelEngine<Handle> & { readonly kernels: KernelTable<Handle> };

/** Options of the self-check of an engine. */
export interface ProofOptions {
  /** The processor that computes: that of the machine, or of a graphics adapter. */
  readonly processor: Processor;
  /** See `OpenOptions.outcomes`. */
  readonly outcomes?: OutcomeStore | undefined;
  /** Choices that were made before, such as the layout of threads. Default: none. */
  readonly choices?: readonly FormChoice[];
}

/** A kind of computation: its forms, best first, each with the cases that prove it, and the operations that need one that holds. */
interface Kind {
  readonly subject: string;
  /** A form without cases always holds. */
  readonly forms: Readonly<Record<string, readonly ProbeCase[]>>;
  /** Returns whether an operation is refused if no form holds. Default: none is refused. */
  needs?(name: string, args: AnyArgs, outputs: AnyArgs): boolean;
}

const layers: readonly string[] = [
  "CONV_2D",
  "DEPTHWISE_CONV_2D",
  "FULLY_CONNECTED",
  "GROUPED_CONV_2D",
  "TRANSPOSE_CONV_2D",
];

const kinds: readonly Kind[] = [
  { subject: "float32 numbers", forms: { "of 24 digits": digits }, needs: () => true },
  {
    subject: "long sums",
    forms: { "in float32": longSums },
    needs: (name) => layers.includes(name) || name === "MEAN" || name.startsWith("REDUCE_"),
  },
  {
    subject: "8-bit layers",
    forms: { "of whole numbers in float32": layersOf8Bits },
    needs: (name, args) => layers.includes(name) && hasQuantised(args),
  },
  {
    subject: "8-bit numbers",
    forms: { "as real numbers": numbersOf8Bits },
    needs: (_, args, outputs) => hasQuantised(args) || hasQuantised(outputs),
  },
  { subject: "infinities and NaN", forms: { kept: infinities, "not kept": [] } },
  { subject: "numbers below 2^-126 and -0", forms: { kept: tinyNumbers, "flushed to 0": [] } },
];

/** The name of a form of a kind in the outcome. */
const keyOf = (subject: string, form: string) => `${subject} ${form}`;

/** The key of a function in the outcome. */
const functionKey = (name: string) => `function ${name}`;

/** Proves an engine. Returns an engine that refuses operations found wrong and has the choices in its version. */
export async function proveEngine<Handle>(
  engine: TableEngine<Handle>,
  { processor, outcomes, choices: before = [] }: ProofOptions,
): Promise<TableEngine<Handle>> {
  const check = await checkForms({ engine: engine.version, processor, probes: probesOf(engine), outcomes });
  return engineWith(engine, check, before);
}

/** An engine with the outcome of a self-check. */
function engineWith<Handle>(
  engine: TableEngine<Handle>,
  check: SelfCheck,
  before: readonly FormChoice[] = [],
): TableEngine<Handle> {
  const chosen = kinds.map((kind) => ({ kind, choice: choiceOf(kind, check) }));
  const wrong = functions.flatMap(({ name }) => {
    const choice = chooseForm(`results of ${name}`, [functionKey(name)], check);
    return choice.reason === undefined ? [] : [{ name, choice }];
  });
  const choices = [...before, ...chosen.map(({ choice }) => choice), ...wrong.map(({ choice }) => choice)];
  const refusal = (name: string, args: AnyArgs, outputs: AnyArgs): string | undefined => {
    const needed = chosen.find(
      ({ kind, choice }) => choice.chosen === undefined && kind.needs?.(name, args, outputs) === true,
    );
    const own = wrong.find((each) => each.name === name);
    const choice = needed?.choice ?? own?.choice;
    return choice && choiceRefusal(choice);
  };
  return {
    ...engine,
    version: `${engine.version}${versionSuffix(choices)}`,
    choices,
    kernels: refusing(engine.kernels, refusal),
  };
}

function choiceOf({ subject, forms }: Kind, check: SelfCheck): FormChoice {
  const names = Object.keys(forms);
  const failures = Object.fromEntries(names.map((form) => [form, check.failures[keyOf(subject, form)]]));
  return chooseForm(subject, names, { ...check, failures });
}

/** Adds a refusal to all kernels of a table. */
function refusing<Handle>(
  table: KernelTable<Handle>,
  refusal: (name: string, args: AnyArgs, outputs: AnyArgs) => string | undefined,
): KernelTable<Handle> {
  const kernels = Object.entries(kernelsByName(table)).map(([name, kernel]) => {
    if (kernel === undefined) return [name, kernel] as const;
    const refuse: Kernel<Handle>["refuse"] = (args, outputs) =>
      refusal(name, args, outputs) ?? kernel.refuse?.(args, outputs);
    return [name, { ...kernel, refuse }] as const;
  });
  // Each kernel keeps the name of its operation; the compiler cannot infer this from the entries.
  return Object.fromEntries(kernels) as KernelTable<Handle>;
}

function hasQuantised(args: AnyArgs): boolean {
  return Object.values(args)
    .flat()
    .some((value) => {
      if (typeof value !== "object" || value === null || !("type" in value)) return false;
      const { type } = value;
      if (isExtensionType(type)) return false;
      const { quantisation } = operandTypes[type];
      return quantisation === "asymmetric" || quantisation === "symmetric" || quantisation === "perChannel";
    });
}

/** A probe for each form, for each chain of functions, and for each other function that the engine has. */
function probesOf<Handle>(engine: TableEngine<Handle>): Probe[] {
  const forms = kinds.flatMap(({ subject, forms }) =>
    Object.entries(forms).map(([form, cases]) => ({ key: keyOf(subject, form), cases })),
  );
  const failuresOf = async (key: string, cases: readonly ProbeCase[]): Promise<FormFailures> => {
    for (const each of cases) {
      const failure = await failureOf(engine, each);
      if (failure !== undefined) return { [key]: failure };
    }
    return {};
  };
  const chains = functionChains.map((chain): Probe => {
    const own = functions.filter(({ name }) => chain.names.includes(name));
    return {
      forms: own.map(({ name }) => functionKey(name)),
      async run() {
        if (await holds(engine, chain)) return {};
        let failures: FormFailures = {};
        for (const each of own) failures = { ...failures, ...(await failuresOf(functionKey(each.name), [each])) };
        return failures;
      },
    };
  });
  const alone = functions
    .filter(({ name }) => !functionChains.some(({ names }) => names.includes(name)))
    .map((each) => ({ key: functionKey(each.name), cases: [each] }));
  const others = [...forms, ...alone].map(({ key, cases }) => ({ forms: [key], run: () => failuresOf(key, cases) }));
  return [...others, ...chains];
}

/** Returns whether the engine computes a chain of functions correctly in one kernel. If not, each is probed alone. */
async function holds<Handle>(engine: TableEngine<Handle>, { first, following }: FunctionChain): Promise<boolean> {
  const kernels = kernelsByName(engine.kernels);
  const kernel = kernels[first.name];
  if (kernel?.leads !== true || following.some(({ name }) => kernels[name]?.follows === undefined)) return false;
  const { expected, allowance } = first;
  try {
    const elements = await runAlone(engine, { ...first, kernel, following });
    return differenceOf(first.name, expected, elements, allowance) === undefined;
  } catch {
    return false;
  }
}

/**
 * Describes the error in the engine's result of a case; undefined if it is correct, or if the engine does not have the
 * operation.
 */
async function failureOf<Handle>(
  engine: TableEngine<Handle>,
  { name, expected, orElse, allowance = 0, ...operation }: ProbeCase,
): Promise<string | undefined> {
  const kernel = kernelsByName(engine.kernels)[name];
  const seen = Object.fromEntries(Object.entries(operation.args).map(([key, value]) => [key, seenOf(value)]));
  if (kernel === undefined || kernel.refuse?.(seen, { output: operation.output }) !== undefined) return undefined;
  const elements = await runAlone(engine, { ...operation, kernel });
  const failure = differenceOf(name, expected, elements, allowance);
  return orElse !== undefined && differenceOf(name, orElse, elements, allowance) === undefined ? undefined : failure;
}

/** An operand as `Kernel.refuse` sees it: the elements of constants are known. */
function seenOf(argument: ProbeArgument): ProbeArgument | Tensor {
  if (typeof argument !== "object" || argument.isConstant !== true) return argument;
  const data = createData(argument.type, elementCount(argument.dimensions));
  data.set(argument.elements);
  return { ...argument, data };
}

/** The first element that differs, as text. An allowance of 0 means equal to the bit. */
export function differenceOf(
  name: string,
  expected: readonly number[],
  elements: ArrayLike<number>,
  allowance = 0,
): string | undefined {
  if (elements.length !== expected.length) {
    return `${name}: expected ${expected.length} elements, got ${elements.length}`;
  }
  for (const [place, right] of expected.entries()) {
    const given = elements[place] ?? Number.NaN;
    const isRight =
      allowance === 0
        ? Object.is(given, right)
        : Math.abs(given - right) <= allowance * Math.max(1, Math.abs(right)) || Object.is(given, right);
    if (!isRight) return `${name}: expected ${shown(right)}, got ${shown(given)}`;
  }
  return undefined;
}

function shown(value: number): string {
  return Object.is(value, -0) ? "-0" : `${value}`;
}
