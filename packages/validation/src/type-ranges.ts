/**
 * Which codes of the HAL's enums exist in which HAL version.
 */
import { type ElementFacts, type NamedFacts, specifiedByteSize, splitExtensionCode } from "@nnhal/operations";
import {
  type EnumRow,
  type ExtensionNameAndPrefix,
  executionPreferences,
  type HalVersion,
  type OperandTypeName,
  OperandTypeRange,
  type OperandTypeRow,
  OperationTypeRange,
  operandTypes,
  operationTypes,
  priorities,
} from "@nnhal/types";

/** The facts of a fundamental or OEM operand type. */
export interface KnownOperandType extends OperandTypeRow {
  readonly name: OperandTypeName;
}

const operandTypeByCode: ReadonlyMap<number, KnownOperandType> = new Map(
  operandTypeNamesOf(operandTypes).map((name) => [operandTypes[name].code, { ...operandTypes[name], name }]),
);

const operationTypeByCode: ReadonlyMap<number, EnumRow & { readonly name: string }> = new Map(
  Object.entries(operationTypes).map(([name, row]) => [row.code, { ...row, name }]),
);

function operandTypeNamesOf<Name extends string>(table: Readonly<Record<Name, unknown>>): Name[] {
  return Object.keys(table).filter((name): name is Name => name in table);
}

/** A fundamental or OEM operand type; undefined for any other code. */
export function knownOperandType(code: number): KnownOperandType | undefined {
  return operandTypeByCode.get(code);
}

/** One of the HAL's own operations, OEM_OPERATION included; undefined for any other code. */
export function knownOperationType(code: number): (EnumRow & { readonly name: string }) | undefined {
  return operationTypeByCode.get(code);
}

/** The greatest prefix of an extension in AIDL, whose codes are signed. */
export const greatestAidlPrefix = 0x7fff;

/** Returns whether a code of an operand type or an operation exists in HIDL only: one of an OEM, or of an extension with a prefix of 16 bits. */
export function isLostInAidl(code: number): boolean {
  const { OEM_MIN, OEM_MAX } = OperandTypeRange;
  return (code >= OEM_MIN && code <= OEM_MAX) || splitExtensionCode(code).prefix > greatestAidlPrefix;
}

/** Returns whether a code is an extension's operand type. */
export function isExtensionOperandType(code: number): boolean {
  return code > OperandTypeRange.BASE_MAX && code >>> 0 === code;
}

/** The name of the extension that the prefix of a code belongs to; undefined if none has the prefix. */
export function extensionOf(code: number, prefixes: readonly ExtensionNameAndPrefix[]): string | undefined {
  const { prefix } = splitExtensionCode(code);
  return prefixes.find((entry) => entry.prefix === prefix)?.name;
}

/** Describes the error in a code whose prefix belongs to no extension. */
export function unknownPrefix(code: number): string {
  return `the prefix of ${code} is ${splitExtensionCode(code).prefix}, which extensionNameToPrefix gives to no extension`;
}

/** Returns whether a code is an extension's operation. */
export function isExtensionOperationType(code: number): boolean {
  return code > OperationTypeRange.BASE_MAX && code >>> 0 === code;
}

/** OEM types carry whatever the OEM likes. */
export function isOem(type: NamedFacts): boolean {
  return type.name === "OEM" || type.name === "TENSOR_OEM_BYTE";
}

/** Size in bytes of an operand; 0 if its dimensions are not all known. */
export function sizeOf(type: ElementFacts, dimensions: readonly number[]): number {
  return specifiedByteSize(type, dimensions) ?? 0;
}

/** The HAL version that introduced extensions. */
export const extensionsSince: HalVersion = "1.2";

/** The HAL version that introduced an operand type; undefined if no version has it. */
export function operandTypeSince(code: number): HalVersion | undefined {
  return isExtensionOperandType(code) ? extensionsSince : knownOperandType(code)?.since;
}

/** The HAL version that introduced an operation; undefined if no version has it. */
export function operationTypeSince(code: number): HalVersion | undefined {
  return isExtensionOperationType(code) ? extensionsSince : knownOperationType(code)?.since;
}

/** Returns whether a HAL version knows an operand type (rule 55). */
export function validOperandType(code: number, version: HalVersion): boolean {
  const since = operandTypeSince(code);
  return since !== undefined && since <= version;
}

/** Returns whether a HAL version knows an operation (rule 55). */
export function validOperationType(code: number, version: HalVersion): boolean {
  const since = operationTypeSince(code);
  return since !== undefined && since <= version;
}

/** Returns whether a value is an ExecutionPreference (rule 51). */
export function validateExecutionPreference(preference: unknown): boolean {
  return Object.values(executionPreferences).some(({ code }) => code === preference);
}

/** Returns whether a value is a Priority (rule 52). */
export function validatePriority(priority: unknown): boolean {
  return Object.values(priorities).some(({ code }) => code === priority);
}
