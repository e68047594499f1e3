/**
 * Dialect of an import: the HAL's operations and types alone, or those of the extension for .tflite as well.
 */
import { extensionName, tfliteTypes } from "@nnhal/extension-tflite/types";
import {
  type AnyOperandType,
  type ExtensionDefinition,
  extensionCode,
  type Operation,
  operationByCode,
  splitExtensionCode,
} from "@nnhal/operations";
import {
  type ExtensionNameAndPrefix,
  type HalVersion,
  OperandType,
  OperationType,
  type OperationTypeName,
} from "@nnhal/types";
import type { TensorTypeName } from "../schema/codes.ts";
import { extension } from "./extension.ts";

/** See the file's head. */
export interface Dialect {
  /** The operand type of an element type that the HAL lacks; undefined if the dialect lacks it too. */
  typeOf(element: TensorTypeName): AnyOperandType | undefined;
  /** The type of INT16 elements with a zero point other than 0; undefined if the dialect lacks it. */
  readonly shiftedInt16: typeof tfliteTypes.TENSOR_QUANT16_ASYMM_SIGNED | undefined;
  /** The HAL version whose operations and types it has. */
  readonly halVersion: HalVersion;
  /** True if layers of float inputs and 8-bit weights quantise their inputs at each execution; else their weights are widened. */
  readonly quantisesInputs: boolean;
  /** The operation of `nnhal.tflite` of a name; undefined if there is none. */
  operationOf(name: string): Operation | undefined;
  /** The operation that was registered for a custom operator, or that of `nnhal.tflite`; undefined if there is none. */
  customOf(customCode: string): Operation | undefined;
  /** The code of an operation in an imported model. */
  operationCode(operation: Operation): number;
  /** The code of a type in an imported model. */
  typeCode(type: AnyOperandType): number;
  /** The entries of the extensions whose codes are used. */
  prefixesOf(codes: readonly { readonly type: number }[]): ExtensionNameAndPrefix[];
}

/** Options of `createDialect`. */
export interface DialectOptions {
  /** True if `nnhal.tflite` may be used. */
  readonly hasExtension: boolean;
  readonly quantisesInputs: boolean;
  readonly halVersion: HalVersion;
  /** Extensions whose operations have the names of custom operators. */
  readonly custom: readonly ExtensionDefinition[];
}

/** Codes of the extension's operations for operators that the HAL lacks begin here: see `isBuiltinForm`. */
const firstBuiltin = 1000;

/** Codes of the extension's operations for custom operators, whose names they have, begin here. */
const firstCustom = 2100;

let operationsByName: ReadonlyMap<string, Operation> | undefined;

function extensionOperation(name: string): Operation | undefined {
  operationsByName ??= new Map(extension().operations.map((operation) => [operation.name, operation]));
  return operationsByName.get(name);
}

/** The extension's operation for a custom operator that TensorFlow Lite registers itself. */
function registeredOperation(customCode: string): Operation | undefined {
  const operation = extensionOperation(customCode);
  return operation !== undefined && operation.code >= firstCustom ? operation : undefined;
}

const typesByElement: { readonly [Name in TensorTypeName]?: AnyOperandType } = {
  INT64: tfliteTypes.TENSOR_INT64,
  STRING: tfliteTypes.TENSOR_STRING,
  UINT64: tfliteTypes.TENSOR_UINT64,
  UINT32: tfliteTypes.TENSOR_UINT32,
  FLOAT64: tfliteTypes.TENSOR_FLOAT64,
  COMPLEX64: tfliteTypes.TENSOR_COMPLEX64,
  COMPLEX128: tfliteTypes.TENSOR_COMPLEX128,
};

/** The dialect of an import. Prefixes of extensions count from 1. */
export function createDialect({ hasExtension, quantisesInputs, halVersion, custom: given }: DialectOptions): Dialect {
  // The operations of `nnhal.tflite` are of builtin operators.
  const custom = given.filter(({ name }) => name !== extensionName);
  const names = [...new Set([extensionName, ...custom.map(({ name }) => name)])];
  const codeOf = (extension: string, code: number) => extensionCode(names.indexOf(extension) + 1, code);
  const customs = new Map(
    custom.flatMap(({ operations }) => operations.map((operation) => [operation.name, operation])),
  );
  return {
    typeOf: (element) => (hasExtension ? typesByElement[element] : undefined),
    shiftedInt16: hasExtension ? tfliteTypes.TENSOR_QUANT16_ASYMM_SIGNED : undefined,
    halVersion,
    quantisesInputs: hasExtension && quantisesInputs,
    operationOf: (name) => (hasExtension ? extensionOperation(name) : undefined),
    customOf: (customCode) => customs.get(customCode) ?? (hasExtension ? registeredOperation(customCode) : undefined),
    operationCode: ({ code, extension }) => (extension === undefined ? code : codeOf(extension, code)),
    typeCode: (type) => (typeof type === "string" ? OperandType[type] : codeOf(type.extension, type.code)),
    prefixesOf(codes) {
      const used = new Set(codes.map(({ type }) => splitExtensionCode(type).prefix));
      return names.map((name, index) => ({ name, prefix: index + 1 })).filter(({ prefix }) => used.has(prefix));
    },
  };
}

/** True if an operation has the operand list of the builtin operator of its name: its tensors, then its options. */
export function isBuiltinForm({ code }: Operation): boolean {
  return code >= firstBuiltin;
}

/** The HAL's operation. */
export function halOperation(name: OperationTypeName): Operation | undefined {
  return operationByCode(OperationType[name]);
}
