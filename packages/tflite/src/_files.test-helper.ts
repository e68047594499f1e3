/**
 * Real models for tests: from the folder that NNHAL_MODELS names, else from shared/models beside the checkout.
 */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { modelsFolder as folder } from "@nnhal/test-kit/folders";

/** The .tflite files of the folder; none if the folder does not exist. */
export const realModels: readonly { readonly name: string; readonly bytes: Uint8Array }[] = existsSync(folder)
  ? readdirSync(folder)
      .filter((file) => file.endsWith(".tflite"))
      .map((file) => ({
        name: file.slice(0, -".tflite".length),
        bytes: new Uint8Array(readFileSync(join(folder, file))),
      }))
  : [];

/** The name of the test that stands in if there are no models. */
export const noModels = `no .tflite files in ${folder}: set NNHAL_MODELS to a folder that has some`;
