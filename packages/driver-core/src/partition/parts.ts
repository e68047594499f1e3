/** Parts of models. What makes them is in a bundle for a browser a chunk of its own, which is loaded when a model is taken apart. */
import type { Model } from "@nnhal/types";
import { loadOnce } from "@nnhal/utils";
import type { StepModel } from "./step-model.ts";

const parting = loadOnce(() => import("./part-of-model.ts"));

/** Resolves to what makes the model of some operations of a model. */
export async function partsOf(model: Model): Promise<(operations: readonly number[]) => StepModel> {
  return (await parting()).partsOf(model);
}
