/**
 * Rows of control flow: operators that run other subgraphs of the file.
 */
import type { Lowering } from "../lowering.ts";
import type { Row } from "../row.ts";

function subgraphs(op: Lowering, ...options: readonly string[]): number[] {
  return options.map((option) => op.subgraph(op.number(option)));
}

function outputs(op: Lowering): number[] {
  return op.operator.outputs.map((_, place) => op.output(place));
}

const conditional: Row = {
  operator: "IF",
  version: 1,
  operations: ["IF"],
  note: "Without state inside.",
  lower(op: Lowering) {
    const branches = subgraphs(op, "thenSubgraphIndex", "elseSubgraphIndex");
    const [condition, ...values] = op.operator.inputs.map((_, place) => op.input(place));
    op.ensure(condition !== undefined, () => "the condition is missing");
    op.emit("IF", [condition, ...branches, ...values], outputs(op));
  },
};

const loop: Row = {
  operator: "WHILE",
  version: 1,
  operations: ["WHILE"],
  note: "Without state inside.",
  lower(op: Lowering) {
    const parts = subgraphs(op, "condSubgraphIndex", "bodySubgraphIndex");
    op.emit("WHILE", [...parts, ...op.operator.inputs.map((_, place) => op.input(place))], outputs(op));
  },
};

export const controlFlowRows: readonly Row[] = [conditional, loop];
