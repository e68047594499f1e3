/**
 * The options of `nnhal diff`.
 */
import type { HalVersion } from "@nnhal/types";
import type { EntryOptions, Hybrid } from "../option-values.ts";

/** Paths of requests: each by itself, in a burst, or each by itself on a model that the device has loaded from its cache. */
export const diffPaths = ["sync", "burst", "cached"] as const;
type DiffPath = (typeof diffPaths)[number];

/** The command's options, as commander parses them. */
export interface DiffCommandOptions extends EntryOptions {
  readonly mean?: readonly number[];
  readonly std?: readonly number[];
  readonly device?: string;
  readonly against?: string;
  /** The version of the HAL that devices are reached by. */
  readonly hal?: HalVersion;
  /** The path of the device's requests. */
  readonly path: DiffPath;
  readonly relaxed?: boolean;
  /** Runs on noise. */
  readonly random?: number;
  readonly keepState?: boolean;
  readonly hybrid: Hybrid;
  /** Steps. */
  readonly allow?: number;
  /** A part of floats. */
  readonly allowFloat?: number;
  readonly all?: boolean;
  readonly save?: string;
  readonly shrink?: boolean;
  readonly record?: string;
  readonly html?: string;
  /** Folder for node data. */
  readonly modelExplorer?: string;
  readonly json?: boolean;
}
