/** A device's support of the operations of a model. */
import { elementAt } from "@nnhal/operations";
import { type Model, operationTypeNames, type SupportedOperations } from "@nnhal/types";

/** The device's reason against the first operation of a model that it does not support; undefined if it supports all. */
export function reasonAgainst(
  { main }: Model,
  { supported, reasons }: Pick<SupportedOperations, "supported" | "reasons">,
): string | undefined {
  const place = supported.indexOf(false);
  if (place < 0) return undefined;
  const { type } = elementAt(main.operations, place);
  return reasons[place] ?? `operation ${place} (${operationTypeNames.get(type) ?? type}) is not supported`;
}
