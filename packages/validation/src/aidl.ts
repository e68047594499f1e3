/**
 * Rules 75 – 77, which AIDL alone has, and the codes and prefixes that HIDL alone has. Devices take what any version has and do not ask for
 * them, so that a bundle for a browser has none of this.
 */
import { type FactsByCode, splitExtensionCode } from "@nnhal/operations";
import {
  type AidlVersion,
  type Model,
  operandTypeNames,
  operationTypeNames,
  type Request,
  type Subgraph,
} from "@nnhal/types";
import { type IssueList, show, showDimensions } from "./issues.ts";
import type { RuleCode } from "./rules.ts";
import { isList, isObject, readUntrusted } from "./structure.ts";
import { greatestAidlPrefix, isLostInAidl, sizeOf } from "./type-ranges.ts";

/** Rules 76 and 77, and what HIDL alone has. The model can be any value. */
export function checkModelOfAidl(model: Model, version: AidlVersion, issues: IssueList): void {
  if (!isObject(model)) return;
  checkSubgraph(model.main, "main", version, issues);
  const { referenced, extensionNameToPrefix } = model;
  const lists = [
    isList(referenced) ? referenced : [],
    isList(extensionNameToPrefix) ? extensionNameToPrefix : [],
  ] as const;
  for (let index = 0; index < lists[0].length && !issues.isFull(); index++) {
    const subgraph = lists[0][index];
    const at = `referenced[${index}]`;
    for (const list of ["operands", "operations"] as const) {
      if (isObject(subgraph) && isList(subgraph[list]) && subgraph[list].length === 0)
        issues.add("referenced-empty", `${at}.${list}`, `the subgraph has no ${list}`);
    }
    checkSubgraph(subgraph, at, version, issues);
  }
  for (let index = 0; index < lists[1].length && !issues.isFull(); index++) {
    const entry = lists[1][index];
    if (!isObject(entry) || !(entry.prefix > greatestAidlPrefix)) continue;
    const problem = `the prefix: expected a number within [1, ${greatestAidlPrefix}], got ${show(entry.prefix)}`;
    issues.add("extension-mapping", `extensionNameToPrefix[${index}].prefix`, problem);
  }
}

function checkSubgraph(subgraph: Subgraph | undefined, at: string, version: AidlVersion, issues: IssueList): void {
  if (!isObject(subgraph)) return;
  const { operands, operations } = subgraph;
  const refuse = (code: number, rule: RuleCode, path: string, names: ReadonlyMap<number, string>) => {
    if (!isLostInAidl(code)) return;
    const what = names.get(code) ?? `code ${code}, whose prefix is ${splitExtensionCode(code).prefix},`;
    issues.add(rule, `${path}.type`, `${what} exists in HAL 1.0 to 1.3 only, the model is of ${version}`);
  };
  for (let index = 0; isList(operands) && index < operands.length && !issues.isFull(); index++) {
    const operand = operands[index];
    if (!isObject(operand)) continue;
    const path = `${at}.operands[${index}]`;
    refuse(operand.type, "operand-type", path, operandTypeNames);
    const padding = isObject(operand.location) ? (operand.location.padding ?? 0) : 0;
    if (padding !== 0)
      issues.add("model-padding", `${path}.location.padding`, `the padding: expected 0, got ${show(padding)}`);
  }
  for (let index = 0; isList(operations) && index < operations.length && !issues.isFull(); index++) {
    const operation = operations[index];
    if (!isObject(operation)) continue;
    const rule = splitExtensionCode(operation.type).prefix === 0 ? "operation-type" : "extension-operation-version";
    refuse(operation.type, rule, `${at}.operations[${index}]`, operationTypeNames);
  }
}

/** Rule 75, of a request that keeps all others. */
export function checkRequestOfAidl(request: Request, { main }: Model, factsOf: FactsByCode, issues: IssueList): void {
  for (const name of ["inputs", "outputs"] as const) {
    const indexes = name === "inputs" ? main.inputIndexes : main.outputIndexes;
    for (let position = 0; position < request[name].length && !issues.isFull(); position++) {
      const argument = request[name][position];
      const operand = readUntrusted(main.operands, indexes[position]);
      if (argument === undefined || operand === undefined || argument.hasNoValue) continue;
      const { location, dimensions } = argument;
      const pool = request.pools[location.poolIndex];
      // An argument in a token's pool or a hardware buffer uses all of it; its length is 0.
      if (pool?.kind !== "memory" || pool.memory.name === "hardware_buffer") continue;
      const type = factsOf(operand.type);
      const known = dimensions.length > 0 ? dimensions : operand.dimensions;
      // Of an extension's type, and of unknown dimensions, any length but 0 may be right.
      const size = type === undefined ? 0 : sizeOf(type, known);
      if (size === 0 ? location.length > 0 : location.length === size) continue;
      const taken = size === 0 ? "some" : size;
      const problem = `the argument has ${location.length} bytes where a ${type?.name ?? "value"} ${showDimensions(known)} takes ${taken}`;
      issues.add("argument-exact-length", `${name}[${position}].location.length`, problem);
    }
  }
}
