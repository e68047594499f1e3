/** The devices to compare, with the reference behind them for unsupported operators. */
import type { Backend } from "@nnhal/backend";
import { exportedBackend, fastEngines, referenceEngine } from "@nnhal/backend/engines";
import { createReferenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { tfliteExtension } from "@nnhal/extension-tflite";
import { type ElementArray, load } from "@nnhal/network";
import { elementAt } from "@nnhal/operations";
import type { Device } from "@nnhal/types";

/** The packages of engines, by the names of their devices without prefix. */
const engines: ReadonlyMap<string, string> = new Map(
  [referenceEngine, ...fastEngines].map(({ device, module }) => [device.replace("nnhal-", ""), module]),
);

export const deviceNames: readonly string[] = [...engines.keys()];

async function loadEngine(name: string): Promise<Backend | undefined> {
  const module = engines.get(name);
  const backend = module === undefined ? undefined : exportedBackend(await import(module));
  return backend?.withExtensions?.([tfliteExtension]) ?? backend;
}

async function open(name: string): Promise<Device> {
  const backend =
    name === "reference" ? createReferenceBackend({ extensions: [tfliteExtension] }) : await loadEngine(name);
  if (backend === undefined) throw new Error(`there is no device ${name}; there are: ${deviceNames.join(", ")}`);
  const device = await openDevice({ backend });
  if ("unavailable" in device) throw new Error(`the device ${name} cannot be opened: ${device.unavailable}`);
  return device;
}

/** A result of a device. */
export interface Result {
  readonly data: ElementArray;
  readonly shape: readonly number[];
}

/** Runs models on a device. Rejects if it cannot be opened. */
export async function deviceRunner(name: string) {
  const names = name === "reference" ? [name] : [name, "reference"];
  const devices = await Promise.all(names.map(open));
  /** The elements of each output with their shape, or why the model does not run. `inputs`: in the order of the model's. */
  return async (bytes: Uint8Array, inputs: readonly ElementArray[]): Promise<readonly Result[] | string> => {
    try {
      const model = await load(bytes, { devices });
      try {
        const given = Object.fromEntries(
          model.inputs.map(({ name: input }, place) => [input, elementAt(inputs, place)]),
        );
        const results = await model.run(given, { raw: true });
        return model.outputs.map(({ name: output }) => {
          const result = results[output];
          if (result === undefined) throw new Error(`there is no output ${output}`);
          return result;
        });
      } finally {
        await model.close();
      }
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  };
}
