/**
 * Rows of control flow: operators that run other subgraphs of the file. The operands that they pass must be of the kind
 * that the other subgraph expects.
 */

import { elementAt } from "@nnhal/operations";
import { type Operand, operandTypeNames } from "@nnhal/types";
import { listText } from "../../error.ts";
import type { Callee, Lowering } from "../lowering.ts";
import type { OperandSpec } from "../operand-types.ts";
import type { Row } from "../row.ts";

/** The compared facts of an operand on either side. */
type Side = Pick<OperandSpec, "type" | "dimensions" | "scale" | "zeroPoint">;

function sideOf({ type, dimensions, scale, zeroPoint }: Operand): Side {
  return { type: operandTypeNames.get(type) ?? "OEM", dimensions, scale, zeroPoint };
}

function show({ type, dimensions, scale, zeroPoint }: Side): string {
  return `${type}${listText(dimensions)}${scale === 0 ? "" : ` (${scale}, ${zeroPoint})`}`;
}

/** Whether two operands can be the same value; extents may be unknown on either side. */
function agree(a: Side, b: Side): boolean {
  return (
    a.type === b.type &&
    a.scale === b.scale &&
    a.zeroPoint === b.zeroPoint &&
    a.dimensions.length === b.dimensions.length &&
    a.dimensions.every((extent, i) => extent === 0 || b.dimensions[i] === 0 || extent === b.dimensions[i])
  );
}

function ensureAgree(op: Lowering, what: string, ours: readonly Side[], theirs: readonly Side[]): void {
  op.ensure(ours.length === theirs.length, () => `${what}: ${theirs.length} are needed, there are ${ours.length}`);
  for (const [place, side] of ours.entries()) {
    const other = elementAt(theirs, place);
    op.ensure(agree(side, other), () => `${what}: number ${place} is ${show(side)} outside and ${show(other)} inside`);
  }
}

function insideOf({ subgraph }: Callee, list: "inputIndexes" | "outputIndexes"): Side[] {
  return subgraph[list].map((index) => sideOf(elementAt(subgraph.operands, index)));
}

/** Refuses a condition that is not one TENSOR_BOOL8 of shape [1]. */
function ensureCondition(op: Lowering, what: string, given: readonly Side[]): void {
  const [condition, ...more] = given;
  op.ensure(
    condition?.type === "TENSOR_BOOL8" && condition.dimensions.join() === "1" && more.length === 0,
    () => `${what} has to be one TENSOR_BOOL8[1], it is ${given.map(show).join(", ") || "missing"}`,
  );
}

function outputSpecs(op: Lowering): OperandSpec[] {
  return op.operator.outputs.map((_, place) => op.outputSpec(place));
}

function inputSpecs(op: Lowering): OperandSpec[] {
  return op.operator.inputs.map((_, place) => op.inputSpec(place));
}

function operands(op: Lowering): { inputs: number[]; outputs: number[] } {
  return {
    inputs: op.operator.inputs.map((_, place) => op.input(place)),
    outputs: op.operator.outputs.map((_, place) => op.output(place)),
  };
}

const conditional: Row = {
  operator: "IF",
  version: 1,
  operations: ["IF"],
  note: "Without state inside.",
  lower(op: Lowering) {
    const given = inputSpecs(op);
    const values = given.slice(1);
    ensureCondition(op, "the condition", given.slice(0, 1));
    const options = ["thenSubgraphIndex", "elseSubgraphIndex"];
    const callees = op.subgraphs(options.map(op.number));
    for (const [place, callee] of callees.entries()) {
      ensureAgree(op, `inputs of ${options[place]}`, values, insideOf(callee, "inputIndexes"));
      ensureAgree(op, `outputs of ${options[place]}`, outputSpecs(op), insideOf(callee, "outputIndexes"));
    }
    const { inputs, outputs } = operands(op);
    op.emit("IF", inputs.toSpliced(1, 0, ...callees.map(({ reference }) => reference)), outputs);
  },
};

const loop: Row = {
  operator: "WHILE",
  version: 1,
  operations: ["WHILE"],
  note: "Without state inside.",
  lower(op: Lowering) {
    const values = inputSpecs(op);
    const callees = op.subgraphs([op.number("condSubgraphIndex"), op.number("bodySubgraphIndex")]);
    const [test, body] = [elementAt(callees, 0), elementAt(callees, 1)];
    ensureAgree(op, "inputs of condSubgraphIndex", values, insideOf(test, "inputIndexes"));
    ensureCondition(op, "the result of condSubgraphIndex", insideOf(test, "outputIndexes"));
    ensureAgree(op, "inputs of bodySubgraphIndex", values, insideOf(body, "inputIndexes"));
    ensureAgree(op, "outputs of bodySubgraphIndex", values, insideOf(body, "outputIndexes"));
    ensureAgree(op, "outputs", outputSpecs(op), values);
    const { inputs, outputs } = operands(op);
    op.emit("WHILE", [test.reference, body.reference, ...inputs], outputs);
  },
};

export const controlFlowRows: readonly Row[] = [conditional, loop];
