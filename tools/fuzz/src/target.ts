/** What a target of the fuzzer is: something that takes bytes from outside, and what must hold whatever these are. */
import type { Random } from "./random.ts";

/** An input. */
export type Input = Uint8Array;

/** A part of the project under test. */
export interface Target {
  readonly name: string;
  /** What is fed with what, in one line. */
  readonly says: string;
  /** The corpus that it starts with. Default: that of its own name. */
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
  /** Opens what the inputs are run on. */
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
