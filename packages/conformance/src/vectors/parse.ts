/**
 * From one line of a vectors file to an example. Checks everything that the runner relies on, but not the rules of
 * models: the models of some examples are invalid on purpose.
 */
import { byteSize, elementAt } from "@nnhal/operations";
import { type HalVersion, halVersions, isAidl, operandLifeTimes, operandTypes, operationTypes } from "@nnhal/types";
import type { Allowance, Example, ExampleOperand, ExampleSubgraph } from "./example.ts";
import {
  type Place,
  placeOf,
  readBytes,
  readFlag,
  readInteger,
  readIntegers,
  readList,
  readName,
  readNumber,
  readNumbers,
  readObject,
  readText,
  reject,
  VectorFormatError,
} from "./fields.ts";

const greatestUint32 = 0xffff_ffff;

/** Options of parseExample. */
export interface ParseOptions {
  /**
   * Only the model is used, and it will be validated: indexes of operands may be out of range, and expected values need
   * not fit their shapes. Such an example cannot be run. Default: false.
   */
  readonly forValidation?: boolean | undefined;
}

/** Parses one line. Throws VectorFormatError. */
export function parseExample(line: string, { forValidation = false }: ParseOptions = {}): Example {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    throw new VectorFormatError(`not JSON: ${error instanceof Error ? error.message : error}`);
  }
  const place = placeOf(value, "");
  const name = readText(place, "name");
  const model = readObject(place, "model");
  const minSupportedVersion = readVersion(place, "minSupportedVersion");
  const example: Example = {
    name,
    spec: readText(place, "spec"),
    ...(minSupportedVersion && { minSupportedVersion }),
    isRelaxed: readFlag(place, "isRelaxed"),
    expectFailure: readFlag(place, "expectFailure"),
    expectedMultinomialDistributionTolerance: readNumber(place, "expectedMultinomialDistributionTolerance"),
    main: readSubgraph(readObject(model, "main"), forValidation),
    referenced: readList(model, "referenced", (subgraph) => readSubgraph(subgraph, forValidation)),
  };
  if (!forValidation) checkValues(example);
  return example;
}

function readVersion(place: Place, key: string): HalVersion | undefined {
  const text = readText(place, key);
  const version = halVersions.find((known) => vectorVersion(known) === text);
  if (version === undefined && text !== "UNKNOWN") reject(place, key, "V1_0 to V1_3, AIDL_V1 to AIDL_V4, or UNKNOWN");
  return version;
}

/** A version as vectors write it, such as V1_3 or AIDL_V2. */
function vectorVersion(version: HalVersion): string {
  return isAidl(version) ? version.replace("aidl", "AIDL_V") : `V${version.replace(".", "_")}`;
}

function readSubgraph(place: Place, hasAnyIndexes: boolean): ExampleSubgraph {
  const operands = readList(place, "operands", readOperand);
  const lastOperand = hasAnyIndexes ? greatestUint32 : operands.length - 1;
  return {
    operands,
    inputIndexes: readIntegers(place, "inputIndexes", 0, lastOperand),
    outputIndexes: readIntegers(place, "outputIndexes", 0, lastOperand),
    operations: readList(place, "operations", (operation) => ({
      type: readName(operation, "type", operationTypes),
      inputs: readIntegers(operation, "inputs", 0, lastOperand),
      outputs: readIntegers(operation, "outputs", 0, lastOperand),
    })),
  };
}

function readOperand(place: Place): ExampleOperand {
  const allowance = place.fields.allowance === undefined ? undefined : readAllowance(readObject(place, "allowance"));
  const operand: ExampleOperand = {
    type: readName(place, "type", operandTypes),
    dimensions: readIntegers(place, "dimensions", 0, greatestUint32),
    scale: readNumber(place, "scale"),
    zeroPoint: readInteger(place, "zeroPoint", -0x8000_0000, 0x7fff_ffff),
    lifetime: readName(place, "lifetime", operandLifeTimes),
    numberOfConsumers: readInteger(place, "numberOfConsumers", 0, greatestUint32),
    channelQuant: place.fields.channelQuant === null ? null : readChannelQuant(readObject(place, "channelQuant")),
    isIgnored: readFlag(place, "isIgnored"),
    data: readBytes(place, "data"),
    ...(place.fields.isUnspecified !== undefined && { isUnspecified: readFlag(place, "isUnspecified") }),
    ...(allowance && { allowance }),
  };
  const { lifetime, data } = operand;
  const isConstant = lifetime === "CONSTANT_COPY" || lifetime === "CONSTANT_REFERENCE";
  if (isConstant && data === null) reject(place, "data", `the value of the ${lifetime}`);
  if (lifetime === "SUBGRAPH" && data?.length !== 4) reject(place, "data", "the 4 bytes of a subgraph's index");
  return operand;
}

function readAllowance(place: Place): Allowance {
  const [absolute, relative] = [readNumber(place, "absolute"), readNumber(place, "relative")];
  if (absolute < 0) reject(place, "absolute", "a number from 0 up");
  if (relative < 0) reject(place, "relative", "a number from 0 up");
  const { anyUnusual, elements, bias, meanSquare } = place.fields;
  return {
    absolute,
    relative,
    ...(anyUnusual !== undefined && { anyUnusual: readFlag(place, "anyUnusual") }),
    ...(elements !== undefined && { elements: readBounds(place, "elements") }),
    ...(bias !== undefined && { bias: readNumber(place, "bias") }),
    ...(meanSquare !== undefined && { meanSquare: readNumber(place, "meanSquare") }),
  };
}

/** Numbers from 0 up, or null. */
function readBounds(place: Place, key: string): (number | null)[] {
  const { [key]: list } = place.fields;
  const isBound = (element: unknown): element is number | null =>
    element === null || (typeof element === "number" && element >= 0);
  if (!Array.isArray(list) || !list.every(isBound)) reject(place, key, "a list of numbers from 0 up, or null");
  return list;
}

function readChannelQuant(place: Place) {
  return {
    scales: readNumbers(place, "scales"),
    channelDim: readInteger(place, "channelDim", 0, greatestUint32),
  };
}

/** Expected values have to have the length that the expected shape says, or they could not be compared. */
function checkValues({ name, main, expectFailure }: Example): void {
  if (expectFailure) return;
  for (const index of main.outputIndexes) {
    const { type, dimensions, data } = elementAt(main.operands, index);
    const expected = byteSize(operandTypes[type], dimensions);
    if ((data?.length ?? 0) !== expected) {
      throw new VectorFormatError(
        `model.main.operands[${index}].data: ${name} expects ${expected} bytes for a ${type} of [${dimensions.join(", ")}], found ${data?.length ?? 0}`,
      );
    }
  }
}
