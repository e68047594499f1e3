/** The system calls of Linux that this package needs, with their constants. They are looked up at the first use. */
import { getSystemErrorName } from "node:util";
import { type SystemLibrary, systemLibrary } from "@nnhal/driver-core/memory";

/** Bits of the seals of a memory file: changes of the file that they forbid. */
export const Seal = { SEAL: 1, SHRINK: 2, GROW: 4, WRITE: 8, FUTURE_WRITE: 16 } as const;

/** A word to wait for: its address and the value that it has until it is woken. */
export interface AwaitedWord {
  readonly address: bigint;
  readonly expected: number;
}

/** A message of a descriptor socket as it was received. */
export interface ReceivedMessage {
  readonly bytes: Uint8Array;
  /** Descriptors of this process, which the caller closes. */
  readonly descriptors: readonly number[];
  /** True if descriptors were lost: more were sent than fit, or this process cannot open more. */
  readonly isTruncated: boolean;
}

/** The credentials of a process at the other end of a socket, when it connected. */
export interface Credentials {
  readonly pid: number;
  readonly uid: number;
  readonly gid: number;
}

/** The calls. Those that fail throw a `SystemError`, unless they say otherwise. */
export interface Linux {
  /** A memory file of `size` zeroed bytes. */
  createMemoryFile(size: number): number;
  /** The seals of a file; undefined if it cannot have any. */
  seals(fd: number): number | undefined;
  /** Adds seals. Returns whether the file has them now. */
  addSeals(fd: number, seals: number): boolean;
  /** Wakes all who wait for the word at an address. */
  wake(address: bigint): void;
  /** Blocks until the word is woken, does not have the value, or the time has passed. Can end early. */
  wait(word: AwaitedWord, milliseconds: number): void;
  /** Sends `bytes` with a descriptor. Returns false if the socket has no room now. */
  send(socket: number, bytes: Uint8Array, descriptor: number | undefined): boolean;
  /** Receives at most `length` bytes and one descriptor. "none": nothing is there; "closed": the other end is. */
  receive(socket: number, length: number): ReceivedMessage | "none" | "closed";
  credentials(socket: number): Credentials;
  /** Zeroed bytes for structures of system calls, which are never given back. Returns their address. */
  allocate(size: number): bigint;
  /** The C library, for calls on other threads. */
  readonly library: SystemLibrary;
  /** The number of a system call. */
  readonly numbers: typeof callNumbers.x64;
}

/** A system call that failed. `code`: the number of the error. */
export class SystemError extends Error {
  override readonly name = "SystemError";
  readonly code: number;

  constructor(call: string, code: number) {
    super(`${call} failed with error ${code}${code > 0 ? ` (${getSystemErrorName(-code)})` : ""}`);
    this.code = code;
  }
}

/** Numbers of errors that callers tell apart. */
export const ErrorNumber = { EINTR: 4, EAGAIN: 11, EINVAL: 22 } as const;

const callNumbers = {
  x64: { futex: 202, futexWaitV: 449 },
  arm64: { futex: 98, futexWaitV: 449 },
  riscv64: { futex: 98, futexWaitV: 449 },
  loong64: { futex: 98, futexWaitV: 449 },
} as const satisfies Readonly<Record<string, { futex: number; futexWaitV: number }>>;

const MFD_CLOEXEC = 1;
const MFD_ALLOW_SEALING = 2;
const F_ADD_SEALS = 1033;
const F_GET_SEALS = 1034;
const FUTEX_WAIT = 0;
const FUTEX_WAKE = 1;
const everyWaiter = 0x7fff_ffff;
const SOL_SOCKET = 1;
const SO_PEERCRED = 17;
const SCM_RIGHTS = 1;
const MSG_CTRUNC = 8;
const MSG_DONTWAIT = 0x40;
const MSG_NOSIGNAL = 0x4000;
const MSG_CMSG_CLOEXEC = 0x4000_0000;
const PROT_READ_WRITE = 3;
const MAP_PRIVATE_ANONYMOUS = 0x22;
const MAP_FAILED = 0xffff_ffff_ffff_ffffn;

let found: Linux | { readonly missing: string } | undefined;

/** The calls, or why there are none. */
export function linux(): Linux | { readonly missing: string } {
  found ??= load(process);
  return found;
}

/** For tests: loads the calls for a platform. */
export function load({ platform, arch }: Pick<NodeJS.Process, "platform" | "arch">): Linux | { missing: string } {
  const numbers = platform === "linux" ? Reflect.get(callNumbers, arch) : undefined;
  if (numbers === undefined) return { missing: `it is not done by system calls on ${platform} ${arch}` };
  const library = systemLibrary();
  if ("missing" in library) return library;
  try {
    return callsOf(library, numbers);
  } catch (error) {
    return { missing: `the system's library: ${error instanceof Error ? error.message : error}` };
  }
}

function callsOf(library: SystemLibrary, numbers: Linux["numbers"]): Linux {
  const memfdCreate = library.func("int memfd_create(const char *name, unsigned int flags)");
  const ftruncate = library.func("int ftruncate(int fd, int64_t length)");
  const close = library.func("int close(int fd)");
  const fcntl = library.func("int fcntl(int fd, int command, int argument)");
  const getsockopt = library.func("int getsockopt(int socket, int level, int option, void *value, void *length)");
  const sendmsg = library.func("long sendmsg(int socket, void *message, int flags)");
  const recvmsg = library.func("long recvmsg(int socket, void *message, int flags)");
  const futexWake = library.func("long syscall(long number, int64_t address, int operation, int count)");
  const futexWait = library.func("long syscall(long number, int64_t address, int operation, int value, void *timeout)");
  const allocate = allocator(library);
  const scratch = createScratch(library, allocate);
  const fail = (call: string) => new SystemError(call, library.errno());
  const { view } = scratch;
  return {
    library,
    numbers,
    allocate,
    createMemoryFile(size) {
      const fd = Number(memfdCreate("nnhal", MFD_CLOEXEC | MFD_ALLOW_SEALING));
      if (fd < 0) throw fail("memfd_create");
      if (Number(ftruncate(fd, size)) === 0) return fd;
      const error = fail(`ftruncate to ${size} bytes`);
      close(fd);
      throw error;
    },
    seals(fd) {
      const seals = Number(fcntl(fd, F_GET_SEALS, 0));
      return seals < 0 ? undefined : seals;
    },
    addSeals: (fd, seals) => Number(fcntl(fd, F_ADD_SEALS, seals)) === 0,
    wake: (address) => void futexWake(numbers.futex, address, FUTEX_WAKE, everyWaiter),
    wait({ address, expected }, milliseconds) {
      view.setBigInt64(scratch.time, BigInt(Math.floor(milliseconds / 1000)), true);
      view.setBigInt64(scratch.time + 8, BigInt(Math.round((milliseconds % 1000) * 1e6)), true);
      futexWait(numbers.futex, address, FUTEX_WAIT, expected, scratch.address + BigInt(scratch.time));
    },
    send(socket, bytes, descriptor) {
      const message = scratch.message(bytes.length, descriptor === undefined ? 0 : controlLength);
      scratch.bytes.set(bytes, scratch.content);
      if (descriptor !== undefined) {
        view.setBigUint64(scratch.control, BigInt(controlLength), true);
        view.setInt32(scratch.control + 8, SOL_SOCKET, true);
        view.setInt32(scratch.control + 12, SCM_RIGHTS, true);
        view.setInt32(scratch.control + 16, descriptor, true);
      }
      for (;;) {
        const sent = Number(sendmsg(socket, message, MSG_DONTWAIT | MSG_NOSIGNAL));
        if (sent === bytes.length) return true;
        if (sent >= 0) throw new Error(`sendmsg sent ${sent} of ${bytes.length} bytes`);
        const code = library.errno();
        if (code === ErrorNumber.EAGAIN) return false;
        if (code !== ErrorNumber.EINTR) throw new SystemError("sendmsg", code);
      }
    },
    receive(socket, length) {
      for (;;) {
        // Room for one descriptor: the system itself closes what does not fit.
        const message = scratch.message(length, controlLength);
        const received = Number(recvmsg(socket, message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC));
        if (received >= 0) {
          const descriptors = scratch.descriptors();
          const isTruncated = (scratch.flags() & MSG_CTRUNC) !== 0;
          if (received === 0 && descriptors.length === 0) return "closed";
          const bytes = scratch.bytes.slice(scratch.content, scratch.content + received);
          return { bytes, descriptors, isTruncated };
        }
        const code = library.errno();
        if (code === ErrorNumber.EAGAIN) return "none";
        if (code !== ErrorNumber.EINTR) throw new SystemError("recvmsg", code);
      }
    },
    credentials(socket) {
      const at = scratch.address + BigInt(scratch.content);
      view.setUint32(scratch.content + 16, 12, true);
      if (Number(getsockopt(socket, SOL_SOCKET, SO_PEERCRED, at, at + 16n)) !== 0) throw fail("getsockopt");
      const word = (index: number) => view.getInt32(scratch.content + 4 * index, true);
      return { pid: word(0), uid: word(1) >>> 0, gid: word(2) >>> 0 };
    },
  };
}

/** A control message with one descriptor: its length, level, type, and the descriptor. */
const controlLength = 20;

function allocator(library: SystemLibrary): Linux["allocate"] {
  const mmap = library.func(
    "void *mmap(void *address, size_t length, int protection, int flags, int fd, int64_t offset)",
  );
  return (size) => {
    const address = mmap(null, size, PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS, -1, 0n);
    if (typeof address === "bigint" && address > 0n && address !== MAP_FAILED) return address;
    throw new SystemError("mmap", library.errno());
  };
}

/** A page for the structures that system calls read and write. Calls are synchronous, so one is enough for a thread. */
function createScratch(library: SystemLibrary, allocate: Linux["allocate"]) {
  const length = 4096;
  const address = allocate(length);
  const buffer = library.view(address, length);
  const view = new DataView(buffer);
  const bytes = new Uint8Array(buffer);
  // struct msghdr, struct iovec, struct cmsghdr, struct timespec, content.
  const at = { header: 0, vector: 64, control: 128, time: 256, content: 512 };
  const pointer = (offset: number) => address + BigInt(offset);
  return {
    ...at,
    address,
    view,
    bytes,
    /** Prepares a message with room for some bytes of content and control data. */
    message(contentLength: number, controlLength: number): bigint {
      bytes.fill(0, 0, at.time);
      view.setBigUint64(at.header + 16, pointer(at.vector), true);
      view.setBigUint64(at.header + 24, 1n, true);
      if (controlLength > 0) {
        view.setBigUint64(at.header + 32, pointer(at.control), true);
        view.setBigUint64(at.header + 40, BigInt(controlLength), true);
      }
      view.setBigUint64(at.vector, pointer(at.content), true);
      view.setBigUint64(at.vector + 8, BigInt(contentLength), true);
      return address;
    },
    flags: () => view.getInt32(at.header + 48, true),
    /** The descriptors that a message has brought. */
    descriptors(): number[] {
      const used = Number(view.getBigUint64(at.header + 40, true));
      if (used < controlLength || view.getInt32(at.control + 12, true) !== SCM_RIGHTS) return [];
      return [view.getInt32(at.control + 16, true)];
    },
  };
}
