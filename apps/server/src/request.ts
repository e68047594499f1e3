/** An inference request, as both protocols represent it, and its response. */
import { type Datatype, datatypes, isDatatype } from "./datatypes.ts";
import { expectValid, shortText, valueText } from "./errors.ts";
import { MOST_AXES, type Tensor } from "./tensors.ts";

/** Named values of a request. */
export type Parameters = Readonly<Record<string, string | number | boolean>>;

/** An output that a request asks for. */
export interface RequestedOutput {
  readonly name: string;
  /** True if REST returns it as bytes after the JSON. */
  readonly binary: boolean;
  /** Number of best classes to return instead of the elements; 0: the elements. */
  readonly classification: number;
}

/** A request to compute. */
export interface InferRequest {
  readonly id: string;
  readonly inputs: readonly Tensor[];
  /** undefined: all. */
  readonly outputs: readonly RequestedOutput[] | undefined;
  /** True if REST returns outputs that are not requested by name as bytes. */
  readonly binary: boolean;
  /** Time limit in milliseconds; undefined: the server's limit. */
  readonly timeout: number | undefined;
}

/** Result of a request. */
export interface InferResponse {
  readonly model: string;
  readonly version: string;
  readonly id: string;
  readonly outputs: readonly Tensor[];
}

/** Reads the name, datatype and shape of an input. Throws a RequestError. */
export function headOf(
  name: unknown,
  datatype: unknown,
  shape: unknown,
): { readonly name: string; readonly datatype: Datatype; readonly shape: readonly number[] } {
  expectValid(typeof name === "string" && name !== "", () => "an input has no name");
  const what = inputText(name);
  expectValid(
    isDatatype(datatype),
    () => `${what}: ${valueText(datatype)} is not a datatype; they are ${datatypes.join(", ")}`,
  );
  expectValid(Array.isArray(shape), () => `${what}: its shape is not a list`);
  expectValid(
    shape.length <= MOST_AXES,
    () => `${what}: its shape has ${shape.length} axes; ${MOST_AXES} are the most`,
  );
  const isShape = (list: readonly unknown[]): list is readonly number[] =>
    list.every((extent) => Number.isSafeInteger(extent) && Number(extent) >= 0);
  expectValid(
    isShape(shape),
    () => `${what}: the extents of its shape ${valueText(shape)} are not all integers from 0`,
  );
  return { name, datatype, shape };
}

/** Describes an input for messages. */
export function inputText(name: string): string {
  return `the input "${shortText(name, 200)}"`;
}

/** Reads a requested output. Throws a RequestError. */
export function requestedOutput(name: unknown, parameters: Parameters, binary: boolean): RequestedOutput {
  expectValid(typeof name === "string" && name !== "", () => "a requested output has no name");
  const { classification = 0, binary_data: own = binary } = parameters;
  expectValid(
    typeof classification === "number" && Number.isSafeInteger(classification) && classification >= 0,
    () => `the output "${name}": the parameter classification is ${classification}, not a number of classes`,
  );
  expectValid(
    typeof own === "boolean",
    () => `the output "${name}": the parameter binary_data is ${own}, not a boolean`,
  );
  return { name, binary: own, classification };
}

/** Reads the time limit in a request's parameters: microseconds, as in the extension for scheduling. Throws a RequestError. */
export function timeoutOf({ timeout }: Parameters): number | undefined {
  if (timeout === undefined || timeout === 0) return undefined;
  expectValid(
    typeof timeout === "number" && Number.isSafeInteger(timeout) && timeout > 0,
    () => `the parameter timeout is ${valueText(timeout)}, not a number of microseconds`,
  );
  return timeout / 1000;
}

/** Returns the shortest of some time limits; undefined if there are none. */
export function shortest(limits: readonly (number | undefined)[]): number | undefined {
  const known = limits.filter((limit) => limit !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
