/**
 * The engines of this project. They are found, not bundled: each is a package that is loaded when its device is asked for.
 */
import type { Backend } from "@nnhal/backend";
import type { ExtensionDefinition } from "@nnhal/operations";
import type { Engine } from "./backend-module.ts";

/** In the order in which they are preferred. */
export const knownEngines: readonly Engine[] = [
  {
    device: "nnhal-reference",
    module: "@nnhal/backend-reference",
    load: () => loadReference([]),
    withExtensions: loadReference,
  },
  {
    device: "nnhal-ort",
    module: "@nnhal/backend-ort",
    packages: "@nnhal/backend-ort onnxruntime-node",
    load: loadOrt,
  },
  {
    device: "nnhal-tfjs",
    module: "@nnhal/backend-tfjs",
    load: async () => (await import("@nnhal/backend-tfjs")).backend,
  },
  {
    device: "nnhal-gpujs",
    module: "@nnhal/backend-gpujs",
    load: async () => (await import("@nnhal/backend-gpujs")).backend,
  },
];

/** The reference with the operators of .tflite that the HAL lacks, and with other extensions. */
async function loadReference(extensions: readonly ExtensionDefinition[]): Promise<Backend> {
  const [{ createReferenceBackend }, { tfliteExtension }] = await Promise.all([
    import("@nnhal/backend-reference"),
    import("@nnhal/extension-tflite"),
  ]);
  return createReferenceBackend({ extensions: [tfliteExtension, ...extensions] });
}

/** onnxruntime, also with operators of .tflite that the HAL lacks. */
async function loadOrt(): Promise<Backend> {
  const { ortBackend } = await import("@nnhal/backend-ort");
  const { tfliteExtension } = await import("@nnhal/extension-tflite");
  return ortBackend({ extensions: [tfliteExtension] });
}
