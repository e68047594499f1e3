/**
 * Validation of the extensions that a driver names (HAL 1.2 Extension).
 */
import { isExtensionName } from "@nnhal/operations";
import type { Extension } from "@nnhal/types";
import { collectIssues, type Issue, type IssueList, show } from "./issues.ts";
import { isList, isObject, isUint32 } from "./structure.ts";

/** Greatest code of a type within an extension. */
const greatestType = 0xffff;

/** The rules that a driver's extensions break; none if all are valid. Never throws. */
export function extensionIssues(extensions: readonly Extension[]): Issue[] {
  return collectIssues("extensions", undefined, (issues) => checkExtensions(extensions, issues));
}

/** Returns whether a driver's extensions are valid. */
export function validateExtensions(extensions: readonly Extension[]): boolean {
  return extensionIssues(extensions).length === 0;
}

function checkExtensions(extensions: readonly Extension[], issues: IssueList): void {
  if (!isList(extensions)) {
    issues.add("structure", "extensions", `extensions: expected an array, got ${show(extensions)}`);
    return;
  }
  const names = new Set<string>();
  for (let index = 0; index < extensions.length && !issues.isFull(); index++) {
    const extension = extensions[index];
    const path = `extensions[${index}]`;
    if (!isObject(extension)) {
      issues.add("structure", path, `the extension is ${show(extension)}`);
      continue;
    }
    const { name } = extension;
    if (typeof name !== "string" || !isExtensionName(name)) {
      const expected = "a reverse domain name of lower case letters, digits, underscores and dots";
      issues.add("extension-name", `${path}.name`, `the name: expected ${expected}, got ${show(name)}`);
    } else if (names.has(name)) issues.add("extension-name", `${path}.name`, `${show(name)} is named before`);
    names.add(name);
    checkOperandTypes(extension, path, issues);
  }
}

function checkOperandTypes({ operandTypes }: Extension, at: string, issues: IssueList): void {
  if (!isList(operandTypes)) {
    issues.add("structure", `${at}.operandTypes`, `operandTypes: expected an array, got ${show(operandTypes)}`);
    return;
  }
  const types = new Set<number>();
  for (let index = 0; index < operandTypes.length && !issues.isFull(); index++) {
    const path = `${at}.operandTypes[${index}]`;
    const entry = operandTypes[index];
    if (!isObject(entry) || typeof entry.isTensor !== "boolean") {
      issues.add("structure", path, `the operand type is ${show(entry)} with isTensor ${show(entry?.isTensor)}`);
      continue;
    }
    const { type, byteSize } = entry;
    if (!isUint32(type) || type > greatestType) {
      const problem = `the type: expected an integer within [0, ${greatestType}], got ${show(type)}`;
      issues.add("extension-operand-type", `${path}.type`, problem);
    } else if (types.has(type)) {
      issues.add("extension-operand-type", `${path}.type`, `type ${type} is described before`);
    }
    types.add(type);
    if (isUint32(byteSize)) continue;
    const problem = `the byteSize: expected an integer within [0, 2^32), got ${show(byteSize)}`;
    issues.add("extension-operand-type", `${path}.byteSize`, problem);
  }
}
