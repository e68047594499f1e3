/**
 * Compilation caching: the files that a driver keeps a prepared model in (HAL 1.2).
 */

/** File descriptors that cross the HAL together (HAL handle). */
export interface Handle {
  /** Descriptors of this process. They belong to the caller, who may close them once the call has answered. */
  readonly fds: readonly number[];
}

/**
 * Where a prepared model is kept (HAL 1.2 IDevice.prepareModel_1_2). Each handle has exactly one descriptor, open for
 * reading and writing, of a file of any size and at any offset. Both lists are empty, or as long as
 * getNumberOfCacheFilesNeeded says; order is the same at every call.
 */
export interface CompilationCache {
  /** Files whose content may be executed: changes to them must not go unnoticed. */
  readonly modelCache: readonly Handle[];
  /** Files of constants: changes to them may give wrong results, and nothing worse. */
  readonly dataCache: readonly Handle[];
  /** `BYTE_SIZE_OF_CACHE_TOKEN` bytes that identify the model; not read if both lists are empty. */
  readonly token: Uint8Array;
}
