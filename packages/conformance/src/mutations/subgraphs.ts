/**
 * Mutations of a model's subgraphs: ones that refer to themselves, directly or by way of others, and ones without
 * anything in them.
 */
import { elementAt } from "@nnhal/operations";
import { type Model, type Operand, OperandLifeTime, OperandType, type Subgraph } from "@nnhal/types";
import { invalid, type ModelMutation } from "./mutation.ts";
import { nowhere } from "./site.ts";

/** A reference to a subgraph that no operation reads. */
function reference(offset: number): Operand {
  return {
    type: OperandType.SUBGRAPH,
    dimensions: [],
    numberOfConsumers: 0,
    scale: 0,
    zeroPoint: 0,
    lifetime: OperandLifeTime.SUBGRAPH,
    location: { ...nowhere, offset },
    extraParams: { kind: "none" },
  };
}

function withReference(subgraph: Subgraph, offset: number): Subgraph {
  return { ...subgraph, operands: [...subgraph.operands, reference(offset)] };
}

const empty: Subgraph = { operands: [], operations: [], inputIndexes: [], outputIndexes: [] };

/** Each number of further subgraphs is a separate cycle. */
const addedCycles = [1, 2, 3];

export const subgraphCycle: ModelMutation = {
  name: "subgraphCycle",
  says: "A subgraph refers to itself, directly or by way of others.",
  *mutate(model) {
    const { main, referenced } = model;
    for (const [index, subgraph] of referenced.entries()) {
      for (const back of [...pathTo(model, index)]) {
        const changed = { ...model, referenced: referenced.with(index, withReference(subgraph, back)) };
        const name = back === index ? "itself" : `${back}, from which it is referred to`;
        yield invalid(`referenced ${index} refers to ${name}`, changed);
      }
    }
    for (const count of addedCycles) {
      const first = referenced.length;
      const added = Array.from({ length: count }, (_, place) => withReference(empty, first + ((place + 1) % count)));
      const changed = { ...model, main: withReference(main, first), referenced: [...referenced, ...added] };
      yield invalid(`there is a circle of ${count} more subgraphs`, changed);
    }
  },
};

/** The referenced subgraphs from which one can be reached, itself among them; none if main does not reach it. */
function pathTo(model: Model, target: number): Set<number> {
  const above = new Set<number>();
  if (!reach(model, model.main, target)) return above;
  for (const [index, subgraph] of model.referenced.entries()) {
    if (index === target || reach(model, subgraph, target)) above.add(index);
  }
  return above;
}

function reach(model: Model, from: Subgraph, target: number): boolean {
  const seen = new Set<number>();
  const waiting = [from];
  for (let subgraph = waiting.pop(); subgraph !== undefined; subgraph = waiting.pop()) {
    for (const { lifetime, location } of subgraph.operands) {
      if (lifetime !== OperandLifeTime.SUBGRAPH || seen.has(location.offset)) continue;
      seen.add(location.offset);
      waiting.push(elementAt(model.referenced, location.offset));
    }
  }
  return seen.has(target);
}

export const emptyModel: ModelMutation = {
  name: "emptyModel",
  says: "The main subgraph has no operations, or has nothing at all.",
  *mutate(model) {
    yield invalid("main is empty", { ...model, main: empty });
    const inputs = model.main.operands.map(
      (operand): Operand => ({
        ...operand,
        lifetime: OperandLifeTime.SUBGRAPH_INPUT,
        location: nowhere,
        numberOfConsumers: 0,
      }),
    );
    const operands = inputs.filter(({ type }) => type !== OperandType.SUBGRAPH);
    yield invalid("main has operands, but no operations", {
      ...model,
      main: { ...empty, operands, inputIndexes: [...operands.keys()] },
    });
  },
};
