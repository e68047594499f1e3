/**
 * The options of `nnhal diff`.
 */
import type { EntryOptions, Hybrid } from "../option-values.ts";

/** The command's options, as commander parses them. */
export interface DiffCommandOptions extends EntryOptions {
  readonly mean?: readonly number[];
  readonly std?: readonly number[];
  readonly device: string;
  readonly against?: string;
  /** Runs on noise. */
  readonly random?: number;
  readonly hybrid: Hybrid;
  /** Steps. */
  readonly allow: number;
  /** A part of floats. */
  readonly allowFloat?: number;
  readonly all?: boolean;
  readonly save?: string;
  readonly html?: string;
  readonly json?: boolean;
}
