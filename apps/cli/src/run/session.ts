/**
 * State that the runs of one `nnhal run` command share.
 */
import type { Picture } from "@nnhal/network/tensors";
import type { ModelCommandContext } from "../context.ts";
import type { DeviceSelection } from "../devices.ts";
import { usageError } from "../failure.ts";
import { type GivenInputs, normalisationOf, type PreparedInput } from "../model/inputs.ts";
import type { LoadedModel } from "../model/load.ts";
import type { StateFile } from "../model/state-file.ts";
import { MOST_VALUES } from "../run-report.ts";
import type { Finder } from "../seen/finder.ts";
import type { RunCommandOptions } from "./options.ts";

/** State that the runs of a command share. */
export interface Session {
  readonly path: string;
  readonly options: RunCommandOptions;
  readonly context: ModelCommandContext;
  readonly model: LoadedModel;
  readonly selection: DeviceSelection;
  /** Reads outputs. */
  readonly finder: Finder;
  /** The file that keeps the states for the next command. */
  readonly stateFile: StateFile | undefined;
  /** Milliseconds of reading the model. */
  readonly imported: number;
  readonly note: (message: string) => void;
}

/** The picture of the only input. Throws a usage error if that is none. */
export function expectPicture([input]: readonly PreparedInput[]): Picture {
  if (input?.picture === undefined) throw usageError("--draw needs an input that is a picture");
  return input.picture;
}

/** The picture that outputs are about: that of the only input. */
export function pictureOf(inputs: readonly PreparedInput[]): Picture | undefined {
  return inputs.length === 1 ? inputs[0]?.picture : undefined;
}

/** Outputs with more elements are printed without values. */
export function mostValues({ allValues }: Pick<RunCommandOptions, "allValues">): number {
  return allValues ? Number.POSITIVE_INFINITY : MOST_VALUES;
}

/** The inputs of a run on files. */
export function readGivenInputs(options: RunCommandOptions, files: readonly string[]): GivenInputs {
  const { random, rate, text } = options;
  return { files, rate, text, ...(random !== undefined && { seed: random }), ...normalisationOf(options) };
}
