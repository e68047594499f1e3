/**
 * Names of states: those of the file, made unique within it.
 */
import type { TfliteModel } from "../../model.ts";

/** The name of a variable tensor as a state, by its subgraph and its place there. */
export type VariableName = (subgraph: number, tensor: number) => string;

/** Names the variable tensors of a model. One whose name is empty, or not the only one, has its place after it. */
export function variableNames({ subgraphs }: TfliteModel): VariableName {
  const counts = new Map<string, number>();
  const count = (name: string) => counts.set(name, (counts.get(name) ?? 0) + 1);
  for (const { tensors, operators } of subgraphs) {
    for (const { isVariable, name } of tensors) if (isVariable) count(name);
    for (const { name, options } of operators) if (name === "VAR_HANDLE") count(String(options["sharedName"] ?? ""));
  }
  return (subgraph, tensor) => {
    const name = subgraphs[subgraph]?.tensors[tensor]?.name ?? "";
    return name !== "" && counts.get(name) === 1 ? name : `${name}#${subgraph}.${tensor}`;
  };
}
