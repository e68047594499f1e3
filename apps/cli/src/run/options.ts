/**
 * The options of `nnhal run`.
 */
import type { EntryOptions, Hybrid } from "../option-values.ts";
import type { GivenTask } from "../task-names.ts";

/** The command's options, as commander parses them. */
export interface RunCommandOptions extends EntryOptions {
  readonly input?: readonly string[];
  readonly random?: number;
  readonly text?: string;
  readonly mean?: readonly number[];
  readonly std?: readonly number[];
  readonly rate?: number;
  readonly labels?: string;
  readonly top: number;
  readonly device: string;
  readonly hybrid: Hybrid;
  readonly state?: string;
  readonly resetState?: boolean;
  readonly outputDir?: string;
  /** Runs after the first. */
  readonly runs?: number;
  readonly profile?: boolean;
  /** Folder for node data. */
  readonly modelExplorer?: string;
  readonly draw?: string;
  readonly task?: GivenTask;
  readonly threshold?: number;
  readonly trace?: string;
  readonly json?: boolean;
  readonly allValues?: boolean;
  readonly csv?: boolean;
}
