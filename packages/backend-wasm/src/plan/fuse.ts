/**
 * Fewer passes over memory: an elementwise step becomes part of the step whose result it reads, if nothing else does. And steps whose results
 * nothing reads go.
 */
import { type Expression, element, nodesOf, substitute } from "./expression.ts";
import type { DepthwiseStep, ElementwiseStep, ProductStep, Region, Step, Target } from "./plan.ts";
import { readsOf, resultsOf, writesOf } from "./uses.ts";

/** The steps without those that compute nothing that is needed. `wanted`: the regions of outputs. */
export function withoutDead(steps: readonly Step[], wanted: ReadonlySet<Region>): Step[] {
  const needed = new Set(wanted);
  const kept: Step[] = [];
  for (const step of steps.toReversed()) {
    if (!resultsOf(step).some((region) => needed.has(region))) continue;
    for (const region of readsOf(step)) needed.add(region);
    kept.push(step);
  }
  return kept.reverse();
}

/** Steps that compute an expression for each element of their result, in order. */
type Producer = ProductStep | DepthwiseStep | ElementwiseStep;

/** The steps, with elementwise ones in the step before where that is possible. */
export function fuseSteps(steps: readonly Step[], wanted: ReadonlySet<Region>): Step[] {
  const readers = new Map<Region, number>();
  const writers = new Map<Region, number>();
  for (const step of steps) {
    for (const region of readsOf(step)) readers.set(region, (readers.get(region) ?? 0) + 1);
    for (const region of writesOf(step)) writers.set(region, (writers.get(region) ?? 0) + 1);
  }
  const isOwn = (region: Region) => !wanted.has(region) && readers.get(region) === 1 && writers.get(region) === 1;
  const result: (Step | undefined)[] = [];
  const lastWrites = new Map<Region, number>();
  for (const step of steps) {
    const joined = step.kind === "elementwise" ? join(step, result, lastWrites, isOwn) : undefined;
    if (joined !== undefined) result[joined.place] = undefined;
    const added = joined?.step ?? step;
    for (const region of writesOf(added)) lastWrites.set(region, result.length);
    result.push(added);
  }
  return result.filter((step) => step !== undefined);
}

/** The step with the one before in it whose result it reads; undefined if there is none. `lastWrites`: the place where each region was written last. */
function join(
  step: ElementwiseStep,
  before: readonly (Step | undefined)[],
  lastWrites: ReadonlyMap<Region, number>,
  isOwn: (region: Region) => boolean,
): { readonly place: number; readonly step: Step } | undefined {
  if (!isFlat(step)) return undefined;
  for (let operand = 0; operand < step.operands.length; operand++) {
    const read = step.operands[operand];
    if (read === undefined || read.steps[0] !== 1 || !isOwn(read.region)) continue;
    const place = lastWrites.get(read.region) ?? -1;
    const producer = before[place];
    if (producer === undefined || !isProducer(producer) || !resultsOf(producer).includes(read.region)) continue;
    // Regions that are written in several parts could change: the producer's inputs must be unchanged when the step runs.
    const inputs = readsOf(producer);
    if (inputs.some((region) => region === step.target.region || (lastWrites.get(region) ?? -1) > place)) continue;
    const made = combine(producer, step, operand);
    if (made !== undefined && isSmall(made)) return { place, step: made };
  }
  return undefined;
}

/** The most nodes, and the most operands beside its own, of a step that is joined: a function with more has more values than a processor has registers. */
const mostNodes = 512;
const mostOperands = 32;

function isSmall({ operands, value }: Producer): boolean {
  return operands.length <= mostOperands && nodesOf(value).size <= mostNodes;
}

function isProducer(step: Step): step is Producer {
  return step.kind === "product" || step.kind === "depthwise" || (step.kind === "elementwise" && isFlat(step));
}

/** Returns true if a step is one loop over adjacent elements. */
function isFlat({ loops, target }: ElementwiseStep): boolean {
  return loops.length === 1 && target.steps[0] === 1 && target.offset === 0;
}

/** The producer with the step's expression around its own. The other operands of the step come after those of the producer. */
function combine(producer: Producer, step: ElementwiseStep, operand: number): Producer | undefined {
  const others = step.operands.filter((_, place) => place !== operand);
  const count = producer.operands.length;
  if (producer.kind === "elementwise") {
    if (producer.loops[0] !== step.loops[0]) return undefined;
    return {
      ...step,
      name: joinedName(producer, step),
      operands: [...producer.operands, ...others],
      value: around(producer.value, step.value, operand, count),
      work: producer.work + step.work,
    };
  }
  // The kernel reads other operands in the order of its result.
  if (others.some(({ steps, offset }) => steps[0] !== 1 || offset !== 0)) return undefined;
  const targets: Target[] = others.map(({ region, type }) => ({ region, type }));
  return {
    ...producer,
    name: joinedName(producer, step),
    operands: [...producer.operands, ...targets],
    target: { region: step.target.region, type: step.target.type },
    value: around(producer.value, step.value, operand, count),
  };
}

function joinedName(first: Step, second: Step): string {
  return `${first.name}+${second.name}`;
}

/** `outer` with `inner` in the place of an operand. */
function around(inner: Expression, outer: Expression, operand: number, count: number): Expression {
  return substitute(outer, (node) => {
    if (node.kind !== "element" || node.operand === undefined) return undefined;
    if (node.operand === operand) return inner;
    return element(count + (node.operand < operand ? node.operand : node.operand - 1), node.type);
  });
}
