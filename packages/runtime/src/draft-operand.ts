/**
 * An operand of a model under construction, and the values that can be set on it.
 */
import {
  type ExtensionOperandType,
  extensionCode,
  isUnspecified,
  splitExtensionCode,
  typeText,
} from "@nnhal/operations";
import {
  type DataLocation,
  type OperandExtraParams,
  OperandLifeTime,
  OperandType,
  type OperandTypeName,
  type SymmPerChannelQuantParams,
} from "@nnhal/types";
import { isExtensionOperandType } from "@nnhal/utils";
import { operandTypeIssues } from "@nnhal/validation";
import { expectDimensions } from "./checks.ts";
import { type ModelExtensions, takePrefix, usedExtensions } from "./extensions.ts";
import { describe, expectGiven, expectList, optionsOf } from "./given.ts";
import { greatestSize, type OperandFacts, sizeOfData } from "./operand-facts.ts";
import { expect, NeuralNetworksError, ResultCode } from "./result-code.ts";
import { bytesOf } from "./value.ts";

/** The description of an operand (NNAPI: ANeuralNetworksOperandType). */
export interface OperandDescription {
  /** One of the HAL's types, one of an extension's, or its code: see `getExtensionOperandType`. */
  readonly type: OperandTypeName | number | ExtensionOperandType;
  /** Extents; 0 is an unknown extent and [] an unknown rank of a tensor. Scalars have none. Default: []. */
  readonly dimensions?: readonly number[] | undefined;
  /** Quantisation scale. Default: 0, for types without one. */
  readonly scale?: number | undefined;
  /** Quantised value of the real value 0. Default: 0. */
  readonly zeroPoint?: number | undefined;
}

/** The location of an operand without a value. */
export const nowhere: DataLocation = { poolIndex: 0, offset: 0, length: 0 };

/** See the file's head. */
export interface DraftOperand {
  readonly type: number;
  readonly facts: OperandFacts;
  readonly dimensions: readonly number[];
  readonly scale: number;
  readonly zeroPoint: number;
  lifetime: number;
  location: DataLocation;
  extraParams: OperandExtraParams;
}

/** The operand that a caller describes. `what`: begins the message of an error. */
export function draftOperand(description: OperandDescription, extensions: ModelExtensions, what: string): DraftOperand {
  const {
    type: typeOrName,
    dimensions = [],
    scale = 0,
    zeroPoint = 0,
  } = optionsOf(description, what, undefined, "description");
  const type = codeOf(typeOrName, extensions, what);
  const facts = extensions.factsOf(type);
  expect(facts !== undefined, ResultCode.BAD_DATA, () => `${what}: ${describeUnknown(typeOrName, extensions)}`);
  expectDimensions(dimensions, what);
  const isRanked = facts.kind === "tensor" || dimensions.length === 0;
  expect(isRanked, ResultCode.BAD_DATA, () => `${what}: a ${facts.name} has no dimensions, given [${dimensions}]`);
  const size = sizeOfData(facts, dimensions) ?? 0;
  expect(
    size <= greatestSize,
    ResultCode.BAD_DATA,
    () => `${what}: a ${facts.name} [${dimensions}] takes ${size} bytes`,
  );
  const [issue] = operandTypeIssues({ type, dimensions, scale, zeroPoint }, usedExtensions([{ type }], extensions));
  expect(issue === undefined, ResultCode.BAD_DATA, () => `${what}: ${issue?.message}`);
  return {
    type,
    facts,
    dimensions: [...dimensions],
    scale,
    zeroPoint,
    lifetime: OperandLifeTime.TEMPORARY_VARIABLE,
    location: nowhere,
    extraParams: { kind: "none" },
  };
}

function codeOf(type: OperandDescription["type"], extensions: ModelExtensions, what: string): number {
  if (typeof type === "number") return type;
  if (typeof type !== "object" || type === null) return OperandType[type];
  return extensionCode(takePrefix(extensions, type.extension, what), type.code);
}

function describeUnknown(given: OperandDescription["type"], extensions: ModelExtensions): string {
  const { nameOf } = extensions;
  const type = typeof given === "object" && given !== null ? codeOf(given, extensions, "") : given;
  if (typeof type !== "number" || !isExtensionOperandType(type)) return `${describe(type)} is not an operand type`;
  const { prefix, code: within } = splitExtensionCode(type);
  const name = nameOf(prefix);
  if (name === undefined) return `no extension has the prefix ${prefix}: ask getExtensionOperandType for the code`;
  return `no extension that the model was given describes operand type ${within} of ${name}`;
}

/** Throws BAD_DATA for a constant with unknown extents, and for a length other than its type and extents need. */
export function expectLength({ facts, dimensions }: DraftOperand, length: number, what: string): void {
  expect(
    !isUnspecified(facts, dimensions),
    ResultCode.BAD_DATA,
    () => `${what}: a constant has dimensions [${dimensions}] where all must be known`,
  );
  const needed = sizeOfData(facts, dimensions);
  expect(
    needed === undefined || length === needed,
    ResultCode.BAD_DATA,
    () => `${what}: expected ${needed} bytes, got ${length}`,
  );
}

/** Checks and copies per-channel scales. */
export function channelQuantOf(
  { type, facts, dimensions }: DraftOperand,
  channelQuant: SymmPerChannelQuantParams,
  what: string,
): OperandExtraParams {
  const { scales, channelDim } = optionsOf(channelQuant, what, undefined, "channelQuant");
  expectList(scales, what, "scales");
  const isPerChannel = type === OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL;
  expect(isPerChannel, ResultCode.BAD_DATA, () => `${what}: the operand is a ${facts.name}`);
  const extent = dimensions[channelDim];
  expect(
    extent !== undefined && extent !== 0,
    ResultCode.BAD_DATA,
    () => `${what}: channelDim: expected an axis of known extent of [${dimensions}], got ${channelDim}`,
  );
  expect(
    scales.length === extent,
    ResultCode.BAD_DATA,
    () => `${what}: there are ${scales.length} scales where dimension ${channelDim} has extent ${extent}`,
  );
  const wrong = scales.findIndex((scale) => !(scale > 0 && Number.isFinite(scale)));
  expect(wrong < 0, ResultCode.BAD_DATA, () => `${what}: the scale of channel ${wrong} is ${scales[wrong]}, not > 0`);
  return { kind: "channelQuant", channelQuant: { scales: [...scales], channelDim } };
}

/** Encodes the parameters of an operand of an extension's type, whose code in the model is `code`. */
export function encodeParams(
  operand: DraftOperand,
  given: ExtensionOperandType,
  code: number,
  params: unknown,
  what: string,
): Uint8Array {
  expect(operand.type === code, ResultCode.BAD_DATA, () => `${what}: the operand is not a ${typeText(given)}`);
  const { params: codec } = given;
  expect(codec !== undefined, ResultCode.BAD_DATA, () => `${what}: a ${typeText(given)} has no extension data`);
  try {
    return codec.encode(params);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new NeuralNetworksError(ResultCode.BAD_DATA, `${what}: a ${typeText(given)}: ${reason}`);
  }
}

/** Checks and copies the data of an operand of an extension's type. */
export function extensionDataOf(
  { type, facts }: DraftOperand,
  data: ArrayBufferView | null,
  what: string,
): OperandExtraParams {
  const isExtension = isExtensionOperandType(type);
  expect(
    isExtension,
    ResultCode.BAD_DATA,
    () => `${what}: the operand is a ${facts.name}, which is not an extension's type`,
  );
  if (data === null) return { kind: "none" };
  expectGiven(data, what, "data");
  expect(ArrayBuffer.isView(data), ResultCode.BAD_DATA, () => `${what}: data is ${describe(data)}, not an array`);
  const extension = bytesOf(data, facts.name, what).slice();
  expect(extension.length > 0, ResultCode.BAD_DATA, () => `${what}: the data has no bytes; null stands for none`);
  return { kind: "extension", extension };
}
