/**
 * The part of the WebAssembly JavaScript API that this package uses. It is looked up, since a platform can lack it and the types of
 * Node.js do not describe it.
 */

/** A memory of pages of 64 KiB. */
export interface WasmMemory {
  readonly buffer: ArrayBuffer | SharedArrayBuffer;
}

/** A compiled module. */
export interface WasmModule {
  readonly isWasmModule?: never;
}

/** A module with its memory. */
export interface WasmInstance {
  readonly exports: Readonly<Record<string, unknown>>;
}

/** The API. */
export interface WebAssemblyApi {
  validate(bytes: Uint8Array<ArrayBuffer>): boolean;
  compile(bytes: Uint8Array<ArrayBuffer>): Promise<WasmModule>;
  readonly Memory: new (descriptor: { initial: number; maximum?: number; shared?: boolean }) => WasmMemory;
  readonly Instance: new (
    module: WasmModule,
    imports: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
  ) => WasmInstance;
}

/** The API of this platform; undefined if it has none. */
export function webAssembly(): WebAssemblyApi | undefined {
  // The specification of the JavaScript API says what the global is.
  return Reflect.get(globalThis, "WebAssembly") as WebAssemblyApi | undefined;
}
