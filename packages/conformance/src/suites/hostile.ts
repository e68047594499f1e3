/**
 * Values that are not valid for any argument, as a program without types or a malicious one passes them. A call that gets one
 * answers with a status.
 */

import { ErrorStatus, type Outcome } from "@nnhal/types";
import { expectThat, expectWords } from "./check.ts";

/** See the file's head. */
export interface Hostile {
  readonly what: string;
  make(): unknown;
}

/** An object that throws whatever is done with it. */
function thrower(): unknown {
  const fail = () => {
    throw new Error("this argument throws");
  };
  return new Proxy({}, { get: fail, has: fail, ownKeys: fail, getOwnPropertyDescriptor: fail, getPrototypeOf: fail });
}

/** Values that are not objects of any use. */
export const hostileValues: readonly Hostile[] = [
  { what: "null", make: () => null },
  { what: "a number", make: () => 7 },
  { what: "a text", make: () => "argument" },
  { what: "an empty object", make: () => ({}) },
  { what: "an object that throws", make: thrower },
];

/** The same in the place of a list. */
export const hostileLists: readonly Hostile[] = [
  ...hostileValues,
  { what: "a list with holes", make: () => new Array(2) },
  { what: "a list that throws", make: () => [thrower()] },
];

/**
 * A value in the place of an argument of any type: what types do not allow is what these cases are about.
 */
export function asArgument<Type>({ make }: Hostile): Type {
  return make() as Type;
}

/** Ends the case if an answer reports success, or reports an internal error rather than the fault in the arguments. */
export function expectRefusal(call: string, outcome: Outcome): void {
  expectThat(outcome.status !== ErrorStatus.NONE, () => `${call}: NONE`);
  expectWords(call, outcome);
}
