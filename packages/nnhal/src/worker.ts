/**
 * nnhal/worker: what a worker runs, for bundlers that need to be told.
 */
import "@nnhal/network/worker";
