/** The two ways in which files cross to another process: as descriptors over a socket, and as names in a private folder. */
import { randomBytes } from "node:crypto";
import { closeSync, constants, ftruncateSync, openSync, readSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import { mapPool } from "@nnhal/driver-core/memory";
import type { Memory } from "@nnhal/types";
import { adoptMemory, statsOf, whyUnreadable } from "./adopt.ts";
import { descriptorChannel, type NotPassed } from "./descriptor-channel.ts";
import type { MemoryReference } from "./memory-reference.ts";
import { createSharedMemory, type NoMemory } from "./shared-memory.ts";

/** Bytes that both sides reach. */
export interface SharedCopy {
  /** Copies a range of `bytes`, the memory that the copy is of, to the same place of the copy. */
  write(bytes: Uint8Array, offset: number, length: number): void;
  read(bytes: Uint8Array, offset: number, length: number): void;
}

/** A file that has been sent: its number and, if it has one, its name. */
export interface SentFile {
  readonly id: number;
  readonly file: string;
}

/** A way for files. */
export interface FileWay {
  readonly way: "descriptors" | "files";
  /** True if existing files of the sender can be sent. */
  readonly sharesFiles: boolean;
  send(fd: number): SentFile | NoMemory;
  /** Makes and sends a file for bytes that are copied. */
  sendCopy(length: number): (SentFile & { readonly copy: SharedCopy }) | NoMemory;
  receive(reference: MemoryReference): Memory | NoMemory;
  /** The descriptor of an open file that the other side has sent. The caller closes it. */
  take?(id: number): number | NoMemory;
  /** A file that was sent is not needed any more. */
  forget(file: string): void;
  close(): void;
}

/** Files as descriptors: they are mapped on both sides, and not copied. `socket`: a socket for descriptors. */
export function descriptorWay(socket: number): FileWay | NotPassed {
  const channel = descriptorChannel(socket);
  if ("notPassed" in channel) return channel;
  const send = (fd: number): SentFile | NoMemory => {
    const id = channel.send(fd);
    return typeof id === "number" ? { id, file: "" } : { refused: `its descriptor cannot be sent: ${id.notPassed}` };
  };
  return {
    way: "descriptors",
    sharesFiles: true,
    send,
    sendCopy(length) {
      const memory = createSharedMemory(length);
      if ("refused" in memory) return memory;
      const sent = send(memory.handle.fd);
      memory.close();
      if ("refused" in sent) return sent;
      const mapping = mapPool(memory);
      if ("unmappable" in mapping) return { refused: mapping.unmappable };
      const shared = mapping.bytes;
      return {
        ...sent,
        copy: {
          write: (bytes, offset, count) => {
            shared.set(bytes.subarray(offset, offset + count), bytes.byteOffset + offset);
          },
          read: (bytes, offset, count) => {
            const start = bytes.byteOffset + offset;
            bytes.set(shared.subarray(start, start + count), offset);
          },
        },
      };
    },
    receive({ id, file, start, length, protection }) {
      if (file !== "") return { refused: `a file ${file} is named, and descriptors are passed` };
      const fd = channel.take(id);
      if (typeof fd !== "number") return { refused: `its descriptor has not come: ${fd.notPassed}` };
      return adoptMemory(fd, length, { offset: start, protection });
    },
    take(id) {
      const fd = channel.take(id);
      if (typeof fd !== "number") return { refused: `its descriptor has not come: ${fd.notPassed}` };
      const why = whyUnreadable(fd);
      if (why === undefined) return fd;
      closeSync(fd);
      return { refused: why };
    },
    forget() {},
    close: () => channel.close(),
  };
}

/** A folder that both sides know. */
export interface FolderOptions {
  /** It exists, and only its owner can enter it. */
  readonly folder: string;
  /** The user who owns the other side's files. Default: the user of this process. */
  readonly owner?: number | undefined;
}

/**
 * Files in a private folder, without system calls of a library: bytes are copied on both sides. The receiver removes the name
 * of a file as soon as it has opened it.
 */
export function folderWay({ folder, owner = process.getuid?.() }: FolderOptions): FileWay {
  const prefix = randomBytes(8).toString("hex");
  const mine = new Map<string, number>();
  let lastId = 0;
  const forget = (file: string) => {
    const fd = mine.get(file);
    if (fd === undefined) return;
    mine.delete(file);
    closeSync(fd);
    remove(join(folder, file));
  };
  return {
    way: "files",
    sharesFiles: false,
    send: () => ({ refused: "descriptors are not passed" }),
    sendCopy(length) {
      const id = lastId + 1;
      const file = `${prefix}-${id}`;
      try {
        const fd = openSync(join(folder, file), constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600);
        mine.set(file, fd);
        ftruncateSync(fd, length);
        lastId = id;
        return { id, file, copy: copyInFile(fd) };
      } catch (error) {
        forget(file);
        return { refused: `a file for its bytes cannot be made: ${error instanceof Error ? error.message : error}` };
      }
    },
    receive({ file, start, length, protection }) {
      if (file === "") return { refused: "no file is named, and descriptors are not passed" };
      let fd: number | undefined;
      try {
        // Neither a link to another file nor a pipe that never answers.
        fd = openSync(join(folder, file), constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK);
        const stats = statsOf(fd);
        const [uid, mode] = [Number(stats.uid), Number(stats.mode)];
        if (owner !== undefined && uid !== owner) throw new Error(`it belongs to user ${uid}, not ${owner}`);
        // Windows has neither users nor modes of this kind.
        if (owner !== undefined && (mode & 0o077) !== 0)
          throw new Error(`others may use it: its mode is ${(mode & 0o777).toString(8)}`);
        remove(join(folder, file));
        return adoptMemory(fd, length, { offset: start, protection });
      } catch (error) {
        if (fd !== undefined) closeSync(fd);
        return { refused: `its file ${file}: ${error instanceof Error ? error.message : error}` };
      }
    },
    forget,
    close() {
      for (const file of mine.keys()) forget(file);
    },
  };
}

/** Removes a name of a file, unless the other side has removed it. */
function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  }
}

function copyInFile(fd: number): SharedCopy {
  return {
    write(bytes, offset, length) {
      for (let done = 0; done < length; ) {
        done += writeSync(fd, bytes, offset + done, length - done, bytes.byteOffset + offset + done);
      }
    },
    read(bytes, offset, length) {
      for (let done = 0; done < length; ) {
        const count = readSync(fd, bytes, offset + done, length - done, bytes.byteOffset + offset + done);
        if (count === 0) throw new Error(`the file of a memory ends ${length - done} bytes early`);
        done += count;
      }
    },
  };
}
