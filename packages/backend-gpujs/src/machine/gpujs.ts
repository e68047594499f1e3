/**
 * The part of gpu.js that is used here. Its own declarations need a browser's, and lack WebGPU's; the package is pinned to one
 * version, whose shapes are looked at when it is loaded.
 */

/** A kernel: a function of its arguments, with what lies behind it. */
export interface GpuKernel {
  (...args: readonly unknown[]): unknown;
  /** What runs it. */
  readonly kernel: { readonly constructor: unknown };
  destroy(): void;
}

/** How to make a kernel. */
export interface GpuKernelSettings {
  readonly output: readonly number[];
  readonly constants?: Readonly<Record<string, unknown>>;
  readonly precision: "single";
  readonly pipeline: true;
  readonly immutable: true;
  /** Loops without constant bounds end here, silently. */
  readonly loopMaxIterations: number;
  readonly tactic: "precision";
}

/** An instance, which has kernels of one mode. */
export interface Gpu {
  createKernel(source: string, settings: GpuKernelSettings): GpuKernel;
  destroy(): unknown;
}

/** A value in the memory of a GPU: a texture of OpenGL or a buffer of WebGPU. */
export interface ResidentValue {
  toArray(): unknown;
  delete(): void;
}

/** What WebGPU calls a device, as far as it is used here. */
interface GpuDevice {
  createBuffer(settings: { readonly size: number; readonly usage: number }): GpuBuffer;
  readonly queue: { writeBuffer(buffer: GpuBuffer, offset: number, data: Float32Array): void };
}

export interface GpuBuffer {
  destroy(): void;
}

/** The device that all WebGPU kernels of a process share. */
export interface WebGpuContext {
  readonly adapter: { readonly info?: Readonly<Record<string, unknown>> };
  readonly device: GpuDevice;
}

/** Facts of a buffer of WebGPU. */
export interface BufferFacts {
  readonly buffer: GpuBuffer;
  readonly output: readonly number[];
  readonly componentCount: number;
  readonly context: WebGpuContext;
  /** Reads the buffer back. */
  readonly kernel: unknown;
}

/** What the package exports. */
export interface GpuJs {
  readonly GPU: (new (settings: { readonly mode: string }) => Gpu) & { readonly isHeadlessGLSupported: boolean };
  readonly input: (values: Float32Array, size: readonly number[]) => unknown;
  readonly WebGPUBufferResult: new (facts: BufferFacts) => ResidentValue & BufferFacts;
  readonly WebGPUContext: { acquire(): Promise<WebGpuContext> };
}

/** Loads gpu.js. */
export async function loadGpuJs(): Promise<GpuJs> {
  const { default: module }: { readonly default: unknown } = await import("gpu.js");
  if (!isGpuJs(module))
    throw new Error("the package gpu.js is not the version that this backend was written for, 2.24.1");
  return module;
}

function isGpuJs(module: unknown): module is GpuJs {
  const names = ["GPU", "input", "WebGPUBufferResult", "WebGPUContext"];
  return module instanceof Object && names.every((name) => typeof Reflect.get(module, name) === "function");
}

/** The mode that a kernel really runs in; gpu.js may have taken another than was asked for. */
export function modeOf({ kernel }: GpuKernel): string | undefined {
  const mode = kernel.constructor instanceof Function ? Reflect.get(kernel.constructor, "mode") : undefined;
  return typeof mode === "string" ? mode : undefined;
}

export function isResident(value: unknown): value is ResidentValue {
  return value instanceof Object && "toArray" in value && "delete" in value;
}

/** What stands in the way of a mode whose packages are there. */
export class Unusable extends Error {
  readonly remedy: string;
  constructor(message: string, remedy: string) {
    super(message);
    this.remedy = remedy;
  }
}
