/** IF and WHILE: the subgraphs are planned in the same memory, for the shapes that they are called with. */
import type { GraphView, KernelTensor, OperationView } from "@nnhal/backend";
import { elementCount, isTensorType, sameShape, type TensorData, type TensorInfo, tensorInfo } from "@nnhal/operations";
import { type Builder, outputOf, type Value } from "./builder.ts";
import { copyElements } from "./copied.ts";
import { fuseSteps, withoutDead } from "./fuse.ts";
import type { Region, Step } from "./plan.ts";
import { refuse } from "./refusal.ts";

/** A value with its facts, and its elements if they are constant. */
export interface Fact {
  readonly info: TensorInfo;
  readonly value: Value;
  readonly data?: TensorData;
}

/** Plans a subgraph for some inputs, and returns its results. */
export type PlanSubgraph = (graph: GraphView, inputs: readonly Fact[]) => readonly Fact[];

/** The infos and values of the outputs of an operation. */
export interface Planned {
  readonly infos: readonly TensorInfo[];
  readonly values: readonly Value[];
  /** Their elements, if they are known when the plan is made. */
  readonly data?: readonly TensorData[];
}

/** Adds an IF or a WHILE. */
export function addControl(
  view: OperationView,
  tensors: readonly (KernelTensor | undefined)[],
  builder: Builder,
  referenced: readonly GraphView[],
  plan: PlanSubgraph,
): Planned {
  const graphAt = (position: number): GraphView => {
    const graph = referenced[Number(tensors[position]?.data?.[0])];
    return graph ?? refuse("its subgraphs are not known");
  };
  const isBranch = view.definition.name === "IF";
  const [first, second] = isBranch ? [graphAt(1), graphAt(2)] : [graphAt(0), graphAt(1)];
  const inputs = tensors.slice(isBranch ? 3 : 2).map((tensor) => factOf(builder, tensor));
  if (!isBranch) return addLoop(view, inputs, builder, first, second, plan);
  const condition = factOf(builder, tensors[0]);
  return addBranch(view, condition, inputs, builder, first, second, plan);
}

function factOf(builder: Builder, tensor: KernelTensor | undefined): Fact {
  if (tensor === undefined) return refuse("a value that may be omitted is not available");
  const { index: _, data, ...info } = tensor;
  if (!isTensorType(info.type)) refuse("scalars are not available as values of subgraphs");
  return { info, value: builder.read(tensor), ...(data && { data }) };
}

function expectOne({ info }: Fact): void {
  const count = elementCount(info.dimensions);
  if (count !== 1) refuse(`the condition: expected 1 element, got ${count}`);
}

/** The facts of the outputs of an operation, of which the extents are known. */
function outputInfos({ outputs }: OperationView, results: readonly Fact[]): TensorInfo[] {
  return outputs.map((output, position) => {
    const result = results[position];
    if (result === undefined) throw new Error(`output ${position} has no value`);
    return tensorInfo(output, result.info.dimensions);
  });
}

/** The steps of a subgraph, after which its results are in some values. */
function stepsOf(
  builder: Builder,
  graph: GraphView,
  inputs: readonly Fact[],
  plan: PlanSubgraph,
  finish: (results: readonly Fact[]) => readonly Region[],
): readonly Step[] {
  let wanted: readonly Region[] = [];
  const steps = builder.apart(() => {
    wanted = finish(builder.inside(() => plan(graph, inputs)));
  });
  const needed = new Set(wanted);
  return fuseSteps(withoutDead(steps, needed), needed);
}

const workOf = (...lists: (readonly Step[])[]) => lists.flat().reduce((sum, { units, work }) => sum + units * work, 1);

function addBranch(
  view: OperationView,
  condition: Fact,
  inputs: readonly Fact[],
  builder: Builder,
  yes: GraphView,
  no: GraphView,
  plan: PlanSubgraph,
): Planned {
  expectOne(condition);
  let infos: readonly TensorInfo[] | undefined;
  let values: readonly Value[] = [];
  const branch = (graph: GraphView) =>
    stepsOf(builder, graph, inputs, plan, (results) => {
      const own = outputInfos(view, results);
      if (infos === undefined) {
        infos = own;
        values = own.map((info) => outputOf(builder, info));
      }
      for (const [position, { dimensions }] of own.entries()) {
        if (!sameShape(dimensions, infos[position]?.dimensions ?? []))
          refuse(`its branches have other shapes for output ${position}`);
      }
      for (const [position, to] of values.entries()) copyInto(builder, results, position, to);
      return values.map(({ region }) => region);
    });
  const [first, second] = [branch(yes), branch(no)];
  const work = Math.max(workOf(first), workOf(second));
  builder.add({
    kind: "branch",
    name: "IF",
    condition: condition.value.region,
    yes: first,
    no: second,
    units: 1,
    work,
  });
  return { infos: infos ?? [], values };
}

function copyInto(builder: Builder, results: readonly Fact[], position: number, to: Value): void {
  const result = results[position];
  if (result === undefined) throw new Error(`output ${position} has no value`);
  copyElements(builder, { ...result.value, dimensions: to.dimensions }, to);
}

function addLoop(
  view: OperationView,
  inputs: readonly Fact[],
  builder: Builder,
  condition: GraphView,
  body: GraphView,
  plan: PlanSubgraph,
): Planned {
  // Values that the body changes come first, and are copies; the others stay the same.
  const changing = body.outputs.length;
  const state = inputs.map(({ info, value, data }, position): Fact => {
    if (position >= changing) return { info, value, ...(data && { data }) };
    return { info, value: copyElements(builder, value) };
  });
  const verdict = builder.value("u8", [1]);
  const test = stepsOf(builder, condition, state, plan, (results) => {
    const [result] = results;
    if (result === undefined) throw new Error("the condition has no result");
    expectOne(result);
    copyInto(builder, results, 0, verdict);
    return [verdict.region];
  });
  const repeated = stepsOf(builder, body, state, plan, (results) => {
    for (const [position, { info }] of results.entries()) {
      const before = state[position]?.info.dimensions ?? [];
      if (!sameShape(info.dimensions, before)) refuse(`its body changes the shape of value ${position}`);
    }
    // A result may be another value of the state, which must not change before it is read.
    const own = new Set(state.map(({ value }) => value.region));
    const moved = results.map((result) =>
      own.has(result.value.region) ? { ...result, value: copyElements(builder, result.value) } : result,
    );
    const changed = state.slice(0, changing).map(({ value }) => value);
    for (const [position, to] of changed.entries()) copyInto(builder, moved, position, to);
    return changed.map(({ region }) => region);
  });
  const infos = outputInfos(view, state);
  builder.add({
    kind: "loop",
    name: "WHILE",
    condition: verdict.region,
    test,
    body: repeated,
    units: 1,
    work: workOf(test, repeated),
  });
  return { infos, values: infos.map((_, position) => state[position]?.value ?? verdict) };
}
