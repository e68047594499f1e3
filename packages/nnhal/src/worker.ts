/**
 * nnhal/worker: what a worker runs, for bundlers that need to be told.
 */
export * from "@nnhal/network/worker";
