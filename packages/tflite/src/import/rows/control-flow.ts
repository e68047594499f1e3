/**
 * Rows of control flow: operators that run other subgraphs of the file. The operands that they pass must be of the kind
 * that the other subgraph expects.
 */

import { elementAt } from "@nnhal/operations";
import { type Operand, OperandType, operandTypeNames } from "@nnhal/types";
import { listText } from "../../error.ts";
import { tensorOf } from "../graph.ts";
import type { Callee, Lowering } from "../lowering.ts";
import { describeTensor, type OperandSpec } from "../operand-types.ts";
import type { ImportedOperatorName } from "../operator-tensors.ts";
import type { Row } from "../row.ts";
import { eitherShape, type Varying, withDeclared } from "../varying.ts";

/** The compared facts of an operand on either side; `type`: its code in the model. */
type Side = Pick<Operand, "type" | "dimensions" | "scale" | "zeroPoint">;

function sideOf(op: Lowering, { type, dimensions, scale, zeroPoint }: OperandSpec): Side {
  return { type: op.typeCode(type), dimensions, scale, zeroPoint };
}

const boolCode = OperandType.TENSOR_BOOL8;

function show({ type, dimensions, scale, zeroPoint }: Side): string {
  const name = operandTypeNames.get(type) ?? `type ${type} of the extension`;
  return `${name}${listText(dimensions)}${scale === 0 ? "" : ` (${scale}, ${zeroPoint})`}`;
}

/** True if two operands can be the same value; extents may be unknown on either side. */
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
  op.ensure(ours.length === theirs.length, () => `${what}: expected ${theirs.length}, got ${ours.length}`);
  for (const [place, side] of ours.entries()) {
    const other = elementAt(theirs, place);
    op.ensure(agree(side, other), () => `${what}: number ${place} is ${show(side)} outside and ${show(other)} inside`);
  }
}

function insideOf({ subgraph }: Callee, list: "inputIndexes" | "outputIndexes"): Side[] {
  return subgraph[list].map((index) => elementAt(subgraph.operands, index));
}

/** Refuses a condition that is not one TENSOR_BOOL8 of shape [1]. */
function ensureCondition(op: Lowering, what: string, given: readonly Side[]): void {
  const [condition, ...more] = given;
  op.ensure(
    condition?.type === boolCode && condition.dimensions.join() === "1" && more.length === 0,
    () => `${what}: expected one TENSOR_BOOL8[1], got ${given.map(show).join(", ") || "nothing"}`,
  );
}

function outputSides(op: Lowering): Side[] {
  return op.operator.outputs.map((_, place) => sideOf(op, op.outputSpec(place)));
}

/** The shapes of inputs. The size of rows of strings is not part of them. */
export function shapesOf(op: Lowering, inputs: readonly number[]): Varying[] {
  return inputs.map((tensor) => {
    const shape = op.graph.findVarying(tensor);
    return op.graph.tensor(tensor)?.type === "STRING" ? shape.with(-1, 0) : shape;
  });
}

/** Gives the operator's outputs the shapes that its subgraphs make of them. */
function adoptResults(op: Lowering, shapes: readonly Varying[]): void {
  for (const [place, shape] of shapes.entries()) {
    if (place >= op.operator.outputs.length) return;
    const tensor = op.outputIndex(place);
    const result = withDeclared(shape, op.graph.readDeclared(tensor));
    if (result.join() !== op.outputSpec(place).dimensions.join()) op.graph.reshape(op.output(place), result);
  }
}

/** Refuses a value of one number of dimensions before, and of another one after: an operand of the HAL has one. */
function ensureSameRank(
  op: Lowering,
  tensor: number,
  [before, after]: readonly [string, string],
  a: Varying,
  b: Varying,
) {
  op.ensure(
    a.length === b.length,
    () =>
      `${describeTensor(tensorOf(op.graph, tensor), tensor)} has ${a.length} dimensions ${before} and ${b.length} ${after}; the HAL needs the same number`,
  );
}

/** The inputs; constants of 64 bits are so inside as well. */
export function inputsOf(op: Lowering): number[] {
  return op.operator.inputs.map((_, place) => op.asInFile(place));
}

function sidesOf(op: Lowering, operands: readonly number[]): Side[] {
  return operands.map((operand) => sideOf(op, op.graph.spec(operand)));
}

function outputsOf(op: Lowering): number[] {
  return op.operator.outputs.map((_, place) => op.output(place));
}

/** Emits an IF. `callees`: the subgraphs for true and false, with their names. */
export function emitIf(
  op: Lowering,
  condition: number,
  callees: readonly [Callee, Callee],
  names: readonly [string, string],
  inputs: readonly number[],
): void {
  const [first, second] = callees;
  adoptResults(
    op,
    first.results.map((shape, place) => {
      const other = second.results[place] ?? shape;
      ensureSameRank(op, op.operator.outputs[place] ?? -1, [`from ${names[0]}`, `from ${names[1]}`], shape, other);
      return eitherShape(shape, other);
    }),
  );
  const [values, results] = [sidesOf(op, inputs), outputSides(op)];
  for (const [place, callee] of callees.entries()) {
    ensureAgree(op, `inputs of ${names[place]}`, values, insideOf(callee, "inputIndexes"));
    ensureAgree(op, `outputs of ${names[place]}`, results, insideOf(callee, "outputIndexes"));
  }
  op.emit("IF", [condition, ...callees.map(({ reference }) => reference()), ...inputs], outputsOf(op));
}

/** Two subgraphs that options name. */
function calleesOf(
  op: Lowering,
  [first, second]: readonly [string, string],
  inputs: readonly Varying[],
): readonly [Callee, Callee] {
  const callees = op.subgraphs([op.number(first), op.number(second)], inputs);
  return [elementAt(callees, 0), elementAt(callees, 1)];
}

const conditional: Row = {
  operator: "IF",
  version: 1,
  operations: ["IF"],
  lower(op: Lowering) {
    const [condition = -1, ...inputs] = inputsOf(op);
    ensureCondition(op, "the condition", sidesOf(op, [condition]));
    const names = ["thenSubgraphIndex", "elseSubgraphIndex"] as const;
    const shapes = shapesOf(op, op.operator.inputs.slice(1));
    emitIf(op, condition, calleesOf(op, names, shapes), names, inputs);
  },
};

/** The condition and the body of a WHILE, for loop variables of the returned shapes, which hold before and after each step. */
function settledLoop(op: Lowering): readonly [Callee, Callee, readonly Varying[]] {
  const { inputs } = op.operator;
  let settled: readonly [Callee, Callee, readonly Varying[]] | undefined;
  op.settleShapes(shapesOf(op, inputs), (shapes) => {
    const [test, body] = calleesOf(op, ["condSubgraphIndex", "bodySubgraphIndex"], shapes);
    settled = [test, body, shapes];
    return shapes.map((shape, place) => {
      const after = body.results[place] ?? shape;
      ensureSameRank(op, inputs[place] ?? -1, ["before a step of the loop", "after it"], shape, after);
      return eitherShape(shape, after);
    });
  });
  if (settled === undefined) throw new TypeError("the subgraphs of a loop are imported at least once");
  return settled;
}

const loop: Row = {
  operator: "WHILE",
  version: 1,
  operations: ["WHILE"],
  lower(op: Lowering) {
    const inputs = inputsOf(op);
    const values = sidesOf(op, inputs);
    const [test, body, shapes] = settledLoop(op);
    adoptResults(op, shapes);
    // State that the loop only reads comes last; it is not a result.
    const kept = values.slice(0, values.length - Number(op.option("readOnlyInputs") ?? 0));
    ensureAgree(op, "inputs of condSubgraphIndex", values, insideOf(test, "inputIndexes"));
    ensureCondition(op, "the result of condSubgraphIndex", insideOf(test, "outputIndexes"));
    ensureAgree(op, "inputs of bodySubgraphIndex", values, insideOf(body, "inputIndexes"));
    ensureAgree(op, "outputs of bodySubgraphIndex", kept, insideOf(body, "outputIndexes"));
    ensureAgree(op, "outputs", outputSides(op), kept);
    op.emit("WHILE", [test.reference(), body.reference(), ...inputs], outputsOf(op));
  },
};

/** Emits an IF that always runs `callee`, with the name `what` in messages. */
export function emitCall(op: Lowering, callee: Callee | undefined, what: string, inputs: readonly number[]): void {
  if (callee === undefined) throw new TypeError("a subgraph that is imported has a reference");
  const isTrue: OperandSpec = { type: "TENSOR_BOOL8", dimensions: [1], scale: 0, zeroPoint: 0 };
  const condition = op.graph.share("true", isTrue, Uint8Array.of(1));
  emitIf(op, condition, [callee, callee], [what, what], inputs);
}

/** Runs one subgraph, which an option names. */
function makeCallRow(operator: ImportedOperatorName, version: number, option: string, note: string): Row {
  return {
    operator,
    version,
    operations: ["IF"],
    note,
    lower(op: Lowering) {
      const [callee] = op.subgraphs([op.number(option)], shapesOf(op, op.operator.inputs));
      emitCall(op, callee, option, inputsOf(op));
    },
  };
}

const call = makeCallRow("CALL", 1, "subgraph", "An IF whose condition is true.");

const composite = makeCallRow(
  "STABLEHLO_COMPOSITE",
  1,
  "decompositionSubgraphIndex",
  "Its decomposition, as for CALL. The attributes are not read.",
);

const once: Row = {
  operator: "CALL_ONCE",
  version: 1,
  operations: ["IF"],
  note: "First values of state if they are constants; else it runs in the first execution.",
  isStateful: true,
  lower(op: Lowering) {
    const isThere = op.option("doneSubgraphIndex") !== undefined;
    const init = op.number("initSubgraphIndex");
    op.ensure(isThere, () => `there is no subgraph ${init} that an operator may run`);
    const [condition = -1, ...inputs] = inputsOf(op);
    const names = ["doneSubgraphIndex", "initSubgraphIndex"] as const;
    const shapes = shapesOf(op, op.operator.inputs.slice(1));
    emitIf(op, condition, calleesOf(op, names, shapes), names, inputs);
  },
};

export const controlFlowRows: readonly Row[] = [conditional, loop, call, composite, once];
