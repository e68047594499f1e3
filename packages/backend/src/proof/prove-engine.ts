/** The self-check of engines of kernels that compute in float32. Each kind of computation is probed with the engine's own kernels. */
import { type AnyArgs, createData, elementCount, type Tensor } from "@nnhal/operations";
import { type Kernel, type KernelEngine, type KernelTable, kernelsByName } from "../kernels/kernel.ts";
import type { Processor } from "../processor.ts";
import {
  checkForms,
  type FormChoice,
  type FormFailures,
  type OutcomeStore,
  type Probe,
  type SelfCheck,
  versionSuffix,
} from "../self-check.ts";
import { type FunctionChain, functionChains, functions, type ProbeCase } from "./float32-cases.ts";
import { type ProbeArgument, runAlone } from "./run-alone.ts";
import { caseFailure, differenceOf, formsOfFunctions, formsOfKinds, functionKey, verdictOf } from "./verdict.ts";

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
  const { choices: found, refusalOf } = verdictOf(check);
  const choices = [...before, ...found];
  return {
    ...engine,
    version: `${engine.version}${versionSuffix(choices)}`,
    choices,
    kernels: addRefusal(engine.kernels, refusalOf),
  };
}

/** Adds a refusal to all kernels of a table. */
function addRefusal<Handle>(
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

/** A probe for each form, for each chain of functions, and for each other function that the engine has. */
function probesOf<Handle>(engine: TableEngine<Handle>): Probe[] {
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
  const inChains = functionChains.flatMap(({ names }) => names.map(functionKey));
  const alone = formsOfFunctions().filter(({ key }) => !inChains.includes(key));
  const others = [...formsOfKinds(), ...alone].map(({ key, cases }) => ({
    forms: [key],
    run: () => failuresOf(key, cases),
  }));
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
async function failureOf<Handle>(engine: TableEngine<Handle>, each: ProbeCase): Promise<string | undefined> {
  const kernel = kernelsByName(engine.kernels)[each.name];
  const seen = Object.fromEntries(Object.entries(each.args).map(([key, value]) => [key, showArgument(value)]));
  if (kernel === undefined || kernel.refuse?.(seen, { output: each.output }) !== undefined) return undefined;
  return caseFailure(each, await runAlone(engine, { ...each, kernel }));
}

/** An operand as `Kernel.refuse` sees it: the elements of constants are known. */
function showArgument(argument: ProbeArgument): ProbeArgument | Tensor {
  if (typeof argument !== "object" || argument.isConstant !== true) return argument;
  const data = createData(argument.type, elementCount(argument.dimensions));
  data.set(argument.elements);
  return { ...argument, data };
}
