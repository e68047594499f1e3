/**
 * Memory in a file without a native library: a copy that is read when it is mapped and before each use, and written
 * back afterwards.
 */
import type { FileDescriptorHandle } from "@nnhal/types";
import { nodeModule } from "@nnhal/utils/node";
import type { Mapping, Unmappable } from "./mapping.ts";
import { Protection } from "./protection.ts";
import { shareable } from "./shareable.ts";

/** Copies a part of a file. The file is long enough. */
export function copyFile({ fd, protection, offset }: FileDescriptorHandle, size: number): Mapping | Unmappable {
  const { readSync, writeSync } = nodeModule("node:fs", "a memory in a file");
  const bytes = new Uint8Array(shareable(size));
  const load = (start: number, length: number) => {
    for (let done = 0; done < length; ) {
      const read = readSync(fd, bytes, start + done, length - done, offset + start + done);
      if (read === 0) throw new Error(`file descriptor ${fd} ends ${length - done} bytes early`);
      done += read;
    }
  };
  const store = (start: number, length: number) => {
    for (let done = 0; done < length; ) {
      done += writeSync(fd, bytes, start + done, length - done, offset + start + done);
    }
  };
  load(0, size);
  const writable = (protection & Protection.WRITE) !== 0;
  return { bytes, writable, load, ...(writable && { store }) };
}
