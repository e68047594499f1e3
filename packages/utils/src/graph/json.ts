/**
 * A model as a plain object for JSON: the content of a dump, for programs.
 */
import { elementAt } from "@nnhal/operations";
import type { Model } from "@nnhal/types";
import {
  type GraphVisitor,
  type OperandDescription,
  type OperationDescription,
  type SubgraphDescription,
  type VisitOptions,
  visitGraph,
} from "./visit.ts";

/** A subgraph with its operands and operations. */
export interface GraphJsonSubgraph {
  /** Its index among the referenced subgraphs; null for the main one. */
  readonly index: number | null;
  readonly inputs: readonly number[];
  readonly outputs: readonly number[];
  readonly operands: readonly OperandDescription[];
  readonly operations: readonly OperationDescription[];
  /** Subgraphs that this one is the first to name. */
  readonly subgraphs: readonly GraphJsonSubgraph[];
}

/** A model. */
export interface GraphJson {
  readonly name: string;
  readonly relaxComputationFloat32toFloat16: boolean;
  readonly main: GraphJsonSubgraph;
}

interface OpenSubgraph {
  readonly description: SubgraphDescription;
  readonly operands: OperandDescription[];
  readonly operations: OperationDescription[];
  readonly subgraphs: GraphJsonSubgraph[];
}

/** A model as a plain object. */
export function graphToJson(name: string, model: Model, options: VisitOptions = {}): GraphJson {
  const open: OpenSubgraph[] = [];
  const finished: GraphJsonSubgraph[] = [];
  const visitor: GraphVisitor = {
    begin() {},
    beginSubgraph: (description) => open.push({ description, operands: [], operations: [], subgraphs: [] }),
    operand: (operand) => open.at(-1)?.operands.push(operand),
    operation: (operation) => open.at(-1)?.operations.push(operation),
    endSubgraph() {
      const ended = open.pop();
      if (ended === undefined) return;
      const { description, ...lists } = ended;
      const { index, inputs, outputs } = description;
      (open.at(-1)?.subgraphs ?? finished).push({ index: index ?? null, inputs, outputs, ...lists });
    },
    end() {},
  };
  visitGraph(name, model, visitor, options);
  const { relaxComputationFloat32toFloat16 } = model;
  return { name, relaxComputationFloat32toFloat16, main: elementAt(finished, 0) };
}
