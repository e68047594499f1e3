/**
 * The meaning of the codes in a model: of operations and operand types of the HAL and of extensions, by their prefixes.
 */
import {
  type Extension,
  type ExtensionNameAndPrefix,
  OperandTypeRange,
  OperationType,
  OperationTypeRange,
  operandTypeNames,
  operationTypeNames,
} from "@nnhal/types";
import type { ElementFacts } from "./byte-size.ts";
import type { Operation } from "./define.ts";
import { type ExtensionDefinition, splitExtensionCode, typesOfPrefix } from "./extension.ts";
import { type AnyOperandType, elementFactsOf, typeText } from "./operand-type.ts";
import { operationByCode } from "./registry.ts";

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
