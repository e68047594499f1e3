/** Memories in files. Browsers have file-mapping.browser.ts in place of this file: see package.json. */
import type { FileDescriptorHandle } from "@nnhal/types";
import { descriptorStats } from "@nnhal/utils/node";
import { copyFile } from "./file-copy.ts";
import type { Mapping, Unmappable } from "./mapping.ts";
import { type FileMapper, nativeMapper } from "./native.ts";
import { Protection } from "./protection.ts";

/**
 * Maps a file, with the native library if it is installed. The library is loaded for the first file, not for the first
 * memory.
 */
const bestMapper: FileMapper = (file, size) => (nativeMapper() ?? copyFile)(file, size);

/** Maps a part of a file as a memory. `mapper`: by default the native library if it is installed, else a copy. */
export function mapFile(
  name: string,
  size: number,
  file: FileDescriptorHandle,
  mapper: FileMapper = bestMapper,
): Mapping | Unmappable {
  const { fd, protection, offset } = file;
  const what = `memory ${name} of ${size} bytes at ${offset} of file descriptor ${fd}`;
  if ((protection & Protection.READ) === 0) {
    return { unmappable: `${what} has protection ${protection}: it is not readable` };
  }
  try {
    const length = descriptorStats(fd, "a memory in a file").size;
    // Touching a page beyond the end of a file would end the process.
    if (offset + size > length) return { unmappable: `${what} reaches beyond the file's ${length} bytes` };
    if (size === 0) return { bytes: new Uint8Array(0), writable: (protection & Protection.WRITE) !== 0 };
    const mapping = mapper(file, size);
    if ("unmappable" in mapping) return { unmappable: `${what}: ${mapping.unmappable}` };
    // Only mmap_fd memory is flushed: other shared bytes need no file that keeps them.
    const isShared = name !== "mmap_fd" && mapping.load === undefined;
    return isShared ? { bytes: mapping.bytes, writable: mapping.writable } : mapping;
  } catch (error) {
    return { unmappable: `${what}: ${error instanceof Error ? error.message : error}` };
  }
}
