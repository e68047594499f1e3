/**
 * @nnhal/extension-fibonacci/backend: an engine with one kernel, that of FIBONACCI. It has no operation of the HAL, so a runtime divides
 * models between it and other devices.
 */
import {
  type Backend,
  capabilitiesOf,
  type ExtensionKernelTable,
  extensionKernels,
  kernelBackend,
} from "@nnhal/backend";
import type { AnyTensorData } from "@nnhal/operations";
import { DeviceType } from "@nnhal/types";
import { countOf, fibonacci, fibonacciNumbers, quantise } from "./fibonacci.ts";
import type { Quant64Params } from "./types.ts";

const kernels: ExtensionKernelTable<typeof fibonacci, AnyTensorData> = {
  FIBONACCI: {
    prepare:
      ({ n }, { sequence }) =>
      (read) => {
        const numbers = fibonacciNumbers(countOf(read(n)));
        if (sequence.type === "TENSOR_FLOAT32") return [Float32Array.from(numbers, Number)];
        // The other type of a result is TENSOR_QUANT64_ASYMM, which has params.
        const params = sequence.params as Quant64Params;
        return [BigInt64Array.from(numbers, (value) => quantise(value, params))];
      },
  },
};

/** Runs com.example.fibonacci. */
export const fibonacciBackend: Backend = kernelBackend<AnyTensorData>({
  name: "fibonacci",
  deviceType: DeviceType.OTHER,
  open: async () => ({
    version: "fibonacci-1",
    capabilities: capabilitiesOf({ float: 1, quantised: 1 }),
    isHost: true,
    kernels: {},
    extensions: [extensionKernels(fibonacci, kernels)],
    upload: (_, data) => data,
    download: (tensor) => tensor,
    release() {},
    close() {},
  }),
});

/** The same, under the name by which `nnhal --backend @nnhal/extension-fibonacci/backend` finds it. */
export const backend: Backend = fibonacciBackend;
