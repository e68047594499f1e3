/**
 * The self-check of the engine: computations with known results go the way of a network, from the plan to the module, all in one. So it proves the
 * instructions that the backend writes, on the processor and the compiler at hand.
 */
import type { KernelTensor, OpenOptions } from "@nnhal/backend";
import {
  caseFailure,
  checkForms,
  currentProcessor,
  type FormFailures,
  formsOfFunctions,
  formsOfKinds,
  type ProbeCase,
  type ProvenForm,
  type SelfCheck,
} from "@nnhal/backend/proof";
import { type AnyArgs, createData, elementAt, elementCount } from "@nnhal/operations";
import { createBuilder, outputOf } from "./plan/builder.ts";
import { fuseSteps, withoutDead } from "./plan/fuse.ts";
import { halLowerings } from "./plan/lowerings.ts";
import { layOutMemory } from "./plan/memory.ts";
import type { Plan, Port } from "./plan/plan.ts";
import { portOf } from "./plan/plan-graph.ts";
import { Refusal } from "./plan/refusal.ts";
import type { TileSums } from "./plan/tiles.ts";
import { compiledPlan, findComputeSteps, type Machine } from "./program.ts";

/** The parts of a machine that are proven. */
export type ProvenMachine = Omit<Machine, "lowerings">;

/** Proves the engine, or takes the outcome that is kept for it and this processor. */
export function checkEngine(
  machine: ProvenMachine,
  engine: string,
  { outcomes }: OpenOptions = {},
): Promise<SelfCheck> {
  const forms = [...formsOfKinds(), ...formsOfFunctions()];
  const probe = { forms: forms.map(({ key }) => key), run: () => failuresOf(machine, forms) };
  return checkForms({ engine, processor: currentProcessor(), probes: [probe], outcomes });
}

/** The failures of forms. If all together cannot be computed, each case runs alone, and those that cannot be computed fail with the reason. */
async function failuresOf(machine: ProvenMachine, forms: readonly ProvenForm[]): Promise<FormFailures> {
  const cases = forms.flatMap((form) => form.cases);
  let results = new Map<ProbeCase, ArrayLike<number> | Error>();
  try {
    results = await resultsOf(machine, cases);
  } catch {
    for (const each of cases) {
      const alone = await resultsOf(machine, [each]).catch((error: unknown) => new Map([[each, errorOf(error)]]));
      results = new Map<ProbeCase, ArrayLike<number> | Error>([...results, ...alone]);
    }
  }
  const failures: { [key: string]: string } = {};
  for (const { key, cases } of forms) {
    for (const each of cases) {
      const result = results.get(each);
      const failure = result instanceof Error ? `${each.name}: ${result.message}` : result && caseFailure(each, result);
      if (failure !== undefined) failures[key] ??= failure;
    }
  }
  return failures;
}

function errorOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

/** The results of cases. A case that the planner refuses has none: no network has what it would prove. */
async function resultsOf(
  machine: ProvenMachine,
  cases: readonly ProbeCase[],
): Promise<Map<ProbeCase, ArrayLike<number>>> {
  const prepared = await prepareCases(machine, cases);
  prepared.compute();
  prepared.close();
  return prepared.results();
}

/** A compiled plan of cases. */
export interface PreparedCases {
  compute(): void;
  /** Those of the last time. */
  results(): Map<ProbeCase, ArrayLike<number>>;
  close(): void;
}

/** Compiles one plan of all cases that the planner has. */
export async function prepareCases(machine: ProvenMachine, cases: readonly ProbeCase[]): Promise<PreparedCases> {
  const { team, isWide, tiles } = machine;
  const { plan, given, results } = planOf(cases, team?.threads, isWide, tiles?.sums());
  // Each step is divided, however little work it has.
  const program = await compiledPlan({ ...machine, team: team && { ...team, leastWork: 0 } }, plan);
  const { memory, steps } = program;
  for (const { port, elements } of given) {
    const data = createData(port.info.type, elementCount(port.info.dimensions));
    data.set(elements);
    memory.set(
      new Uint8Array(data.buffer, data.byteOffset, data.byteLength),
      elementAt(plan.regions, port.region).address,
    );
  }
  return {
    compute() {
      for (const { units, compute } of findComputeSteps(steps)) compute(0, units);
    },
    results: () =>
      new Map(
        results.map(([each, { region, info, bytes }]) => {
          const { address } = elementAt(plan.regions, region);
          const data = createData(info.type, elementCount(info.dimensions));
          new Uint8Array(data.buffer).set(memory.subarray(address, address + bytes));
          return [each, Array.from(data, Number)];
        }),
      ),
    close: () => program.close(),
  };
}

/** An input of the plan with its elements. */
interface Given {
  readonly port: Port;
  readonly elements: ArrayLike<number>;
}

/** One plan of all cases that the planner has. */
function planOf(cases: readonly ProbeCase[], threads = 1, isWide = false, tileSums?: TileSums) {
  const builder = createBuilder({ threads, isWide, ...(tileSums && { tileSums }) });
  const given: Given[] = [];
  const results: [ProbeCase, Port][] = [];
  let count = 0;
  for (const each of cases) {
    // In a browser the definition may not be loaded.
    const lowering = halLowerings(each);
    if (lowering === undefined) continue;
    const own: Given[] = [];
    const args: AnyArgs = Object.fromEntries(
      Object.entries(each.args).map(([name, value]) => {
        if (typeof value !== "object") return [name, value];
        const { elements, isConstant = false, ...info } = value;
        const tensor: KernelTensor = { ...info, index: count++ };
        if (isConstant) {
          const data = createData(info.type, elementCount(info.dimensions));
          data.set(elements);
          return [name, { ...tensor, data }];
        }
        const { region } = outputOf(builder, info);
        builder.places.set(tensor.index, region);
        own.push({ port: portOf(region, info), elements });
        return [name, tensor];
      }),
    );
    builder.begin({ name: each.name });
    try {
      const planned = lowering(args, { output: each.output }, builder);
      const { region } = "region" in planned ? planned : elementAt(planned, 0);
      results.push([each, portOf(region, each.output)]);
      given.push(...own);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
    }
  }
  const wanted = new Set(results.map(([, { region }]) => region));
  const steps = fuseSteps(withoutDead(builder.steps, wanted), wanted);
  const inputs = given.map(({ port }) => port);
  const layout = layOutMemory(
    builder.regions,
    steps,
    inputs.map(({ region }) => region),
    wanted,
  );
  const plan: Plan = { ...layout, steps, inputs, outputs: results.map(([, port]) => port), threads, isWide };
  return { plan, given, results };
}
