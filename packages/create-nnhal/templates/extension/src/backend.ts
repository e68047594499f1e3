/** An engine with a kernel for the operation of the extension, and one for RELU of the HAL: the kit needs an operation of the HAL. */
import { type Backend, capabilitiesOf, extensionKernels, type KernelTable, kernelBackend } from "@nnhal/backend";
import { DeviceType } from "@nnhal/types";
import { extension, toFixed16 } from "./extension.ts";

/** A tensor as the engine holds it. */
type Handle = Float32Array | Int16Array;

const kernels = {
  RELU: {
    refuse: ({ input }) => (input.type === "TENSOR_FLOAT32" ? undefined : "only TENSOR_FLOAT32 is available"),
    prepare:
      ({ input }) =>
      (read) => [read(input).map((x) => Math.max(0, x))],
  },
} satisfies KernelTable<Handle>;

const ownKernels = extensionKernels<typeof extension, Handle>(extension, {
  TO_FIXED16: {
    prepare:
      ({ input }, { output: { params } }) =>
      (read) => [Int16Array.from(read(input), (value) => toFixed16(value, params))],
  },
});

export const backend: Backend = kernelBackend<Handle>({
  name: "__device__",
  deviceType: DeviceType.OTHER,
  open: async () => ({
    // Change it whenever results or speed may change: cached models are then prepared again.
    version: "__device__-1",
    // Relative to the CPU, whose performance is 1: below 1 is faster. Measure yours.
    capabilities: capabilitiesOf({ float: 0.5, quantised: 2 }),
    kernels,
    extensions: [ownKernels],
    upload: (_, data) => Float32Array.from(data),
    download: (tensor) => tensor,
    release() {},
    close() {},
  }),
});
