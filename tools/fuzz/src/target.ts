/**
 * The interface of the fuzzer's targets: code that takes bytes from outside, and the conditions that must hold for any bytes.
 */
import type { Random } from "./random.ts";

/** An input. */
export type Input = Uint8Array;

/** A part of the project under test. */
export interface Target {
  readonly name: string;
  /** Description of the code and its inputs, in one line. */
  readonly says: string;
  /** Corpus to start with. Default: that of the target's name. */
  readonly corpus?: string;
  /** Most bytes of an input. Longer ones are cut. */
  readonly longest: number;
  /** The packages whose coverage is counted in reports. */
  readonly packages: readonly string[];
  /**
   * Changes an input in terms of its structure, or undefined if this one has none. `other`: another input of the corpus.
   * Without it, or in place of it from time to time, bytes are changed.
   */
  mutate?(input: Input, random: Random, other: Input): Input | undefined;
  /** Opens the code that inputs are run on. */
  open(): Promise<Trial>;
}

/** An opened target. */
export interface Trial {
  /** Runs an input. Throws if something happens that must not. Must not change the input. */
  run(input: Input): void | Promise<void>;
  close(): Promise<void>;
}

/** Something that must hold does not. The message says what, with the actual value. */
export class Violation extends Error {
  override readonly name = "Violation";
}

/** Throws a Violation unless a condition holds. */
export function must(condition: boolean, message: () => string): asserts condition {
  if (!condition) throw new Violation(message());
}
