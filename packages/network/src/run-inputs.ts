/** The inputs of a run, encoded for a session: values by name, or the value of the only one. */
import { elementAt } from "@nnhal/operations";
import { check } from "./error.ts";
import { encodeInput, type InputValue, isValue } from "./inputs.ts";
import type { Value } from "./session.ts";
import { findByName, indexOfName, infoText, listNames, type TensorInfo } from "./tensor-info.ts";
import { kindOf } from "./values.ts";

/** The inputs of a run: by name, or the value of the only one. A model with one input calls it `input`, too. */
export type Inputs = InputValue | Readonly<Record<string, InputValue>>;

/** Throws WRONG_NAME for inputs that do not exist, are given twice, or are missing. */
export async function encodeInputs(given: Inputs, inputs: readonly TensorInfo[]): Promise<Value[]> {
  if (!isNamed(given, inputs)) {
    const [only] = inputs;
    check(
      only !== undefined && inputs.length === 1,
      "WRONG_NAME",
      () => `the model has ${inputs.length} inputs: give them by name: ${listNames(inputs)}`,
    );
    return [await encodeInput(given, only, "the input")];
  }
  check(isPlainObject(given), "WRONG_TYPE", () => `inputs: ${kindOf(given)} has no inputs`);
  const values: (Value | undefined)[] = inputs.map(() => undefined);
  for (const [key, value] of Object.entries(given)) {
    // A model with one input calls it `input`, too.
    const place = key === "input" && inputs.length === 1 ? 0 : indexOfName(inputs, key, "input");
    check(
      values[place] === undefined,
      "WRONG_NAME",
      () => `the input ${infoText(elementAt(inputs, place))} is given twice`,
    );
    values[place] = await encodeInput(value, elementAt(inputs, place), "the input");
  }
  return values.map((value, place) => {
    check(value !== undefined, "WRONG_NAME", () => `the input ${infoText(elementAt(inputs, place))} is missing`);
    return value;
  });
}

/** Returns true for values by name. */
function isNamed(given: Inputs, inputs: readonly TensorInfo[]): given is Readonly<Record<string, InputValue>> {
  if (typeof given !== "object" || given === null || ArrayBuffer.isView(given) || Array.isArray(given)) return false;
  const isName = (key: string) => findByName(inputs, key) !== undefined;
  const keys = Object.keys(given);
  return (keys.length > 0 && keys.every(isName)) || !isValue(given);
}

/** True if a value is an object without a class, of any realm; its own keys may have any names. */
function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
