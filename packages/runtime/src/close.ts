/** Closes an object, if there is one that can be closed. */
export function close(held: { close?(): unknown } | undefined): void {
  void held?.close?.();
}
