/**
 * Checks of callers' arguments. Callers may use no types, so an argument can be any value.
 */

import { messageOf } from "@nnhal/driver-core/guard";
import { elementAt, type OptionNames, unknownOption } from "@nnhal/operations";
import type { StopSignal } from "@nnhal/types";
import { hasFields, show } from "@nnhal/validation";
import { expect, NeuralNetworksError, ResultCode } from "./result-code.ts";

/**
 * The methods that identify objects of a kind. Classes are identified by methods too, so that files need not import one another in
 * circles.
 */
const kinds = {
  Model: ["factsOf", "getSupportedOperationsForDevices"],
  Compilation: ["lend", "expectOneExplicitDevice"],
  Execution: ["setInput", "burstCompute"],
  Memory: ["content", "giveBack"],
  MemoryDesc: ["addInputRole", "allocate"],
  Burst: ["take", "run"],
  Event: ["dependency", "getSyncFence"],
  Device: ["getCapabilities", "getSupportedOperations", "prepareModel"],
  Logger: ["VLOG", "VLOG_IS_ON", "initVLogMask", "error"],
  Tracer: ["begin"],
} as const;

/** A kind of object that functions of this package accept. */
export type Kind = keyof typeof kinds;

/** Throws UNEXPECTED_NULL for an argument that is null or undefined. `what`: the call, `name`: the argument. */
export function expectGiven<Value>(value: Value, what: string, name: string): asserts value is NonNullable<Value> {
  if (value !== null && value !== undefined) return;
  throw new NeuralNetworksError(ResultCode.UNEXPECTED_NULL, `${what}: ${name} is ${value}`);
}

/** Throws UNEXPECTED_NULL for a missing argument, BAD_DATA for an argument of another kind. */
export function expectKind<Value>(
  value: Value,
  kind: Kind,
  what: string,
  name: string,
): asserts value is NonNullable<Value> {
  expectGiven(value, what, name);
  if (isOf(kind, value)) return;
  const message = `${what}: ${name} is ${describe(value)}, not ${withArticle(kind)}`;
  throw new NeuralNetworksError(ResultCode.BAD_DATA, message);
}

/** Throws UNEXPECTED_NULL for a missing argument, BAD_DATA for one that is not an array. */
export function expectList<Item>(value: readonly Item[], what: string, name: string): void {
  expectGiven(value, what, name);
  if (Array.isArray(value)) return;
  throw new NeuralNetworksError(ResultCode.BAD_DATA, `${what}: ${name} is ${describe(value)}, not an array`);
}

/** Throws BAD_DATA for a callback that is present and not a function. */
export function expectFunction(value: unknown, what: string, name: string): void {
  const isOne = value === undefined || typeof value === "function";
  expect(isOne, ResultCode.BAD_DATA, () => `${what}: ${name} is ${describe(value)}, not a function`);
}

/** Throws UNEXPECTED_NULL for a missing signal, BAD_DATA for one that is not an AbortSignal. */
export function expectSignal(value: StopSignal, what: string, name: string): void {
  expectGiven(value, what, name);
  let isSignal = false;
  try {
    isSignal = hasFields(value) && typeof value.aborted === "boolean";
  } catch {
    // Refused below.
  }
  expect(isSignal, ResultCode.BAD_DATA, () => `${what}: ${name} is ${describe(value)}, not an AbortSignal`);
}

/**
 * A copy of the options of a call, read once: later changes of the object have no effect. Throws UNEXPECTED_NULL for null,
 * BAD_DATA for a value that is not an object, that throws when it is read, or that has an option which is not among the `known`, if they are given.
 */
export function optionsOf<Options extends object>(
  options: Options,
  what: string,
  known?: OptionNames<Options>,
  name = "options",
): Options {
  expectGiven(options, what, name);
  const isOne = typeof options === "object" && !Array.isArray(options);
  expect(isOne, ResultCode.BAD_DATA, () => `${what}: ${name} is ${describe(options)}, not an object of options`);
  let taken: Options;
  try {
    taken = { ...options };
  } catch (error) {
    throw new NeuralNetworksError(ResultCode.BAD_DATA, `${what}: reading ${name} threw: ${messageOf(error)}`);
  }
  // The names of a mapped type are strings.
  const problem = known && unknownOption(taken, known as Readonly<Record<string, true>>);
  expect(problem === undefined, ResultCode.BAD_DATA, () => `${what}: ${name}: ${problem}`);
  return taken;
}

function isOf(kind: Kind, value: unknown): boolean {
  try {
    if (!hasFields(value)) return false;
    const methods: readonly string[] = kinds[kind];
    for (let index = 0; index < methods.length; index++) {
      if (typeof value[elementAt(methods, index)] !== "function") return false;
    }
    return true;
  } catch {
    return false;
  }
}

/** A value in words, with advice if it is a common mistake. Never throws. */
export function describe(value: unknown): string {
  try {
    if (!hasFields(value)) return typeof value === "function" ? "a function" : show(value);
    const kind = Object.keys(kinds).find((one) => isKind(one) && isOf(one, value));
    if (kind !== undefined) return withArticle(kind);
    if (typeof value.then === "function") return "a promise: wait for it first";
    if (value.unavailable !== undefined) return `a device that is unavailable: ${show(value.unavailable)}`;
    if (hasFields(value.main) && Array.isArray(value.main.operands)) {
      return "a model in the HAL's form: Model.from makes a Model of it";
    }
    if (ArrayBuffer.isView(value)) return withArticle(typeOfView(value));
    return show(value);
  } catch {
    return "an object that throws when it is read";
  }
}

/** A name with `a` or `an` before it. */
export function withArticle(name: string): string {
  return `${/^[AEIO]/.test(name) ? "an" : "a"} ${name}`;
}

function isKind(name: string): name is Kind {
  return name in kinds;
}

/** The name of a view's built-in type, such as Float32Array, even if the view is of a subclass. */
export function typeOfView(view: ArrayBufferView): string {
  return view instanceof DataView ? "DataView" : Object.prototype.toString.call(view).slice("[object ".length, -1);
}
