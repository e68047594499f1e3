/** A browser has no files, so it has no memories in them. */
import type { FileDescriptorHandle } from "@nnhal/types";
import type { Unmappable } from "./mapping.ts";

/** Maps nothing. */
export function mapFile(name: string, size: number, { fd, offset }: FileDescriptorHandle): Unmappable {
  return {
    unmappable: `memory ${name} of ${size} bytes at ${offset} of file descriptor ${fd}: a browser has no files`,
  };
}
