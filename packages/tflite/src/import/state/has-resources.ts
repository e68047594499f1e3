/** Recognises operators and models with resources: variables and tables that live between executions. */
import type { TfliteModel, TfliteOperator } from "../../model.ts";

const resourceOperators: ReadonlySet<string> = new Set([
  "VAR_HANDLE",
  "READ_VARIABLE",
  "ASSIGN_VARIABLE",
  "HASHTABLE",
  "HASHTABLE_FIND",
  "HASHTABLE_IMPORT",
  "HASHTABLE_SIZE",
  "CALL_ONCE",
]);

/** True if an operator makes resources or uses them. */
export function isResourceOperator({ name }: TfliteOperator): boolean {
  return resourceOperators.has(name);
}

/** True if a model may keep state in another way than by variable tensors of its first subgraph. */
export function hasResources({ subgraphs }: TfliteModel): boolean {
  return subgraphs.some(
    ({ operators, tensors }, index) =>
      operators.some(isResourceOperator) || (index > 0 && tensors.some(({ isVariable }) => isVariable)),
  );
}
