/**
 * The row of STABLEHLO_CASE: an index chooses one of several subgraphs. It becomes IFs that halve the branches, each in a subgraph that
 * the import makes.
 */
import { elementAt } from "@nnhal/operations";
import { listText } from "../../error.ts";
import type { TfliteOperator, TfliteSubgraph } from "../../model.ts";
import { tensorOf } from "../graph.ts";
import type { Callee, Lowering } from "../lowering.ts";
import type { OperandSpec } from "../operand-types.ts";
import type { Row } from "../row.ts";
import { tensorLike } from "../state/changing-loop.ts";
import { emitCall, emitIf, inputsOf, shapesOf } from "./control-flow.ts";

/** Most branches of one operator; more are a file that is made to exhaust memory. */
const MOST_BRANCHES = 256;

/** The option of an operator that the import makes: the index that chooses its first branch. Its index is never out of range. */
const FIRST = "firstBranch";

const branchesOption = "branchSubgraphIndices";

/** A subgraph of one operator, which is `operator` with only some of its branches. */
function partOf(op: Lowering, branches: readonly number[], first: number): TfliteSubgraph {
  const { inputs, outputs } = op.operator;
  const places = (from: number, list: readonly number[]) => list.map((_, place) => from + place);
  const part: TfliteOperator = {
    ...op.operator,
    inputs: places(0, inputs),
    outputs: places(inputs.length, outputs),
    options: { [branchesOption]: branches, [FIRST]: first },
  };
  return {
    name: "",
    tensors: [...inputs, ...outputs].map((tensor) => tensorLike(tensorOf(op.graph, tensor))),
    operators: [part],
    inputs: part.inputs,
    outputs: part.outputs,
  };
}

/** The branches, checked. */
function branchesOf(op: Lowering): readonly number[] {
  const branches = op.list(branchesOption) ?? [];
  op.ensure(
    branches.length >= 1 && branches.length <= MOST_BRANCHES,
    () => `option ${branchesOption} has to list 1 to ${MOST_BRANCHES} subgraphs, it lists ${branches.length}`,
  );
  return branches;
}

/** The operand of the index, which is that of the last branch if the file's is out of range. */
function indexInRange(op: Lowering, index: number, count: number): number {
  const spec = op.graph.spec(index);
  const isNegative = op.graph.temporary(condition);
  const inRange = op.graph.temporary(spec);
  op.emit("LESS", [index, op.int32Tensor([0])], [isNegative]);
  // An index that is too large chooses the last branch by itself.
  op.emit("SELECT", [isNegative, op.int32Tensor([count - 1]), index], [inRange]);
  return inRange;
}

const condition: OperandSpec = { type: "TENSOR_BOOL8", dimensions: [1], scale: 0, zeroPoint: 0 };

export const stablehloCase: Row = {
  operator: "STABLEHLO_CASE",
  version: 1,
  operations: ["IF", "LESS", "SELECT"],
  note: "IFs that halve the branches. An index out of range chooses the last one.",
  lower(op: Lowering) {
    const branches = branchesOf(op);
    const [index = -1, ...values] = inputsOf(op);
    const { type, dimensions } = op.graph.spec(index);
    op.ensure(
      type === "TENSOR_INT32" && dimensions.join() === "1",
      () => `input 0 (branch): expected one INT32, got ${type}${listText(dimensions)}`,
    );
    const shapes = shapesOf(op, op.operator.inputs);
    const [, ...valueShapes] = shapes;
    if (branches.length === 1) {
      const [only] = op.subgraphs(branches, valueShapes);
      emitCall(op, only, branchesOption, values);
      return;
    }
    const nested = op.option(FIRST);
    const first = Number(nested ?? 0);
    const chosen = nested === undefined ? indexInRange(op, index, branches.length) : index;
    const half = Math.ceil(branches.length / 2);
    const isLower = op.graph.temporary(condition);
    op.emit("LESS", [chosen, op.int32Tensor([first + half])], [isLower]);
    const halves = [branches.slice(0, half), branches.slice(half)];
    const isLast = branches.length === 2;
    const callees: readonly Callee[] = isLast
      ? op.subgraphs(branches, valueShapes)
      : op.subgraphs(
          halves.map((part, place) =>
            op.addSubgraph(`${place}`, elementAt(part, 0), () => partOf(op, part, first + place * half)),
          ),
          shapes,
        );
    const names = [`branch ${first}`, `branch ${first + half}`] as const;
    const given = isLast ? values : [chosen, ...values];
    emitIf(op, isLower, [elementAt(callees, 0), elementAt(callees, 1)], names, given);
  },
};
