/** All kernels for gpu.js, from a table for each family. */
import type { GpujsTable } from "./_kernel.ts";
import { convolutionKernels } from "./convolution.ts";
import { elementwiseKernels } from "./elementwise.ts";
import { matrixKernels } from "./matrices.ts";
import { movementKernels } from "./movement.ts";
import { normalisationKernels } from "./normalisation.ts";
import { poolingKernels } from "./pooling.ts";
import { reductionKernels } from "./reduction.ts";
import { resizeKernels } from "./resize.ts";
import { selectionKernels } from "./selection.ts";

export const kernels: GpujsTable = {
  ...convolutionKernels,
  ...elementwiseKernels,
  ...matrixKernels,
  ...movementKernels,
  ...normalisationKernels,
  ...poolingKernels,
  ...reductionKernels,
  ...resizeKernels,
  ...selectionKernels,
};
