/**
 * Identification of the processor that this process really runs on, by its instructions: a missing emulator, or another
 * processor than the requested one, is detected. Information of the system (`/proc/cpuinfo`, `os.cpus()`) is of the host.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

/** A processor's facts about itself. */
export interface ProcessorFacts {
  /** Of Node.js: x64 or arm64. */
  readonly arch: string;
  /** x86: its own name. ARM: the numbers of maker and part, such as `41 d03`. */
  readonly name: string;
  /** The instructions that matter for products and sums, in the order of the tables below. */
  readonly features: readonly string[];
}

/** Reads it. Throws if koffi is not installed, by which machine code is called. */
export function processorFacts(arch: string = process.arch): ProcessorFacts {
  if (arch === "x64") return factsOfX86(identify);
  if (arch === "arm64")
    return factsOfArm(new Uint8Array(readFileSync("/proc/self/auxv")), Number(callCode(readPart, "uint64_t code()")));
  throw new Error(`the processor cannot be asked: expected x64 or arm64, got ${arch}`);
}

/** The registers EAX, EBX, ECX, EDX of CPUID. */
export type Registers = readonly [number, number, number, number];

/** Features of x86: leaf, subleaf, register, bit. */
const x86Features = [
  ["SSE4.2", 1, 0, 2, 20],
  ["AVX", 1, 0, 2, 28],
  ["FMA", 1, 0, 2, 12],
  ["AVX2", 7, 0, 1, 5],
  ["AVX-512", 7, 0, 1, 16],
  ["AVX-512 VNNI", 7, 0, 2, 11],
  ["AVX-VNNI", 7, 1, 0, 4],
] as const;

/** Asks CPUID for the name and the features. */
export function factsOfX86(cpuid: (leaf: number, subleaf: number) => Registers): ProcessorFacts {
  const name = [0x8000_0002, 0x8000_0003, 0x8000_0004]
    .map((leaf) => new TextDecoder("latin1").decode(new Uint8Array(Uint32Array.from(cpuid(leaf, 0)).buffer)))
    .join("");
  const features = x86Features.filter(
    ([, leaf, subleaf, register, bit]) => (cpuid(leaf, subleaf)[register] >>> bit) & 1,
  );
  return { arch: "x64", name: name.replace(/\0.*$/s, "").trim(), features: features.map(([feature]) => feature) };
}

/** Features of ARM: the entry of the auxiliary vector (AT_HWCAP, AT_HWCAP2), and the bit. */
const armFeatures = [
  ["NEON", 16, 1],
  ["LSE atomics", 16, 8],
  ["dot products", 16, 20],
  ["SVE", 16, 22],
  ["I8MM", 26, 13],
] as const;

/** Reads the auxiliary vector of a process, pairs of 64-bit numbers, and the register MIDR_EL1. */
export function factsOfArm(vector: Uint8Array, part: number): ProcessorFacts {
  const words = new BigUint64Array(vector.slice().buffer, 0, Math.floor(vector.length / 8));
  const entries = new Map<number, bigint>();
  for (let place = 0; place + 1 < words.length; place += 2) entries.set(Number(words[place]), words[place + 1] ?? 0n);
  const features = armFeatures.filter(([, entry, bit]) => ((entries.get(entry) ?? 0n) >> BigInt(bit)) & 1n);
  const hex = (value: number) => value.toString(16).padStart(2, "0");
  return {
    arch: "arm64",
    name: `${hex((part >>> 24) & 0xff)} ${hex((part >>> 4) & 0xfff)}`,
    features: features.map(([feature]) => feature),
  };
}

/** `mrs x0, midr_el1; ret`: Linux answers for it. */
const readPart = [0x00, 0x00, 0x38, 0xd5, 0xc0, 0x03, 0x5f, 0xd6];

/** A function of C that executes CPUID: leaf, subleaf, and where the four registers go. */
const askProcessor = [
  0x53, // push rbx
  ...[0x49, 0x89, 0xd0], // mov r8, rdx
  ...[0x89, 0xf8], // mov eax, edi
  ...[0x89, 0xf1], // mov ecx, esi
  ...[0x0f, 0xa2], // cpuid
  ...[0x41, 0x89, 0x00], // mov [r8], eax
  ...[0x41, 0x89, 0x58, 0x04], // mov [r8+4], ebx
  ...[0x41, 0x89, 0x48, 0x08], // mov [r8+8], ecx
  ...[0x41, 0x89, 0x50, 0x0c], // mov [r8+12], edx
  0x5b, // pop rbx
  0xc3, // ret
];

function identify(leaf: number, subleaf: number): Registers {
  const registers = new Uint32Array(4);
  callCode(askProcessor, "void code(uint32_t, uint32_t, void *)", leaf, subleaf, registers);
  const [eax = 0, ebx = 0, ecx = 0, edx = 0] = registers;
  return [eax, ebx, ecx, edx];
}

/** The part of koffi that is used. */
interface Koffi {
  load(library: null): { func(prototype: string): (...args: unknown[]) => unknown };
  view(address: unknown, length: number): ArrayBuffer;
  proto(prototype: string): unknown;
  call(address: unknown, prototype: unknown, ...args: unknown[]): unknown;
}

const prototypes = new Map<string, unknown>();

/** Calls machine code. PROT_READ, PROT_WRITE and PROT_EXEC are 7, MAP_PRIVATE and MAP_ANONYMOUS 34. */
function callCode(code: readonly number[], prototype: string, ...args: readonly unknown[]): unknown {
  const koffi: Koffi = createRequire(import.meta.url)("koffi");
  const known = prototypes.get(prototype) ?? koffi.proto(prototype);
  prototypes.set(prototype, known);
  const map = koffi.load(null).func("void *mmap(void *, size_t, int, int, int, int64_t)");
  const page = map(null, 4096, 7, 34, -1, 0);
  new Uint8Array(koffi.view(page, 4096)).set(code);
  return koffi.call(page, known, ...args);
}
