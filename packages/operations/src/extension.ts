/**
 * Vendor extensions: operand types and operations under a name of the vendor's, described as the HAL's own are (HAL 1.2 Extension).
 * An extension is a value: nothing registers itself, and code that uses one passes it on.
 */
import {
  type Extension,
  type ExtensionNameAndPrefix,
  ExtensionTypeEncoding,
  OperandTypeRange,
  OperationType,
  OperationTypeRange,
  operandTypeNames,
  operationTypeNames,
} from "@nnhal/types";
import type { ElementFacts } from "./byte-size.ts";
import type { Operation } from "./define.ts";
import { typesOfForm } from "./match.ts";
import {
  type AnyOperandType,
  type AnyTensorData,
  type ExtensionDataCodec,
  type ExtensionDataConstructor,
  type ExtensionOperandType,
  elementFactsOf,
  isExtensionType,
  typeText,
} from "./operand-type.ts";
import { operationByCode } from "./registry.ts";

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

/** Operations and types that a device knows beyond those of the HAL. */
export interface VendorDefinitions {
  /** Default: none. */
  readonly extensions?: readonly ExtensionDefinition[] | undefined;
  /** The meaning of OEM_OPERATION (code 10000), whose operands may be of any types. Default: the operation is not known. */
  readonly oemOperation?: Operation | undefined;
}

/** The meaning of the codes in a model. */
export interface Vocabulary {
  /** Undefined: neither the HAL nor a known extension has such an operation. */
  readonly operationByCode: (code: number) => Operation | undefined;
  /** Undefined: neither the HAL nor a known extension has such a type. */
  readonly operandTypeByCode: (code: number) => AnyOperandType | undefined;
}

/** Parts of lower case letters, digits and underscores, with dots between them (HAL 1.2 Extension.name). */
const extensionName = /^[a-z0-9_]+(\.[a-z0-9_]+)+$/;

/** Returns whether a name is valid for an extension, such as `com.example.fibonacci`. */
export function isExtensionName(name: string): boolean {
  return extensionName.test(name);
}

const typesOfPrefix = 2 ** ExtensionTypeEncoding.LOW_BITS_TYPE;

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

const halVocabulary: Vocabulary = {
  operationByCode,
  operandTypeByCode: (code) => operandTypeNames.get(code),
};

/**
 * Returns the meaning of codes in a model with these prefixes. Codes up to 65535 are the HAL's; those above belong to
 * the extension that their prefix names, so one operation has different codes in models with different prefixes.
 */
export function vocabularyOf(
  prefixes: readonly ExtensionNameAndPrefix[],
  { extensions = [], oemOperation }: VendorDefinitions,
): Vocabulary {
  const byPrefix = new Map<number, ExtensionDefinition>();
  for (const { name, prefix } of prefixes) {
    const extension = extensions.find((each) => each.name === name);
    if (extension !== undefined) byPrefix.set(prefix, extension);
  }
  if (byPrefix.size === 0 && oemOperation === undefined) return halVocabulary;
  return {
    operationByCode(code) {
      if (code === OperationType.OEM_OPERATION) return oemOperation;
      if (code <= OperationTypeRange.BASE_MAX) return operationByCode(code);
      const { prefix, code: own } = splitExtensionCode(code);
      return byPrefix.get(prefix)?.operations.find((operation) => operation.code === own);
    },
    operandTypeByCode(code) {
      if (code <= OperandTypeRange.BASE_MAX) return operandTypeNames.get(code);
      const { prefix, code: own } = splitExtensionCode(code);
      return byPrefix.get(prefix)?.operandTypes.find((type) => type.code === own);
    },
  };
}

/** The facts of an operand type that sizes follow from, and its name for messages. */
export interface NamedFacts extends ElementFacts {
  readonly name: string;
}

/** The facts of a type by its code within an extension; undefined if the extension does not describe it. */
export function describedFacts({ name, operandTypes }: Extension, code: number): NamedFacts | undefined {
  const described = operandTypes.find(({ type }) => type === code);
  if (described === undefined) return undefined;
  const { isTensor, byteSize } = described;
  return { name: `${name} type ${code}`, kind: isTensor ? "tensor" : "scalar", elementSize: byteSize };
}

/** Facts of operand types by their codes in a model; undefined for a type that is not known. */
export type FactsByCode = (code: number) => NamedFacts | undefined;

const halFacts: ReadonlyMap<number, NamedFacts> = new Map(
  [...operandTypeNames].map(([code, name]) => [code, namedFacts(name)]),
);

/** The facts of operand types in a model with these prefixes, by what devices say of their extensions. */
export function factsByCode(
  prefixes: readonly ExtensionNameAndPrefix[],
  extensions: readonly Extension[],
): FactsByCode {
  return (code) => {
    const known = halFacts.get(code);
    if (known !== undefined) return known;
    const { prefix, code: own } = splitExtensionCode(code);
    const name = prefixes.find((each) => each.prefix === prefix)?.name;
    const extension = extensions.find((each) => each.name === name);
    return extension && describedFacts(extension, own);
  };
}

/** The facts of the operand types of a vocabulary. */
export function factsIn({ operandTypeByCode }: Pick<Vocabulary, "operandTypeByCode">): FactsByCode {
  return (code) => {
    const known = halFacts.get(code);
    if (known !== undefined) return known;
    const type = operandTypeByCode(code);
    return type && namedFacts(type);
  };
}

/** The facts of a type, and its name. */
export function namedFacts(type: AnyOperandType): NamedFacts {
  const { kind, elementSize } = elementFactsOf(type);
  return { name: typeText(type), kind, elementSize };
}

/**
 * An operand type's code in a model as messages name it: `TENSOR_FLOAT32`, `com.example.fibonacci INT64` if the vocabulary knows it, else
 * `com.example.fibonacci type 0`, or the code in words.
 */
export function operandTypeText(
  code: number,
  prefixes: readonly ExtensionNameAndPrefix[] = [],
  { operandTypeByCode }: Pick<Vocabulary, "operandTypeByCode"> = halVocabulary,
): string {
  const known = operandTypeByCode(code);
  return known === undefined ? codeText("type", code, prefixes) : typeText(known);
}

/** An operation's code in a model as messages name it: see `operandTypeText`. */
export function operationText(
  code: number,
  prefixes: readonly ExtensionNameAndPrefix[] = [],
  vocabulary: Pick<Vocabulary, "operationByCode"> = halVocabulary,
): string {
  const name = operationTypeNames.get(code);
  if (name !== undefined) return name;
  const known = vocabulary.operationByCode(code);
  if (known?.extension !== undefined) return `${known.extension} ${known.name}`;
  return codeText("operation", code, prefixes);
}

function codeText(what: "type" | "operation", code: number, prefixes: readonly ExtensionNameAndPrefix[]): string {
  const inWords = what === "type" ? "operand type" : "operation type";
  if (!(code >= typesOfPrefix)) return `${inWords} ${code}`;
  const { prefix, code: own } = splitExtensionCode(code);
  const name = prefixes.find((each) => each.prefix === prefix)?.name;
  return name === undefined ? `${inWords} ${own} of extension prefix ${prefix}` : `${name} ${what} ${own}`;
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
