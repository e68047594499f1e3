/**
 * Classification of sounds.
 */
import type { OptionNames } from "@nnhal/operations";
import { elementAt } from "@nnhal/operations";
import { check, NetworkError } from "../error.ts";
import type { Model } from "../model.ts";
import { checkOptions, wrapErrors } from "../options.ts";
import type { Source } from "../read.ts";
import { outputNamed } from "../results.ts";
import { checkLabels, type ScoredClass, top } from "../scores.ts";
import type { Tensor } from "../tensor-info.ts";
import { infoText } from "../tensor-info.ts";
import type { ClassifyOptions } from "./classify.ts";
import { checkModel, extentsOf, onlyInput } from "./roles.ts";
import { isSound, partStarts, resampleInPauses, type Sound, sound } from "./sound.ts";

/** Options of classifying a sound. */
export interface ClassifyAudioOptions extends ClassifyOptions {
  /** Samples in a second that the model was trained with. Default: 16000. */
  readonly rate?: number | undefined;
  /** Samples from the beginning of one part to that of the next. Default: as long as a part. */
  readonly step?: number | undefined;
}

/** The best classes of a sound. */
export interface HeardClasses {
  /** Of the mean scores of all parts. */
  readonly classes: readonly ScoredClass[];
  /** Of each part; `start` in seconds. */
  readonly parts: readonly { readonly start: number; readonly classes: readonly ScoredClass[] }[];
}

const classifyAudioOptions: OptionNames<ClassifyAudioOptions> = {
  top: true,
  labels: true,
  output: true,
  rate: true,
  step: true,
  signal: true,
};

/**
 * The best classes of a WAV file or of samples: a model whose input is a waveform of -1 to 1, such as YAMNet. A sound that is longer than
 * the input is cut into parts, and a last part that is shorter ends with silence.
 */
export function classifyAudio(
  model: Model,
  source: Source | Sound,
  options: ClassifyAudioOptions = {},
): Promise<HeardClasses> {
  return wrapErrors("classifyAudio", options, () => classifySound(model, source, options));
}

async function classifySound(
  model: Model,
  source: Source | Sound,
  options: ClassifyAudioOptions,
): Promise<HeardClasses> {
  checkModel("classifyAudio", model);
  checkOptions("classifyAudio", options, classifyAudioOptions);
  checkLabels("classifyAudio", options.labels);
  const { rate = 16_000, top: count = 5, labels, output = "scores", signal } = options;
  const input = onlyInput("classifyAudio", model);
  const extents = extentsOf(input);
  const length = extents[0] ?? 0;
  check(
    extents.length === 1 && length > 1,
    "WRONG_TASK",
    () =>
      `classifyAudio: the input ${infoText(input)} is not a waveform [samples]; compute what it takes, and use classify`,
  );
  const { step = length } = options;
  check(Number.isInteger(step) && step > 0, "BAD_OPTION", () => `step: expected a whole number above 0, got ${step}`);
  const given = isSound(source) ? source : await sound(source, { signal });
  const { samples } = await resampleInPauses(given, rate, signal);
  check(samples.length > 0, "NOT_A_SOUND", () => "classifyAudio: the sound has no samples");
  const parts: { start: number; scores: Tensor }[] = [];
  for (const start of partStarts(samples.length, length, step)) {
    const part = new Float32Array(length);
    part.set(samples.subarray(start, start + length));
    const outputs = await model.run(part, { signal });
    const scores = outputNamed(outputs, output);
    if (scores === undefined) throw new NetworkError("WRONG_NAME", `classifyAudio: there is no output "${output}"`);
    parts.push({ start: start / rate, scores });
  }
  const { scores: first } = elementAt(parts, 0);
  const means = Float64Array.from(
    first.data,
    (_, index) => parts.reduce((sum, { scores }) => sum + elementAt(scores.data, index), 0) / parts.length,
  );
  const names = labels ?? first.labels;
  return {
    classes: top(means, count, names),
    parts: parts.map(({ start, scores }) => ({ start, classes: top(scores, count, names) })),
  };
}
