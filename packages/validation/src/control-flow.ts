/**
 * Rules on IF and WHILE (29): operands that the operation passes to its subgraphs, and receives from them, are of one kind on both
 * sides.
 */
import { elementAt, operandTypeText, type TensorInfo } from "@nnhal/operations";
import { type Operand, OperationType, type Subgraph } from "@nnhal/types";
import { differenceOf } from "./compatible.ts";
import type { ModelContext } from "./context.ts";
import { showDimensions } from "./issues.ts";
import { isReadable } from "./operand.ts";
import type { RuleCode } from "./rules.ts";
import { isObject, readUntrusted } from "./structure.ts";
import type { SubgraphView } from "./subgraph-view.ts";
import { knownOperandType, sizeOf } from "./type-ranges.ts";

/** An operand and its name in messages. */
interface Named {
  readonly operand: Operand;
  /** The operand with its inferred shape, if there is one. */
  readonly known: Operand;
  readonly name: string;
}

/** An IF or WHILE whose operands fit its signature. */
export interface ControlFlowOperation {
  readonly view: SubgraphView;
  readonly index: number;
}

/** The results of shape inference, by subgraph and operand. */
type Inferred = ReadonlyMap<Subgraph, readonly (TensorInfo | undefined)[]>;

/** The operation under validation, and the sink of its issues. */
interface Flow {
  readonly context: ModelContext;
  readonly inferred: Inferred;
  readonly inputs: readonly Named[];
  readonly outputs: readonly Named[];
  readonly add: (code: RuleCode, message: string) => void;
}

/** Checks an IF or WHILE. All subgraphs have been checked. */
export function checkControlFlow(
  context: ModelContext,
  { view: { at, subgraph }, index }: ControlFlowOperation,
  inferred: Inferred,
): void {
  const operation = elementAt(subgraph.operations, index);
  const named = (side: string) => (operand: number, position: number) =>
    namedOperand(subgraph, operand, `${side} ${position}`, inferred);
  const flow: Flow = {
    context,
    inferred,
    inputs: operation.inputs.map(named("input")),
    outputs: operation.outputs.map(named("output")),
    add: (code, message) => context.issues.add(code, `${at}.operations[${index}]`, message),
  };
  if (operation.outputs.length === 0) flow.add("control-flow-counts", "expected at least 1 output, got 0");
  else if (operation.type === OperationType.IF) checkIf(flow);
  else if (operation.type === OperationType.WHILE) checkWhile(flow);
}

function namedOperand(subgraph: Subgraph, index: number, name: string, inferred: Inferred): Named {
  const operand = elementAt(subgraph.operands, index);
  const info = inferred.get(subgraph)?.[index];
  return { operand, known: info === undefined ? operand : { ...operand, dimensions: info.dimensions }, name };
}

/** Each subgraph has the inputs of the operation that follow the condition and the two references, and the operation's outputs. */
function checkIf(flow: Flow): void {
  checkCondition(flow, elementAt(flow.inputs, 0));
  const handed = flow.inputs.slice(3);
  for (const { name, reference } of [
    { name: "the then subgraph", reference: elementAt(flow.inputs, 1) },
    { name: "the else subgraph", reference: elementAt(flow.inputs, 2) },
  ]) {
    const subgraph = subgraphOf(flow, reference);
    if (subgraph === undefined) continue;
    if (!hasCount(flow, name, "inputs", subgraph, handed.length)) continue;
    if (!hasCount(flow, name, "outputs", subgraph, flow.outputs.length)) continue;
    checkPairs(flow, handed, boundaryOf(flow, subgraph, "inputs", name));
    checkPairs(flow, flow.outputs, boundaryOf(flow, subgraph, "outputs", name));
  }
}

/**
 * With m outputs, k further values that the body passes to its next run, and n values that never change: condition and body have
 * m + k + n inputs; the condition has one boolean output, the body m + k outputs, which are the inputs of its next run.
 */
function checkWhile(flow: Flow): void {
  const handed = flow.inputs.slice(2);
  checkKnownSizes(flow, handed);
  checkKnownSizes(flow, flow.outputs);
  const condition = subgraphOf(flow, elementAt(flow.inputs, 0));
  if (condition !== undefined) checkWhileCondition(flow, condition, handed);
  const body = subgraphOf(flow, elementAt(flow.inputs, 1));
  if (body !== undefined) checkWhileBody(flow, body, handed);
}

function checkWhileCondition(flow: Flow, condition: Subgraph, handed: readonly Named[]): void {
  const name = "the condition subgraph";
  if (!hasCount(flow, name, "inputs", condition, handed.length)) return;
  if (!hasCount(flow, name, "outputs", condition, 1)) return;
  const inputs = boundaryOf(flow, condition, "inputs", name);
  checkPairs(flow, handed, inputs);
  checkKnownSizes(flow, inputs);
  for (const output of boundaryOf(flow, condition, "outputs", name))
    if (output !== undefined) checkCondition(flow, output);
}

function checkWhileBody(flow: Flow, body: Subgraph, handed: readonly Named[]): void {
  const name = "the body subgraph";
  if (!hasCount(flow, name, "inputs", body, handed.length)) return;
  const count = body.outputIndexes.length;
  if (count < flow.outputs.length || count > handed.length) {
    const needed = `${flow.outputs.length} (outputs of the operation) to ${handed.length} (inputs of the body)`;
    flow.add("control-flow-counts", `${name}: expected ${needed} outputs, got ${count}`);
    return;
  }
  const inputs = boundaryOf(flow, body, "inputs", name);
  const outputs = boundaryOf(flow, body, "outputs", name);
  checkPairs(flow, handed, inputs);
  checkPairs(flow, flow.outputs, outputs);
  checkPairs(flow, outputs, inputs);
  checkKnownSizes(flow, inputs);
  checkKnownSizes(flow, outputs);
}

/** The subgraph that an operand refers to; undefined if it cannot be read, which is reported elsewhere. */
function subgraphOf({ context }: Flow, { operand }: Named): Subgraph | undefined {
  const subgraph = context.referenced[operand.location.offset];
  if (!isObject(subgraph) || !Array.isArray(subgraph.operands)) return undefined;
  return Array.isArray(subgraph.inputIndexes) && Array.isArray(subgraph.outputIndexes) ? subgraph : undefined;
}

function hasCount(flow: Flow, name: string, side: "inputs" | "outputs", subgraph: Subgraph, needed: number): boolean {
  const { length } = side === "inputs" ? subgraph.inputIndexes : subgraph.outputIndexes;
  if (length !== needed) flow.add("control-flow-counts", `${name}: expected ${needed} ${side}, got ${length}`);
  return length === needed;
}

/** Inputs or outputs of a subgraph; undefined in place of those that cannot be read, which are issues of their own. */
function boundaryOf(
  { inferred }: Flow,
  subgraph: Subgraph,
  side: "inputs" | "outputs",
  name: string,
): (Named | undefined)[] {
  const indexes = side === "inputs" ? subgraph.inputIndexes : subgraph.outputIndexes;
  return indexes.map((index, position) =>
    isReadable(readUntrusted(subgraph.operands, index))
      ? namedOperand(subgraph, index, `${side.slice(0, -1)} ${position} of ${name}`, inferred)
      : undefined,
  );
}

/** Compares the operands at equal positions, up to the end of the shorter list. */
function checkPairs(flow: Flow, a: readonly (Named | undefined)[], b: readonly (Named | undefined)[]): void {
  const count = Math.min(a.length, b.length);
  for (let position = 0; position < count && !flow.context.issues.isFull(); position++) {
    const left = a[position];
    const right = b[position];
    if (left === undefined || right === undefined) continue;
    const difference = differenceOf(left.known, right.known, flow.context.prefixes);
    if (difference === undefined) continue;
    flow.add("control-flow-compatibility", `${left.name} and ${right.name} are passed on: ${difference}`);
  }
}

function checkCondition(flow: Flow, { operand, name }: Named): void {
  const { dimensions, type } = operand;
  if (knownOperandType(type)?.name === "TENSOR_BOOL8" && dimensions.length === 1 && dimensions[0] === 1) return;
  const { prefixes, vocabulary } = flow.context;
  const shown = `${operandTypeText(type, prefixes, vocabulary)} ${showDimensions(dimensions)}`;
  flow.add("control-flow-condition", `${name} is the condition: expected TENSOR_BOOL8 [1], got ${shown}`);
}

/** A driver cannot run a loop whose values change size. */
function checkKnownSizes(flow: Flow, operands: readonly (Named | undefined)[]): void {
  if (flow.context.mode === "runtime") return;
  for (const named of operands) {
    if (named === undefined) continue;
    const { dimensions, type } = named.operand;
    const known = knownOperandType(type);
    if (known?.kind !== "tensor" || sizeOf(known, dimensions) > 0) continue;
    const shown = `${known.name} ${showDimensions(dimensions)}`;
    flow.add("while-unknown-size", `${named.name} is ${shown}, whose size is not known`);
  }
}
