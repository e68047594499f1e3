/** Models made of one subgraph of another model. */
import { elementAt } from "@nnhal/operations";
import { type Model, OperandLifeTime, type Subgraph } from "@nnhal/types";

/** The model whose main subgraph is one of another model's referenced ones. */
export function referencedModel(model: Model, index: number): Model {
  return modelWith(model, elementAt(model.referenced, index));
}

/**
 * A model with another main subgraph. Subgraphs and extensions are kept only if they are used: an old driver refuses a
 * model that has any.
 */
export function modelWith(model: Model, main: Subgraph): Model {
  const { operands, operations } = main;
  // The subgraphs are not searched for the operands that they use.
  if (operands.some(({ lifetime }) => lifetime === OperandLifeTime.SUBGRAPH)) return { ...model, main };
  if (model.extensionNameToPrefix.length === 0) return { ...model, main, referenced: [] };
  const prefixes = new Set([...operands, ...operations].map(({ type }) => type >>> 16));
  const extensionNameToPrefix = model.extensionNameToPrefix.filter(({ prefix }) => prefixes.has(prefix));
  return { ...model, main, referenced: [], extensionNameToPrefix };
}
