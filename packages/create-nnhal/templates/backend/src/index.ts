/**
 * The backend: an engine for the operations that it has kernels for. This one computes RELU on TENSOR_FLOAT32 in plain JavaScript;
 * its tensors are Float32Arrays. Yours may be buffers of a GPU or handles of a native library.
 */
import { type Backend, capabilitiesOf, type KernelTable, kernelBackend } from "@nnhal/backend";
import { DeviceType } from "@nnhal/types";

/** A tensor as the engine holds it. */
type Handle = Float32Array;

/** One entry for each operation. Arguments and outputs have the names of the HAL's operations. */
const kernels = {
  RELU: {
    /** Why the engine cannot compute an operation; it goes to another device then. */
    refuse: ({ input }) => (input.type === "TENSOR_FLOAT32" ? undefined : "only TENSOR_FLOAT32 is available"),
    /** Runs once for each operation of a model. The function that it returns runs in each execution. */
    prepare:
      ({ input }) =>
      (read) => [read(input).map((x) => Math.max(0, x))],
  },
} satisfies KernelTable<Handle>;

export const backend: Backend = kernelBackend<Handle>({
  name: "__device__",
  deviceType: DeviceType.CPU,
  open: async () => ({
    // Change it whenever results or speed may change: cached models are then prepared again.
    version: "__device__-1",
    // Relative to the CPU, whose performance is 1: below 1 is faster. Measure yours.
    capabilities: capabilitiesOf({ float: 0.5, quantised: 2 }),
    kernels,
    upload: (_, data) => Float32Array.from(data),
    download: (tensor) => tensor,
    release() {},
    close() {},
  }),
});
