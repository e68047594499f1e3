/** The processors of the matrix: those that qemu emulates, and the features that it cannot. */
import type { ProcessorFacts } from "./features.ts";

/** A processor that is emulated. */
export interface Emulated {
  /** For `--only`, and in the first column of the table. */
  readonly name: string;
  readonly what: string;
  readonly arch: "x64" | "arm64";
  /** The value of qemu's option `-cpu`. */
  readonly cpu: string;
  /** Text in the processor's own name. */
  readonly says: string;
  readonly has: readonly string[];
  readonly lacks: readonly string[];
  /** ARM: the lines of /proc/cpuinfo that say which processor it is. */
  readonly numbers?: {
    readonly part: string;
    readonly variant: string;
    readonly revision: string;
    readonly features: string;
  };
}

const arm = "fp asimd evtstrm aes pmull sha1 sha2 crc32";

/** All of them. */
export const emulated: readonly Emulated[] = [
  {
    name: "Nehalem",
    what: "Intel without AVX",
    arch: "x64",
    cpu: "Nehalem",
    says: "Nehalem",
    has: ["SSE4.2"],
    lacks: ["AVX"],
  },
  {
    name: "SandyBridge",
    what: "Intel with AVX",
    arch: "x64",
    cpu: "SandyBridge",
    says: "Sandy Bridge",
    has: ["AVX"],
    lacks: ["AVX2", "FMA"],
  },
  {
    name: "Haswell",
    what: "Intel with AVX2",
    arch: "x64",
    cpu: "Haswell",
    says: "Haswell",
    has: ["AVX2", "FMA"],
    lacks: ["AVX-512", "AVX-512 VNNI", "AVX-VNNI"],
  },
  {
    name: "Skylake-Server",
    what: "Intel, whose AVX-512 qemu does not have",
    arch: "x64",
    cpu: "Skylake-Server",
    says: "Skylake",
    has: ["AVX2", "FMA"],
    lacks: ["AVX-512", "AVX-512 VNNI", "AVX-VNNI"],
  },
  {
    name: "EPYC",
    what: "AMD Zen",
    arch: "x64",
    cpu: "EPYC",
    says: "AMD EPYC",
    has: ["AVX2", "FMA"],
    lacks: ["AVX-512", "AVX-512 VNNI", "AVX-VNNI"],
  },
  {
    name: "cortex-a53",
    what: "ARM without dot products",
    arch: "arm64",
    cpu: "cortex-a53",
    says: "41 d03",
    has: ["NEON"],
    lacks: ["dot products"],
    numbers: { part: "0xd03", variant: "0x0", revision: "4", features: `${arm} cpuid` },
  },
  {
    name: "neoverse-n1",
    what: "ARM with dot products",
    arch: "arm64",
    cpu: "neoverse-n1",
    says: "41 d0c",
    has: ["NEON", "dot products"],
    lacks: ["I8MM"],
    numbers: {
      part: "0xd0c",
      variant: "0x4",
      revision: "1",
      features: `${arm} atomics fphp asimdhp cpuid asimdrdm lrcpc dcpop asimddp ssbs`,
    },
  },
];

/** The row of the processor that computes without an emulator. */
export const hostName = "host";
/** The row that a host with VNNI replaces: no emulator has these instructions. */
export const vnniName = "VNNI";

/** Facilities of the emulating machine. An absent one has the reason. */
export interface Emulators {
  readonly platform: string;
  readonly arch: string;
  /** The programs of qemu-user by architecture; undefined if one is not installed. */
  readonly qemu: Readonly<Record<Emulated["arch"], string | undefined>>;
  /** True if the libraries of C and C++ for ARM are there. */
  readonly hasArmLibraries: boolean;
  /** Command that enters a mount namespace, as its first words; empty if this is not permitted. */
  readonly namespace: readonly string[];
}

/** Why a processor cannot be emulated here, with what would help; undefined if it can. */
export function reasonAgainst({ arch }: Emulated, machine: Emulators): string | undefined {
  const program = arch === "x64" ? "qemu-x86_64" : "qemu-aarch64";
  if (machine.platform !== "linux") return `qemu-user runs on Linux, and this is ${machine.platform}`;
  if (machine.qemu[arch] === undefined) return `${program} is not installed (Debian: qemu-user)`;
  if (arch === "x64") {
    return machine.arch === "x64" ? undefined : `the Node.js of this host, which is emulated, is for ${machine.arch}`;
  }
  if (!machine.hasArmLibraries)
    return "the libraries for ARM are not installed (Debian: libc6-arm64-cross, libstdc++6-arm64-cross)";
  if (machine.namespace.length === 0)
    return "no permission for a mount namespace, in which ONNX Runtime finds an ARM /proc/cpuinfo";
  return undefined;
}

/** Returns the difference between a process's facts of its processor and the requested one; undefined if there is none. */
export function mismatch({ name, arch, says, has, lacks }: Emulated, facts: ProcessorFacts): string | undefined {
  const found = `${facts.arch} ${facts.name} with ${facts.features.join(", ") || "none of the features"}`;
  const isRight =
    facts.arch === arch &&
    facts.name.includes(says) &&
    has.every((feature) => facts.features.includes(feature)) &&
    !lacks.some((feature) => facts.features.includes(feature));
  return isRight ? undefined : `expected the process to run on ${name}, got ${found}`;
}

/** The text of /proc/cpuinfo for an ARM processor, with two of them. */
export function cpuinfoOf({ part, variant, revision, features }: NonNullable<Emulated["numbers"]>): string {
  const fields = (place: number) => [
    `processor\t: ${place}`,
    "BogoMIPS\t: 100.00",
    `Features\t: ${features}`,
    "CPU implementer\t: 0x41",
    "CPU architecture: 8",
    `CPU variant\t: ${variant}`,
    `CPU part\t: ${part}`,
    `CPU revision\t: ${revision}`,
    "",
  ];
  return [0, 1].map((place) => `${fields(place).join("\n")}\n`).join("");
}
