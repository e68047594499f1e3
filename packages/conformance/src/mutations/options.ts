/**
 * Mutations of how a model is prepared; the model itself is right.
 */
import { ExecutionPreference, Priority } from "@nnhal/types";
import { invalid, type ModelMutation, type MutantOptions } from "./mutation.ts";

export const executionPreference = wrongOption("executionPreference", "preference", ExecutionPreference);
export const executionPriority = wrongOption("executionPriority", "priority", Priority);

/** One value beyond each end of an enum. */
function wrongOption(
  name: string,
  option: keyof MutantOptions,
  members: Readonly<Record<string, number>>,
): ModelMutation {
  const codes = Object.values(members);
  return {
    name,
    says: `A model is prepared with a ${option} that the HAL does not know.`,
    *mutate(model) {
      for (const wrong of [Math.min(...codes) - 1, Math.max(...codes) + 1]) {
        yield { ...invalid(`the ${option} is ${wrong}`, model), options: { [option]: wrong } };
      }
    },
  };
}
