/** Hints: values for a driver, defined by the extensions of its vendor (AIDL 4). */
import type { ExtensionNameAndPrefix } from "./model.ts";

/** One hint. */
export interface TokenValuePair {
  /** The prefix of an extension, and a number of the extension's own in the lower 16 bits. Each token once. */
  readonly token: number;
  readonly value: Uint8Array;
}

/** Hints with the names of their extensions. A driver ignores those that it does not know, and values that it does not understand. */
export interface Hints {
  readonly pairs: readonly TokenValuePair[];
  /** Each name and each prefix once. Serves the tokens alone; a model has its own. */
  readonly extensionNameToPrefix: readonly ExtensionNameAndPrefix[];
}
