/** The system's C library, called through the optional package koffi. */
import { nodeModule } from "@nnhal/utils/node";

/** A function of the C library. Pointers and 64-bit integers are bigints if they do not fit a number. */
export interface SystemFunction {
  (...args: unknown[]): unknown;
  /** Calls it on a thread of the pool. The last argument is a callback of (error, result). */
  readonly async: (...args: unknown[]) => void;
}

/** The C library of this machine. */
export interface SystemLibrary {
  /** A function by its declaration in C. Throws if the library does not have it. */
  func(declaration: string): SystemFunction;
  /** The bytes at an address as a view. They must not be unmapped while the view can be reached. */
  view(address: unknown, length: number): ArrayBuffer;
  /** The address of a buffer's first byte. */
  address(buffer: ArrayBufferLike): bigint;
  /** The error number of the last call of this thread. */
  errno(): number;
}

/** The part of koffi that is used. */
interface Koffi extends Pick<SystemLibrary, "view" | "address" | "errno"> {
  load(library: null): { func(declaration: string): SystemFunction };
}

/** Why the C library cannot be called. */
export interface NoSystemLibrary {
  readonly missing: string;
}

let found: SystemLibrary | NoSystemLibrary | undefined;

/** The C library. It is loaded at the first call; never throws. */
export function systemLibrary(): SystemLibrary | NoSystemLibrary {
  found ??= load();
  return found;
}

function load(): SystemLibrary | NoSystemLibrary {
  try {
    // If the last file that was looked at is a pipe or a socket, Node.js does not follow links to packages (nodejs/node, issue 51142).
    nodeModule("node:fs", "koffi").lstatSync("/");
    const koffi: Koffi = nodeModule("node:module", "koffi").createRequire(import.meta.url)("koffi");
    const libc = koffi.load(null);
    return {
      func: (declaration) => libc.func(declaration),
      view: (address, length) => koffi.view(address, length),
      address: (buffer) => koffi.address(buffer),
      errno: () => koffi.errno(),
    };
  } catch (error) {
    return { missing: reasonOf(error) };
  }
}

function reasonOf(error: unknown): string {
  const isAbsent = error instanceof Error && "code" in error && error.code === "MODULE_NOT_FOUND";
  if (isAbsent) return "the package koffi is not installed";
  return `koffi cannot be loaded: ${error instanceof Error ? error.message : error}`;
}
