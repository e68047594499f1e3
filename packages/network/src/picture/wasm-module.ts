/**
 * Decoders that are WebAssembly: compiled once, with memory of their own for each picture. Their own loaders would ask for files by HTTP.
 */

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

/** Options that make a module of a decoder's code, which is compressed by gzip in builds. `onLine`: receives what the decoder writes, such as warnings. */
export async function compileModule(
  name: string,
  code: Uint8Array,
  onLine: (line: string) => void = () => {},
): Promise<ModuleOptions> {
  let module = modules.get(name);
  if (module === undefined) {
    module = unzip(code).then((plain) => compiler.compile(plain));
    modules.set(name, module);
  }
  const ready = await module;
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

/** The code itself, from its form in builds or in sources. */
async function unzip(code: Uint8Array): Promise<Uint8Array> {
  if (code[0] !== 0x1f || code[1] !== 0x8b) return code;
  const plain = new Blob([new Uint8Array(code)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(plain).arrayBuffer());
}
