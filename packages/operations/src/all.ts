/** Every definition, loaded at once also in a browser: extensions are made of them. */
import type { OperationTypeName } from "@nnhal/types";
import type { Operation } from "./define.ts";
import { operations } from "./registry.gen.ts";

let byName: ReadonlyMap<string, Operation> | undefined;

/** The definition of one of the HAL's operations; undefined if the name has none. */
export function halOperation(name: OperationTypeName): Operation | undefined {
  byName ??= new Map(operations.map((operation) => [operation.name, operation]));
  return byName.get(name);
}
