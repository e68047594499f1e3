/**
 * The part of gpu.js that this package uses. Its own declarations need those of a browser, and lack those of WebGPU. The package is
 * pinned to one version, and its shape is checked when it is loaded.
 */

/** A kernel: a function of its arguments, with its implementation. */
export interface GpuKernel {
  (...args: readonly unknown[]): unknown;
  /** The implementation. */
  readonly kernel: { readonly constructor: unknown };
  destroy(): void;
}

/** Settings of a kernel. */
export interface GpuKernelSettings {
  readonly output: readonly number[];
  readonly constants?: Readonly<Record<string, unknown>>;
  readonly precision: "single";
  readonly pipeline: true;
  readonly immutable: true;
  /** Loops without constant bounds end silently after so many iterations. */
  readonly loopMaxIterations: number;
  readonly tactic: "precision";
}

/** An instance; its kernels have one mode. */
export interface Gpu {
  createKernel(source: string, settings: GpuKernelSettings): GpuKernel;
  destroy(): unknown;
}

/** A value in the memory of a GPU: a texture of OpenGL or a buffer of WebGPU. */
export interface ResidentValue {
  toArray(): unknown;
  delete(): void;
}

/** The part of a GPUDevice that is used here. */
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

/** The exports of the package. */
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

/** The mode that a kernel runs in. gpu.js may have chosen another one than the requested mode. */
export function modeOf({ kernel }: GpuKernel): string | undefined {
  const mode = kernel.constructor instanceof Function ? Reflect.get(kernel.constructor, "mode") : undefined;
  return typeof mode === "string" ? mode : undefined;
}

export function isResident(value: unknown): value is ResidentValue {
  return value instanceof Object && "toArray" in value && "delete" in value;
}

/** Why a mode does not work although its packages are installed. */
export class Unusable extends Error {
  readonly remedy: string;
  constructor(message: string, remedy: string) {
    super(message);
    this.remedy = remedy;
  }
}
