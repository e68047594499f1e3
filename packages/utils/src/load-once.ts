/**
 * A function that loads a part of a program, once: a repeated import of a module asks the loader of modules again each time. If loading
 * fails, the next call tries again.
 */
export function loadOnce<Part>(load: () => Promise<Part>): () => Promise<Part> {
  let loading: Promise<Part> | undefined;
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
}
