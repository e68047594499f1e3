/**
 * Emulated hardware buffers: a description like Android's AHardwareBuffer_Desc with plain bytes, rows padded to the stride,
 * layers one after the other. A BLOB is a row of bytes in a public layout. The layout of other formats is private to the maker
 * and the backends that support it.
 */
import type { HardwareBufferDescription, HardwareBufferHandle, Memory } from "@nnhal/types";
import { shareable } from "./shareable.ts";

/** Formats by their Android names (AHardwareBuffer_Format), with the bytes that a pixel takes. */
export const hardwareBufferFormats = {
  R8G8B8A8_UNORM: { code: 1, pixelSize: 4 },
  R8G8B8X8_UNORM: { code: 2, pixelSize: 4 },
  R8G8B8_UNORM: { code: 3, pixelSize: 3 },
  R5G6B5_UNORM: { code: 4, pixelSize: 2 },
  R16G16B16A16_FLOAT: { code: 0x16, pixelSize: 8 },
  BLOB: { code: 0x21, pixelSize: 1 },
  R10G10B10A2_UNORM: { code: 0x2b, pixelSize: 4 },
  D16_UNORM: { code: 0x30, pixelSize: 2 },
  D24_UNORM: { code: 0x31, pixelSize: 4 },
  D32_FLOAT: { code: 0x33, pixelSize: 4 },
  S8_UINT: { code: 0x35, pixelSize: 1 },
} as const satisfies Readonly<Record<string, { readonly code: number; readonly pixelSize: number }>>;

/** Bits of `HardwareBufferDescription.usage` (AHardwareBuffer_UsageFlags). */
export const HardwareBufferUsage = {
  CPU_READ_RARELY: 0x2n,
  CPU_READ_OFTEN: 0x3n,
  CPU_READ_MASK: 0xfn,
  CPU_WRITE_RARELY: 0x20n,
  CPU_WRITE_OFTEN: 0x30n,
  CPU_WRITE_MASK: 0xf0n,
  GPU_SAMPLED_IMAGE: 0x100n,
  GPU_DATA_BUFFER: 0x100_0000n,
} as const;

const byCode: ReadonlyMap<number, { readonly name: string; readonly pixelSize: number }> = new Map(
  Object.entries(hardwareBufferFormats).map(([name, { code, pixelSize }]) => [code, { name, pixelSize }]),
);
const blob: number = hardwareBufferFormats.BLOB.code;
const byCpu = HardwareBufferUsage.CPU_READ_OFTEN | HardwareBufferUsage.CPU_WRITE_OFTEN;

/** The name of a format for messages: `BLOB`, or `format 77` for one that is not emulated. */
export function formatName(format: number): string {
  return byCode.get(format)?.name ?? `format ${format}`;
}

/** Bytes of a hardware buffer; undefined for a format that is not emulated. */
export function hardwareBufferSize({ height, layers, format, stride }: HardwareBufferDescription): number | undefined {
  const pixelSize = byCode.get(format)?.pixelSize;
  return pixelSize === undefined ? undefined : stride * height * layers * pixelSize;
}

/** Allocates a zeroed BLOB that CPUs read and write, unless another usage is asked for. */
export function allocateBlob(size: number, usage: bigint = byCpu): Memory {
  return allocateHardwareBuffer({ width: size, height: 1, layers: 1, format: blob, usage, stride: size });
}

/**
 * Allocates a zeroed hardware buffer that all threads of this process can share. Throws RangeError for an invalid
 * description.
 */
export function allocateHardwareBuffer(description: HardwareBufferDescription): Memory {
  const problem = problemOf(description);
  if (problem !== undefined) throw new RangeError(`allocating a hardware buffer: ${problem}`);
  const size = hardwareBufferSize(description) ?? 0;
  const content = { kind: "buffer", buffer: shareable(size), byteOffset: 0 } as const;
  const name = description.format === blob ? "hardware_buffer_blob" : "hardware_buffer";
  return { name, size, handle: { kind: "hardwareBuffer", description, content } };
}

function problemOf({ width, height, layers, format, usage, stride }: HardwareBufferDescription): string | undefined {
  for (const [field, value] of Object.entries({ width, height, layers, stride })) {
    if (!Number.isSafeInteger(value) || value < 1) return `the ${field}: expected an integer >= 1, got ${value}`;
  }
  if (!byCode.has(format)) return `the format is ${format}, which is not emulated`;
  if (typeof usage !== "bigint") return `the usage: expected a bigint, got ${usage}`;
  if (stride < width) return `the stride is ${stride}, less than the width ${width}`;
  if (format === blob && (height !== 1 || layers !== 1))
    return `a BLOB has height ${height} and layers ${layers}, not 1`;
  return undefined;
}

/** The bytes of a hardware buffer, or why it cannot be mapped. */
export type HardwareBufferFacts =
  | { readonly unmappable: string }
  | { readonly isBlob: boolean; readonly readable: boolean; readonly writable: boolean };

/** Checks a memory's hardware buffer against its name and size. */
export function hardwareBufferFacts(
  { name, size }: Memory,
  { description }: HardwareBufferHandle,
): HardwareBufferFacts {
  const problem = problemOf(description);
  if (problem !== undefined) return { unmappable: `memory ${name}: ${problem}` };
  const isBlob = description.format === blob;
  if (isBlob !== (name === "hardware_buffer_blob")) {
    return { unmappable: `memory ${name} lies in a hardware buffer of format ${formatName(description.format)}` };
  }
  const needed = isBlob ? description.width : hardwareBufferSize(description);
  if (needed !== size) return { unmappable: `memory ${name} claims ${size} bytes, its hardware buffer has ${needed}` };
  return {
    isBlob,
    readable: (description.usage & HardwareBufferUsage.CPU_READ_MASK) !== 0n,
    writable: (description.usage & HardwareBufferUsage.CPU_WRITE_MASK) !== 0n,
  };
}
