/**
 * A graph made ready to run: what can be decided before the first execution is decided here.
 */
import type { GraphView, OperandView, OperationView } from "@nnhal/backend";
import {
  bindArguments,
  inferOutputs,
  isInferable,
  OperationError,
  type OutputInfo,
  type Tensor,
} from "@nnhal/operations";
import { OperandLifeTime } from "@nnhal/types";

/** One operation of a plan. */
export interface Step {
  readonly view: OperationView;
  /** Index of the operand of each input; undefined where it is omitted. */
  readonly inputs: readonly (number | undefined)[];
  /** Index of the operand of each output. */
  readonly outputs: readonly number[];
  /** What shape inference says of the outputs, where the model alone decides it. */
  readonly outputInfos: readonly OutputInfo[] | undefined;
  /** Operands that no later step reads and that are not outputs of the graph. */
  readonly lastUses: readonly number[];
  /** Those of `lastUses` whose elements nobody else can have: not what goes through an IF or WHILE. */
  readonly given: readonly number[];
}

/** A subgraph made ready to run. */
export interface Plan {
  readonly graph: GraphView;
  readonly steps: readonly Step[];
  /** Constants by operand index. */
  readonly constants: readonly (Tensor | undefined)[];
  /** The plans of `graph.referenced`. */
  readonly referenced: readonly Plan[];
  /** Whether it is the model's main subgraph, whose outputs the request may know more of. */
  readonly isMain: boolean;
}

/** Makes a graph ready. Throws OperationError where a shape that the model fixes cannot be. */
export function compileGraph(graph: GraphView): Plan {
  const referenced: Plan[] = [];
  for (const subgraph of graph.referenced) referenced.push(compileSubgraph(subgraph, referenced, false));
  return compileSubgraph(graph, referenced, true);
}

function compileSubgraph(graph: GraphView, referenced: readonly Plan[], isMain: boolean): Plan {
  const lastUse = lastUses(graph);
  const shared = sharedOperands(graph);
  const steps = graph.operations.map((view, position) => compileStep(view, lastUse[position], shared));
  const constants = graph.operands.map(
    (operand): Tensor | undefined => operand?.data && { ...operand, data: operand.data },
  );
  return { graph, steps, constants, referenced, isMain };
}

function compileStep(view: OperationView, lastUses: readonly number[], shared: ReadonlySet<number>): Step {
  return {
    view,
    inputs: view.inputs.map((input) => (isOmitted(input) ? undefined : input.index)),
    outputs: view.outputs.map((output) => output.index),
    outputInfos: staticOutputInfos(view),
    lastUses,
    given: lastUses.filter((operand) => !shared.has(operand)),
  };
}

function isOmitted(operand: OperandView): boolean {
  return operand.lifetime === OperandLifeTime.NO_VALUE;
}

/** Inferred outputs that hold for every execution: those of inputs whose shapes the model fixes. */
function staticOutputInfos(view: OperationView): readonly OutputInfo[] | undefined {
  const { definition, match } = view;
  if (definition.controlFlow || definition.dynamic) return undefined;
  const inputs = view.inputs.map((input) => (isOmitted(input) ? undefined : input));
  if (!isInferable(match.form, inputs)) return undefined;
  try {
    return inferOutputs(definition, match.form, bindArguments(definition, match.form, inputs), view.outputs);
  } catch (error) {
    // The model is valid by its signature but cannot compute: the execution says so, with the same message.
    if (error instanceof OperationError) return undefined;
    throw error;
  }
}

/** The operands that an IF or WHILE reads or writes: it hands their elements on without a copy. */
function sharedOperands({ operations }: GraphView): Set<number> {
  const controlFlow = operations.filter(({ definition }) => definition.controlFlow);
  return new Set(controlFlow.flatMap(({ inputs, outputs }) => [...inputs, ...outputs]).map(({ index }) => index));
}

/** For each operation the temporaries that no later one reads. */
function lastUses(graph: GraphView): number[][] {
  const lastUse = new Map<number, number>();
  graph.operations.forEach(({ inputs, outputs }, position) => {
    for (const operand of [...outputs, ...inputs]) {
      if (operand.lifetime === OperandLifeTime.TEMPORARY_VARIABLE) lastUse.set(operand.index, position);
    }
  });
  const lists: number[][] = graph.operations.map(() => []);
  for (const [index, position] of lastUse) lists[position].push(index);
  return lists;
}
