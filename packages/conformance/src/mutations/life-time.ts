/**
 * Mutations of where an operand's value comes from, and of how often it is read.
 */
import { type Model, type Operand, OperandLifeTime, operandLifeTimeNames } from "@nnhal/types";
import { placeConstant } from "./constant.ts";
import { invalid, type ModelMutation } from "./mutation.ts";
import { isConstant, isWritten, nowhere, type OperandSite, operandSites, withOperand } from "./site.ts";

const { TEMPORARY_VARIABLE, SUBGRAPH_INPUT, SUBGRAPH_OUTPUT, CONSTANT_COPY } = OperandLifeTime;

/** Lifetimes that are wrong about whether an operation writes the operand. An omitted one may have either kind. */
function wrongLifeTimes(operand: Operand): readonly number[] {
  if (isWritten(operand)) return [SUBGRAPH_INPUT, CONSTANT_COPY];
  const { lifetime } = operand;
  return isConstant(operand) || lifetime === SUBGRAPH_INPUT ? [TEMPORARY_VARIABLE, SUBGRAPH_OUTPUT] : [];
}

/** The lifetime with and without which the operand is in the list of inputs or outputs, and is written as before. */
function otherSideOfBoundary(operand: Operand): number | undefined {
  if (isConstant(operand)) return SUBGRAPH_INPUT;
  switch (operand.lifetime) {
    case SUBGRAPH_INPUT:
      return CONSTANT_COPY;
    case SUBGRAPH_OUTPUT:
      return TEMPORARY_VARIABLE;
    case TEMPORARY_VARIABLE:
      return SUBGRAPH_OUTPUT;
    default:
      return undefined;
  }
}

export const operandLifeTime: ModelMutation = {
  name: "operandLifeTime",
  says: "An operand is written although its lifetime says that it has a value, or is not although it must be.",
  *mutate(model) {
    for (const site of operandSites(model)) {
      const { subgraph, index } = site;
      const others = (list: readonly number[]) => list.filter((other) => other !== index);
      for (const lifetime of wrongLifeTimes(site.operand)) {
        const inputIndexes = others(subgraph.inputIndexes);
        const outputIndexes = others(subgraph.outputIndexes);
        if (lifetime === SUBGRAPH_INPUT) inputIndexes.push(index);
        if (lifetime === SUBGRAPH_OUTPUT) outputIndexes.push(index);
        yield* withLifeTime({ ...site, subgraph: { ...subgraph, inputIndexes, outputIndexes } }, lifetime);
      }
    }
  },
};

export const operandInputOutput: ModelMutation = {
  name: "operandInputOutput",
  says: "An operand's lifetime does not agree with the lists of inputs and outputs.",
  *mutate(model) {
    for (const site of operandSites(model)) {
      const lifetime = otherSideOfBoundary(site.operand);
      if (lifetime !== undefined) yield* withLifeTime(site, lifetime);
    }
  },
};

/** The mutant in which the operand, in the subgraph as the site now has it, has another lifetime. */
function* withLifeTime({ subgraph, index, operand, label, model, ...site }: OperandSite, lifetime: number) {
  const name = `${label} is a ${operandLifeTimeNames.get(lifetime)}`;
  const change = (changes: Partial<Operand>): Model =>
    site.with({ ...subgraph, operands: subgraph.operands.with(index, { ...operand, lifetime, ...changes }) });
  if (lifetime !== CONSTANT_COPY) {
    yield invalid(name, change({ location: nowhere }));
    return;
  }
  const placed = placeConstant(model, operand);
  if (typeof placed === "string") yield invalid(name, model, placed);
  else yield invalid(name, { ...change({ location: placed.location }), operandValues: placed.operandValues });
}

/** One code beyond each end of the lifetimes. */
const unknownLifeTimes = [-1, Math.max(...Object.values(OperandLifeTime)) + 1];

export const unknownLifeTime: ModelMutation = {
  name: "unknownLifeTime",
  says: "An operand has a lifetime that the HAL does not know.",
  *mutate(model) {
    for (const site of operandSites(model)) {
      for (const lifetime of unknownLifeTimes) {
        yield invalid(`${site.label} has lifetime ${lifetime}`, withOperand(site, { lifetime }));
      }
    }
  },
};

export const operandNumberOfConsumers: ModelMutation = {
  name: "operandNumberOfConsumers",
  says: "An operand's numberOfConsumers is one too many or too few.",
  *mutate(model) {
    for (const site of operandSites(model)) {
      const { numberOfConsumers: right } = site.operand;
      for (const numberOfConsumers of right === 0 ? [1] : [right - 1, right + 1]) {
        const name = `${site.label} has numberOfConsumers ${numberOfConsumers}`;
        yield invalid(name, withOperand(site, { numberOfConsumers }));
      }
    }
  },
};
