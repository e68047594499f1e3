/**
 * Rules on a subgraph as a whole: its lists of inputs and outputs (31 – 34), and the order in which operations read and
 * write (36 – 39). One pass over each list.
 */
import { elementAt } from "@nnhal/operations";
import { OperandLifeTime } from "@nnhal/types";
import type { ModelContext } from "./context.ts";
import { show } from "./issues.ts";
import { Soundness } from "./operand.ts";
import { isUint32 } from "./structure.ts";
import type { SubgraphView } from "./subgraph-view.ts";

/** Checks the lists of a subgraph's inputs and outputs. */
export function checkBoundary(context: ModelContext, view: SubgraphView): void {
  const { inputIndexes, outputIndexes } = view.subgraph;
  checkIndexes(context, view, "inputIndexes", inputIndexes, OperandLifeTime.SUBGRAPH_INPUT, "SUBGRAPH_INPUT");
  checkIndexes(context, view, "outputIndexes", outputIndexes, OperandLifeTime.SUBGRAPH_OUTPUT, "SUBGRAPH_OUTPUT");
}

function checkIndexes(
  { issues }: ModelContext,
  { at, subgraph, soundness }: SubgraphView,
  list: string,
  indexes: readonly number[],
  lifetime: number,
  lifetimeName: string,
): void {
  const listed = new Uint8Array(soundness.length);
  for (let position = 0; position < indexes.length && !issues.isFull(); position++) {
    const index = indexes[position];
    const path = `${at}.${list}[${position}]`;
    if (!isUint32(index) || index >= soundness.length) {
      const problem = `the index is ${show(index)} where the subgraph has ${soundness.length} operands`;
      issues.add("boundary-index", path, problem);
      continue;
    }
    if (listed[index] === 1) issues.add("boundary-duplicate", path, `operand ${index} is listed before`);
    listed[index] = 1;
    if (soundness[index] === Soundness.garbage) continue;
    const { lifetime: actual } = elementAt(subgraph.operands, index);
    if (actual === lifetime) continue;
    issues.add("boundary-lifetime", path, `operand ${index}: expected lifetime ${lifetimeName}, got ${actual}`);
  }
  for (let index = 0; index < soundness.length && !issues.isFull(); index++) {
    if (soundness[index] === Soundness.garbage || listed[index] === 1) continue;
    if (elementAt(subgraph.operands, index).lifetime !== lifetime) continue;
    issues.add("boundary-unlisted", `${at}.operands[${index}].lifetime`, `a ${lifetimeName} is not in ${list}`);
  }
}

/** The state of an operand's value while operations are visited in order. */
const Value = {
  /** An operation still has to write it. */
  missing: 0,
  /** It has a value before the first operation. */
  given: 1,
  written: 2,
  /** It was read too early, and an issue reports that. */
  reported: 3,
} as const;

/** Checks the order of a subgraph's operations, the writers of operands, and the numbers of consumers. All indexes are valid. */
export function checkOrder({ issues }: ModelContext, { at, subgraph }: SubgraphView): void {
  const { operands, operations } = subgraph;
  const consumers = new Float64Array(operands.length);
  const values = new Uint8Array(operands.length);
  for (const [index, { lifetime }] of operands.entries()) {
    const produced = lifetime === OperandLifeTime.TEMPORARY_VARIABLE || lifetime === OperandLifeTime.SUBGRAPH_OUTPUT;
    values[index] = produced ? Value.missing : Value.given;
  }
  for (const [index, { inputs, outputs }] of operations.entries()) {
    if (issues.isFull()) return;
    for (const [position, operand] of inputs.entries()) {
      consumers[operand] = elementAt(consumers, operand) + 1;
      if (values[operand] !== Value.missing) continue;
      values[operand] = Value.reported;
      const path = `${at}.operations[${index}].inputs[${position}]`;
      issues.add("read-before-write", path, `operand ${operand} is read before an operation has written it`);
    }
    for (const [position, operand] of outputs.entries()) {
      if (values[operand] === Value.written) {
        const path = `${at}.operations[${index}].outputs[${position}]`;
        issues.add("single-writer", path, `operand ${operand} has been written before`);
      }
      values[operand] = Value.written;
    }
  }
  for (const [index, { numberOfConsumers }] of operands.entries()) {
    if (issues.isFull()) return;
    if (numberOfConsumers !== consumers[index]) {
      const problem = `numberOfConsumers is ${numberOfConsumers}, but operations read the operand ${consumers[index]} times`;
      issues.add("number-of-consumers", `${at}.operands[${index}].numberOfConsumers`, problem);
    }
    if (values[index] === Value.missing) {
      issues.add("never-written", `${at}.operands[${index}]`, "no operation writes the operand");
    }
  }
}
