/**
 * What an import may write: the HAL's operations and types alone, or those of the extension for .tflite as well.
 */
import { tfliteExtension, tfliteTypes } from "@nnhal/extension-tflite";
import { type AnyOperandType, extensionCode, type Operation, operationByCode } from "@nnhal/operations";
import { type ExtensionNameAndPrefix, OperandType, OperationType, type OperationTypeName } from "@nnhal/types";
import type { TensorTypeName } from "../schema/codes.ts";

/** See the file's head. */
export interface Dialect {
  /** The operand type of an element type that the HAL lacks; undefined if the dialect lacks it too. */
  typeOf(element: TensorTypeName): AnyOperandType | undefined;
  /** The type of INT16 elements with a zero point other than 0; undefined if the dialect lacks it. */
  readonly shiftedInt16: typeof tfliteTypes.TENSOR_QUANT16_ASYMM_SIGNED | undefined;
  /** The extension's operation of a name; undefined if there is none. */
  operationOf(name: string): Operation | undefined;
}

/** The prefix of the extension in an imported model. */
const prefix = 1;

/** Codes of the extension's operations for operators that the HAL lacks begin here: see `builtinOperation`. */
const firstBuiltin = 1000;

/** The HAL's operations and types alone. */
export const halDialect: Dialect = { typeOf: () => undefined, shiftedInt16: undefined, operationOf: () => undefined };

const operationsByName: ReadonlyMap<string, Operation> = new Map(
  tfliteExtension.operations.map((operation) => [operation.name, operation]),
);

const typesByElement: { readonly [Name in TensorTypeName]?: AnyOperandType } = {
  INT64: tfliteTypes.TENSOR_INT64,
  UINT64: tfliteTypes.TENSOR_UINT64,
  UINT32: tfliteTypes.TENSOR_UINT32,
  FLOAT64: tfliteTypes.TENSOR_FLOAT64,
  COMPLEX64: tfliteTypes.TENSOR_COMPLEX64,
  COMPLEX128: tfliteTypes.TENSOR_COMPLEX128,
};

/** The HAL's, and those of the extension `nnhal.tflite`. */
export const extensionDialect: Dialect = {
  typeOf: (element) => typesByElement[element],
  shiftedInt16: tfliteTypes.TENSOR_QUANT16_ASYMM_SIGNED,
  operationOf: (name) => operationsByName.get(name),
};

/** Whether an operation has the operand list of the builtin operator of its name: its tensors, then its options. */
export function isBuiltinForm({ code }: Operation): boolean {
  return code >= firstBuiltin;
}

/** The HAL's operation. */
export function halOperation(name: OperationTypeName): Operation | undefined {
  return operationByCode(OperationType[name]);
}

/** The code of an operation in an imported model. */
export function operationCode({ code, extension }: Operation): number {
  return extension === undefined ? code : extensionCode(prefix, code);
}

/** The code of a type in an imported model. */
export function typeCode(type: AnyOperandType): number {
  return typeof type === "string" ? OperandType[type] : extensionCode(prefix, type.code);
}

/** The entry of the extension in the model, if some of its codes are used. */
export function prefixesOf(codes: readonly { readonly type: number }[]): ExtensionNameAndPrefix[] {
  const isUsed = codes.some(({ type }) => type >= extensionCode(prefix, 0));
  return isUsed ? [{ name: tfliteExtension.name, prefix }] : [];
}
