/**
 * Vendor extensions: operand types and operations under a name of the vendor's, described as the HAL's own are (HAL 1.2 Extension).
 * An extension is a value: nothing registers itself, and code that uses one passes it on.
 */
import { type Extension, ExtensionTypeEncoding } from "@nnhal/types";
import type { Operation } from "./define.ts";
import { typesOfForm } from "./match.ts";
import {
  type AnyTensorData,
  type ExtensionDataCodec,
  type ExtensionDataConstructor,
  type ExtensionOperandType,
  isExtensionType,
  typeText,
} from "./operand-type.ts";

/** Description of an extension type for `extensionTypes`. */
export interface ExtensionTypeSpec<Data extends AnyTensorData = AnyTensorData, Params = unknown> {
  /** Within the extension: 0 to 65535. */
  readonly code: number;
  readonly kind: "scalar" | "tensor";
  readonly array: ExtensionDataConstructor<Data>;
  /** Numbers of the array that one element takes, such as 2 for a complex number. Default: 1. */
  readonly numbersPerElement?: number | undefined;
  readonly params?: ExtensionDataCodec<Params> | undefined;
}

/** The operand types that `extensionTypes` makes of specs. */
export type ExtensionTypesOf<Specs> = {
  readonly [Name in keyof Specs]: Specs[Name] extends ExtensionTypeSpec<infer Data, infer Params>
    ? ExtensionOperandType<Data, Params>
    : never;
};

/** A vendor's extension, as its package exports it. */
export interface ExtensionDefinition {
  /** Reverse domain name: lower case letters, digits, underscores and at least one dot. */
  readonly name: string;
  /** Changes when operations compute something else: prepared models of other versions are then not taken from a cache. Default: none. */
  readonly version?: string | undefined;
  readonly operandTypes: readonly ExtensionOperandType[];
  /** Their codes are codes within the extension. */
  readonly operations: readonly Operation[];
}

/** An extension whose operations are known to the compiler. */
export interface TypedExtension<Name extends string, Operations extends readonly Operation[]>
  extends ExtensionDefinition {
  readonly name: Name;
  readonly operations: Operations;
}

/** Parts of lower case letters, digits and underscores, with dots between them (HAL 1.2 Extension.name). */
const extensionName = /^[a-z0-9_]+(\.[a-z0-9_]+)+$/;

/** Returns whether a name is valid for an extension, such as `com.example.fibonacci`. */
export function isExtensionName(name: string): boolean {
  return extensionName.test(name);
}

/** The number of codes that a prefix has. */
export const typesOfPrefix = 2 ** ExtensionTypeEncoding.LOW_BITS_TYPE;

/** The operand types of an extension, by name. Throws a TypeError for an invalid name of the extension or an invalid code. */
export function extensionTypes<const Specs extends Readonly<Record<string, ExtensionTypeSpec>>>(
  extension: string,
  specs: Specs,
): ExtensionTypesOf<Specs> {
  expectName(extension);
  const types = Object.entries(specs).map(([name, { code, kind, array, numbersPerElement = 1, params }]) => {
    expectCode(code, `${extension} ${name}`);
    const elementSize = array.BYTES_PER_ELEMENT * numbersPerElement;
    return [name, { extension, name, code, kind, elementSize, array, ...(params && { params }) }] as const;
  });
  expectDistinct(
    extension,
    types.map(([, type]) => type),
  );
  // By construction the types have the names and arrays of their specs.
  return Object.fromEntries(types) as unknown as ExtensionTypesOf<Specs>;
}

/**
 * Defines an extension. `operandTypes` come from `extensionTypes`, `operations` from `defineOperation`, with codes within the extension.
 * Throws a TypeError for an invalid name, codes that are not valid or not distinct, types of another extension, and operations that need
 * what an extension cannot have.
 */
export function defineExtension<
  const Name extends string,
  const Operations extends readonly Operation[] = readonly [],
>(spec: {
  readonly name: Name;
  readonly version?: string | undefined;
  readonly operandTypes?: Readonly<Record<string, ExtensionOperandType>> | undefined;
  readonly operations?: Operations;
}): TypedExtension<Name, Operations> {
  const { name, version, operandTypes = {}, operations = [] } = spec;
  expectName(name);
  const types = Object.values(operandTypes);
  for (const type of types) {
    if (type.extension === name) continue;
    throw new TypeError(`extension ${name}: its type ${type.name} is of the extension ${type.extension}`);
  }
  expectDistinct(name, types);
  for (const operation of operations) expectOperation(name, operation);
  expectDistinct(name, operations);
  // The operations are the given ones, each with the name of its extension.
  const own = operations.map((operation) => ({ ...operation, extension: name })) as readonly Operation[] as Operations;
  return { name, ...(version !== undefined && { version }), operandTypes: types, operations: own };
}

/** Returns the answer of `getSupportedExtensions` for an extension. */
export function describeExtension({ name, operandTypes }: ExtensionDefinition): Extension {
  return {
    name,
    operandTypes: operandTypes.map(({ code, kind, elementSize }) => ({
      type: code,
      isTensor: kind === "tensor",
      byteSize: elementSize,
    })),
  };
}

/** The code in a model of a type or an operation of an extension: its prefix in the model, then its code within the extension. */
export function extensionCode(prefix: number, code: number): number {
  return prefix * typesOfPrefix + code;
}

/** The prefix of a code in a model, and the code within the extension. Prefix 0: the code is one of the HAL's own. */
export function splitExtensionCode(code: number): { readonly prefix: number; readonly code: number } {
  return { prefix: Math.floor(code / typesOfPrefix), code: code % typesOfPrefix };
}

function expectName(name: string): void {
  if (isExtensionName(name)) return;
  const needed = "lower case letters, digits and underscores, with at least one dot, such as com.example.fibonacci";
  throw new TypeError(`${JSON.stringify(name)} is not a valid name of an extension: ${needed}`);
}

function expectCode(code: number, what: string): void {
  if (Number.isInteger(code) && code >= 0 && code < typesOfPrefix) return;
  throw new TypeError(`${what} has code ${code}; codes within an extension are 0 to ${typesOfPrefix - 1}`);
}

function expectOperation(extension: string, operation: Operation): void {
  const what = `extension ${extension}: ${operation.name}`;
  expectCode(operation.code, `${extension} ${operation.name}`);
  if (operation.controlFlow) throw new TypeError(`${what} cannot be control flow`);
  for (const form of operation.forms) {
    for (const [param, types] of typesOfForm(form)) {
      const long = types.find((type) => isExtensionType(type) && type.array.name.startsWith("Big"));
      if (long === undefined || param.wide || param.type !== undefined) continue;
      throw new TypeError(
        `${what}: ${param.name} may be a ${typeText(long)}, which has 64-bit integers: mark it with wide()`,
      );
    }
  }
}

function expectDistinct(extension: string, all: readonly { readonly name: string; readonly code: number }[]): void {
  const names = new Map<number, string>();
  for (const { name, code } of all) {
    const other = names.get(code);
    if (other !== undefined)
      throw new TypeError(`extension ${extension}: ${other} and ${name} have the same code ${code}`);
    names.set(code, name);
  }
}
