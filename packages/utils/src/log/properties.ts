/**
 * Properties: named settings from outside, such as Android's `debug.nn.vlog`. Their source is a parameter; by default
 * they are environment variables.
 */
import { ifPermitted } from "../if-permitted.ts";

/** Returns the value of a property; "" or undefined if it is not set. */
export type PropertySource = (name: string) => string | undefined;

/** The environment variable of a property: `debug.nn.partition` is NNHAL_PARTITION. */
export function environmentVariableOf(property: string): string {
  return `NNHAL_${property
    .replace(/^(debug\.nn|ro\.nnapi|ro)\./, "")
    .replace(/[^A-Za-z0-9]+/g, "_")
    .toUpperCase()}`;
}

/** Reads properties from the environment of the process. A browser has none: no property is set there. */
export const environmentProperties: PropertySource = (name) =>
  ifPermitted(() => globalThis.process?.env?.[environmentVariableOf(name)]);

const largestUint32 = 0xffff_ffff;

/**
 * A property that is a whole number: decimal, hexadecimal behind 0x, octal behind 0. The default if it is not set, or is
 * not a number of 32 bits.
 */
export function getProp(source: PropertySource, name: string, defaultValue = 0): number {
  const text = (source(name) ?? "").trim();
  const octal = /^0[0-7]+$/.exec(text);
  const isNumber = octal !== null || /^(0[xX][0-9a-fA-F]+|[1-9][0-9]*|0)$/.test(text);
  const value = octal ? Number.parseInt(text, 8) : Number(text);
  return isNumber && value <= largestUint32 ? value : defaultValue;
}
