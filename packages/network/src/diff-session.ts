/** A loaded model held against a judge, operation by operation. It is loaded when it is needed. */
import type { DiffReport, Judge, TensorValue } from "@nnhal/diff";
import type { NoisyTensor } from "@nnhal/diff/noise";
import type { ExtensionDefinition } from "@nnhal/operations";
import type { ImportedModel } from "@nnhal/tflite";
import type { Selection } from "./devices.ts";
import type { PreparedSession } from "./prepared-session.ts";
import type { DiffAsked, Value } from "./session.ts";

/** The parts of a session that a comparison needs. */
export interface DiffParts {
  readonly name: string;
  readonly prepared: Pick<PreparedSession, "imported" | "inputsOf" | "compilation">;
  readonly selection: Selection;
  readonly extensions: readonly ExtensionDefinition[];
  /** Opens the devices of the judge. */
  openJudge(devices: DiffAsked["against"]): Promise<Selection>;
}

/** Compares. Rejects with a NetworkError, with what the judge fails with, or with the reason of the signal. */
export async function diffSession(parts: DiffParts, asked: DiffAsked, other?: ImportedModel): Promise<DiffReport> {
  const { name, prepared, selection, extensions, openJudge } = parts;
  const { against, steps, relative, onProgress, signal } = asked;
  const [{ createNetworkJudge, defaultAllowance, diffModel, reportDiff }, { randomTensor }] = await Promise.all([
    import("@nnhal/diff"),
    import("@nnhal/diff/noise"),
  ]);
  const { imported, compilation } = prepared;
  const runs = runsOf(parts, asked, randomTensor);
  const inputs = runs.map(({ values }) => values);
  const judges = await openJudge(other === undefined ? against : "reference");
  try {
    const judge: Judge =
      other === undefined
        ? judges
        : await createNetworkJudge({ judged: imported, other, engine: judges, inputs, extensions });
    const isMeasured = other !== undefined;
    const found = await diffModel(imported.model, {
      judge,
      suspect: selection,
      inputs,
      extensions,
      allowance: {
        steps: steps ?? (isMeasured ? Number.POSITIVE_INFINITY : defaultAllowance.steps),
        bias: isMeasured ? Number.POSITIVE_INFINITY : defaultAllowance.bias,
        relative,
      },
      onProgress,
      signal,
    });
    return reportDiff(found, {
      model: name,
      devices: compilation.deviceNames,
      against: other === undefined ? judges.devices.map((device) => device.name) : [String(against)],
      isMeasured,
      inputs: runs.map(({ source }) => source),
      operators: imported.operators,
      operandNames: imported.operandNames,
      outputIndexes: imported.model.main.outputIndexes,
    });
  } finally {
    await judges.close();
  }
}

/** The values of each run, with the states as they are, and where they are from. */
function runsOf(
  { prepared: { imported, inputsOf } }: DiffParts,
  { inputs, random }: DiffAsked,
  noiseFor: (tensor: NoisyTensor, seed: number, place: number) => Uint8Array,
): readonly { readonly source: string; readonly values: readonly TensorValue[] }[] {
  const withStates = (values: readonly Value[]) =>
    inputsOf(values).map(({ bytes, shape }, place) => ({
      bytes,
      dimensions: shape ?? imported.inputs[place]?.shape ?? [],
    }));
  if (inputs !== undefined)
    return inputs.map((values, run) => ({ source: `inputs ${run + 1}`, values: withStates(values) }));
  const given = imported.inputs.slice(0, imported.inputs.length - imported.states.length);
  return Array.from({ length: random }, (_, run) => {
    const noise = given.map((info, place) => ({ bytes: noiseFor(info, run + 1, place), shape: info.shape }));
    return { source: `noise of seed ${run + 1}`, values: withStates(noise) };
  });
}
