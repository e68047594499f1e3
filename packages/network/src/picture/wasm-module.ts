/**
 * Decoders that are WebAssembly: compiled once, with memory of their own for each picture. Their own loaders would ask for files by HTTP.
 */
import { nodeModule } from "@nnhal/utils/node";

/** Result of a decoder. */
export interface ImagePixels {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8ClampedArray;
}

/** Options of the factory of an Emscripten module. */
export interface ModuleOptions {
  readonly noInitialRun: true;
  instantiateWasm(imports: object, receive: (instance: Instance) => void): unknown;
  readonly print: (line: string) => void;
  readonly printErr: (line: string) => void;
}

interface Instance {
  readonly exports: unknown;
}

interface Compiler {
  compile(bytes: Uint8Array): Promise<object>;
  readonly Instance: new (module: object, imports: object) => Instance;
}

// The types of Node.js have no values of this name.
const { WebAssembly: compiler } = globalThis as unknown as { readonly WebAssembly: Compiler };
const modules = new Map<string, Promise<object>>();

/** Options that make a module of a decoder's code, which is compressed by brotli in builds. `onLine`: receives what the decoder writes, such as warnings. */
export async function compileModule(
  name: string,
  code: Uint8Array,
  onLine: (line: string) => void = () => {},
): Promise<ModuleOptions> {
  const ready = await compile(name, code);
  return {
    noInitialRun: true,
    print: onLine,
    printErr: onLine,
    instantiateWasm(imports, receive) {
      const instance = new compiler.Instance(ready, imports);
      receive(instance);
      return instance.exports;
    },
  };
}

/** The exports of a new instance of a decoder that has no loader of its own. `T`: as the decoder's documentation says. */
export async function instantiate<T>(name: string, code: Uint8Array, imports: object): Promise<T> {
  return new compiler.Instance(await compile(name, code), imports).exports as T;
}

function compile(name: string, code: Uint8Array): Promise<object> {
  let module = modules.get(name);
  if (module === undefined) {
    module = compiler.compile(unpack(code));
    modules.set(name, module);
  }
  return module;
}

/** The code itself, from its form in builds or in sources. */
function unpack(code: Uint8Array): Uint8Array {
  // A module begins with "\0asm", and the file that brotli makes of it does not.
  return code[0] === 0 ? code : nodeModule("node:zlib", "a decoder of pictures").brotliDecompressSync(code);
}
