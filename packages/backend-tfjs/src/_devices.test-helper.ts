/** Devices over the tfjs backend, and models run on them. */
import { type DeviceOptions, openDevice } from "@nnhal/driver-core/device";
import { Compilation, Execution, Model } from "@nnhal/runtime";
import { importTflite } from "@nnhal/tflite";
import { type Device, type Model as HalModel, operandTypeNames, operandTypes } from "@nnhal/types";
import { tfjsBackend } from "./tfjs-backend.ts";

/** The device over an engine that is always there. */
export async function deviceOn(engine: "wasm" | "cpu", options: Partial<DeviceOptions> = {}): Promise<Device> {
  const device = await openDevice({ backend: tfjsBackend({ engine }), ...options });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return device;
}

/** Runs a compiled model: bytes of the first inputs, others being 0, to bytes of the outputs. */
export type Runner = (inputs: readonly Uint8Array[]) => Promise<Uint8Array[]>;

/** A .tflite file on a device. */
export function tfliteRunner(file: Uint8Array, device: Device): Promise<Runner> {
  return runnerOf(importTflite(file).model, device);
}

/** A model on a device. */
export async function runnerOf(model: HalModel, device: Device): Promise<Runner> {
  const compilation = new Compilation(Model.from(model), [device]);
  await compilation.finish();
  const { operands, inputIndexes, outputIndexes } = model.main;
  const empty = (index: number) => {
    const { type, dimensions } = operands[index];
    const { elementSize = 0 } = operandTypes[operandTypeNames.get(type) ?? "OEM"];
    return new Uint8Array(dimensions.reduce((size, extent) => size * extent, elementSize));
  };
  return async (inputs) => {
    const execution = new Execution(compilation);
    for (const [place, index] of inputIndexes.entries()) execution.setInput(place, inputs[place] ?? empty(index));
    const outputs = outputIndexes.map(empty);
    for (const [place, output] of outputs.entries()) execution.setOutput(place, output);
    await execution.compute();
    return outputs;
  };
}
