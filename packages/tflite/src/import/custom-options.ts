/**
 * Options of custom operators: the values of an operation's parameters, which the operation reads itself (`customOptions` of its
 * definition), or which are those of their names in a FlexBuffer with one map.
 */
import {
  type FlexMap,
  type FlexValue,
  NotLoadedError,
  type Operation,
  type OptionValues,
  type Param,
  type StoredOptions,
} from "@nnhal/operations";
import type { OptionValue } from "../schema/options.ts";
import { flexbufferMap } from "./flexbuffer.ts";
import type { OperatorAccess } from "./lowering/access.ts";

type Place = Pick<OperatorAccess, "operator" | "fail">;

/** The value of an option; undefined if there is none. */
export type CustomOptions = (name: string) => FlexValue | undefined;

/** Opens the map of a custom operator's options. Throws a TfliteError if the bytes are something else; without bytes it has none. */
export function customOptions(op: Place): CustomOptions {
  const stored = storedOptions(op);
  const map = readOptions(op, () => stored.map());
  return (name) => (Object.hasOwn(map, name) ? map[name] : undefined);
}

/**
 * The values of a custom operator's options, by the names of the operation's parameters. The operator's inputs are the first tensors of the
 * operation; further ones may be lists.
 */
export function givenOptions(access: OperatorAccess, operation: Operation): Readonly<Record<string, OptionValue>> {
  const { params } = operation.forms[0];
  const lists = params.filter(({ kind }) => kind === "tensor").slice(access.operator.inputs.length);
  const candidates = params.filter((param) => param.kind !== "tensor" || lists.includes(param));
  const values: Record<string, OptionValue> = {};
  // An operation that reads options may refuse them, also if it needs none.
  if (candidates.length === 0 && operation.customOptions === undefined) return values;
  const optionOf = optionsOf(access, operation);
  for (const param of candidates) {
    const value = optionOf(param) ?? param.default;
    access.ensure(value !== undefined || param.kind === "tensor", () => `the custom option ${param.name} is missing`);
    if (value !== undefined) values[param.name] = value;
  }
  return values;
}

/** The values of an operation's parameters that the options of its operator have. Throws a TfliteError for options that it cannot read. */
function optionsOf(op: Place, operation: Operation): (param: Param) => OptionValues[string] {
  const { customOptions: read } = operation;
  if (read === undefined) {
    const options = customOptions(op);
    return ({ name, kind }) => fittingValue(op, name, kind, options(name));
  }
  const stored = storedOptions(op);
  const values: OptionValues = readOptions(op, () => read(stored)) ?? {};
  return ({ name, kind }) => (Object.hasOwn(values, name) ? fittingValue(op, name, kind, values[name]) : undefined);
}

function storedOptions({ operator: { version, customOptions: bytes = new Uint8Array(0) } }: Place): StoredOptions {
  return { version, bytes, map: (): FlexMap => (bytes.length === 0 ? {} : flexbufferMap(bytes)) };
}

/** Runs a reader of options. An error that it throws is about the bytes: an operation that reads its options may do so without a check. */
function readOptions<Result>(op: Place, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    // In a browser an operation may need something that is loaded by need.
    if (error instanceof NotLoadedError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    return op.fail(`the options of ${customOperator(op)} cannot be read: ${reason}`);
  }
}

/** A value as its parameter takes it: integers and truth values are taken for each other, as readers of FlexBuffers do. */
function fittingValue(op: Place, name: string, kind: Param["kind"], value: unknown): OptionValues[string] {
  if (value === undefined || value === null) return undefined;
  if (kind === "tensor") {
    const isList = Array.isArray(value) && value.every((element) => numberOf(element) !== undefined);
    return isList ? value.map((element) => numberOf(element) ?? 0) : refuse(op, name, "a list of numbers", value);
  }
  const number = numberOf(value) ?? refuse(op, name, kind === "boolean" ? "a truth value" : "a number", value);
  return kind === "boolean" ? number !== 0 : number;
}

function numberOf(value: unknown): number | undefined {
  return ["number", "bigint", "boolean"].includes(typeof value) ? Number(value) : undefined;
}

function refuse(op: Place, name: string, expected: string, value: unknown): never {
  return op.fail(`option ${name} of ${customOperator(op)}: expected ${expected}, got ${kindOf(value)}`);
}

const customOperator = ({ operator }: Place) => `the custom operator ${operator.customCode ?? ""}`;

/** The kind of a value, in messages. */
export function kindOf(value: unknown): string {
  if (typeof value === "string") return "a text";
  if (Array.isArray(value)) return "a list";
  if (value instanceof Uint8Array) return "bytes";
  return typeof value === "object" ? "a map" : `${value}`;
}
