/** The devices that are compared, with the reference behind them for what they lack. */
import type { Backend } from "@nnhal/backend";
import { openDevice } from "@nnhal/driver-core/device";
import { tfliteExtension } from "@nnhal/extension-tflite";
import { type ElementArray, load } from "@nnhal/network";
import { elementAt } from "@nnhal/operations";
import type { Device } from "@nnhal/types";
import type { Elements } from "./elements.ts";

const extensions = [tfliteExtension];

const backends = {
  reference: async () => (await import("@nnhal/backend-reference")).createReferenceBackend({ extensions }),
  ort: async () => (await import("@nnhal/backend-ort")).ortBackend({ extensions }),
  tfjs: async () => (await import("@nnhal/backend-tfjs")).backend,
  gpujs: async () => (await import("@nnhal/backend-gpujs")).backend,
} satisfies Readonly<Record<string, () => Promise<Backend>>>;

export type DeviceName = keyof typeof backends;

export const deviceNames: readonly string[] = Object.keys(backends);

export function isDeviceName(name: string): name is DeviceName {
  return deviceNames.includes(name);
}

async function open(name: DeviceName): Promise<Device> {
  const device = await openDevice({ backend: await backends[name]() });
  if ("unavailable" in device) throw new Error(`the device ${name} cannot be opened: ${device.unavailable}`);
  return device;
}

/** Runs models on a device. Rejects if it cannot be opened. */
export async function deviceRunner(name: DeviceName) {
  const names: readonly DeviceName[] = name === "reference" ? [name] : [name, "reference"];
  const devices = await Promise.all(names.map(open));
  /** The elements of each output, or why the model does not run. `inputs`: in the order of the model's. */
  return async (bytes: Uint8Array, inputs: readonly Elements[]): Promise<readonly ElementArray[] | string> => {
    try {
      const model = await load(bytes, { devices });
      try {
        const given = Object.fromEntries(
          model.inputs.map(({ name: input }, place) => [input, elementAt(inputs, place)]),
        );
        const results = await model.run(given, { raw: true });
        return model.outputs.map(({ name: output }) => {
          const { data } = results[output] ?? {};
          if (data === undefined) throw new Error(`there is no output ${output}`);
          return data;
        });
      } finally {
        await model.close();
      }
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  };
}
