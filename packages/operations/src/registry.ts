/**
 * From an operation's code to its definition.
 */
import type { Operation } from "./define.ts";
import { operations } from "./registry.gen.ts";

let byCode: ReadonlyMap<number, Operation> | undefined;

/** The definition of one of the HAL's own operations; undefined for any other code, an extension's or OEM_OPERATION. */
export function operationByCode(code: number): Operation | undefined {
  byCode ??= new Map(operations.map((operation) => [operation.code, operation]));
  return byCode.get(code);
}
