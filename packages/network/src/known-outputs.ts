/**
 * Models whose outputs were computed elsewhere, so that programs that execute models themselves read them with the tasks.
 */
import { whenLoaded } from "@nnhal/operations";
import type { ImportedModel } from "@nnhal/tflite";
import { describeModel } from "./describe.ts";
import { NetworkError } from "./error.ts";
import { createModel, type Model } from "./model.ts";
import type { ModelFile } from "./model-file.ts";
import type { Session, Value } from "./session.ts";

/** A model that computes nothing: a run resolves to the values. Their shapes are those of its outputs. */
export type KnownModel = (outputs: readonly Value[]) => Model;

/**
 * Describes a model for outputs that are known. `outputs` of what it returns: values without those of states, in the model's order. Rejects
 * with CANNOT_RUN if a tensor has a type of which there are no arrays. `onWarning`: metadata or labels that cannot be read.
 */
export async function describeKnown(
  file: ModelFile,
  imported: ImportedModel,
  onWarning: (message: string) => void,
): Promise<KnownModel> {
  const description = await whenLoaded(() => describeModel(file, imported, [], onWarning));
  return (values) => {
    const outputs = description.outputs.map((info, place) => ({ ...info, shape: values[place]?.shape ?? info.shape }));
    const session: Session = {
      description: { ...description, outputs, states: [] },
      compute: async () => ({ values }),
      explain: async () => ({ operations: [], steps: [], predictedTime: 0 }),
      profile: async () => ({ time: 0, operations: [] }),
      diff: () =>
        Promise.reject(new NetworkError("CANNOT_RUN", "diff: expected a model that computes, got known outputs")),
      readState: async () => [],
      writeState: async () => {},
      close: async () => {},
    };
    return createModel(session, async () => ({ diffLoaded: refuseDiff }));
  };
}

function refuseDiff(): Promise<never> {
  return Promise.reject(
    new NetworkError("CANNOT_RUN", "diff: expected a model that computes, got one of known outputs"),
  );
}
