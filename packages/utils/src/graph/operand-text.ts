/**
 * Operands in the words of drawings.
 */
import { PaddingScheme } from "@nnhal/operations";
import { FusedActivationFunc } from "@nnhal/types";
import type { ShownValue } from "./constant-value.ts";
import type { OperandDescription } from "./visit.ts";

const hideableLifetimes: readonly string[] = ["CONSTANT_COPY", "CONSTANT_REFERENCE", "NO_VALUE", "SUBGRAPH"];

/** Returns whether an operand can be drawn inside the operations that read it. */
export function isHideable({ lifetime, input, output }: OperandDescription): boolean {
  return hideableLifetimes.includes(lifetime) && input === undefined && output === undefined;
}

/** Codes that operations take as numbers, by the parameter's name. */
const codes: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  activation: FusedActivationFunc,
  paddingScheme: PaddingScheme,
};

/** The name of the code that a parameter has, such as `RELU6`; undefined for an unknown code, or a parameter that is not a code. */
export function codeName(parameter: string | number, value: ShownValue | undefined): string | undefined {
  const known = Object.hasOwn(codes, parameter) ? codes[parameter] : undefined;
  return Object.entries(known ?? {}).find(([, code]) => code === value)?.[0];
}

/** `scale 0.5, zero point 3` of a quantised tensor; undefined of others. */
export function quantisationText({ scale, zeroPoint }: OperandDescription): string | undefined {
  if (scale === 0 && zeroPoint === 0) return undefined;
  return `scale ${valueText(scale)}${zeroPoint === 0 ? "" : `, zero point ${zeroPoint}`}`;
}

/** A value, numbers with at most six digits. */
export function valueText(value: ShownValue): string {
  if (typeof value === "object") return `[${value.map(valueText).join(", ")}]`;
  return String(typeof value === "boolean" || Number.isInteger(value) ? value : Number(value.toPrecision(6)));
}
