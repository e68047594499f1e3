/** The name of the worker for gpu.js, of its file beside the page, and of its device. */
export const GPUJS = "gpujs";
