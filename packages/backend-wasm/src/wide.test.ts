import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { prepareCases } from "./self-check.ts";
import { backend, wasmBackend } from "./wasm-backend.ts";
import { type WasmModule, type WebAssemblyApi, webAssembly } from "./web-assembly.ts";
import { connectCase, depthwiseCase, openWide, type V8Flags } from "./wide.ts";

function realApi(): WebAssemblyApi {
  const found = webAssembly();
  if (found === undefined) throw new Error("there is no WebAssembly");
  return found;
}

/** Flags that are only recorded. */
function recordFlags(version = "13.6", given: readonly string[] = []) {
  const set: string[] = [];
  const flags: V8Flags = { version, given, set: (flag) => set.push(flag) };
  return { flags, set };
}

/** The numbers of the modules that `openWide` compiles: the plain results, the joined ones, and the two that are timed. */
const [joined, timedJoined, timedApart] = [1, 2, 3];

/** An implementation in which the functions of a module are others, by its number. */
function replaceFunctions(change: (number: number, compute: () => void) => () => void): WebAssemblyApi {
  const api = realApi();
  const numbers = new WeakMap<WasmModule, number>();
  let compiled = 0;
  return {
    ...{ validate: (bytes) => api.validate(bytes), Memory: api.Memory },
    async compile(bytes) {
      const number = compiled++;
      const module = await api.compile(bytes);
      numbers.set(module, number);
      return module;
    },
    Instance: class {
      readonly exports: Readonly<Record<string, unknown>>;
      constructor(...given: ConstructorParameters<WebAssemblyApi["Instance"]>) {
        const number = numbers.get(given[0]) ?? 0;
        this.exports = Object.fromEntries(
          Object.entries(new api.Instance(...given).exports).map(([name, compute]) => [
            name,
            (...units: unknown[]) => change(number, () => (compute as (...units: unknown[]) => void)(...units))(),
          ]),
        );
      }
    },
  };
}

/** Computes, and then waits some milliseconds. */
const slow = (compute: () => void) => () => {
  compute();
  for (const start = performance.now(); performance.now() - start < 3; );
};

const flag = "--experimental-wasm-revectorize";
const optimisedOnce = ["--no-liftoff", "--liftoff"];

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

describe("joined vectors", () => {
  it("are used if they compute the same, faster", async () => {
    const { flags, set } = recordFlags();
    const api = replaceFunctions((number, compute) => (number === timedApart ? slow(compute) : compute));
    const { isWide, choices, optimise } = await openWide({ api }, flags);
    expect({ isWide, choices }).toEqual({ isWide: true, choices: [{ subject: "vectors", chosen: "256 bits" }] });
    expect(set).toEqual([flag, ...optimisedOnce]);
    expect(await optimise(async () => set.length)).toBe(4);
    expect(set).toEqual([flag, ...optimisedOnce, ...optimisedOnce]);
  });

  it.each<[what: string, version: string, change: (number: number, compute: () => void) => () => void, reason: RegExp]>(
    [
      [
        "they are slower",
        "13.6",
        (number, compute) => (number === timedJoined ? slow(compute) : compute),
        /^joined, they are not faster: \d+\.\d{3} ms instead of \d+\.\d{3} ms$/,
      ],
      [
        "they compute something else",
        "13.6",
        (number, compute) => (number === joined ? () => {} : compute),
        /^joined, they compute something else: FULLY_CONNECTED: /,
      ],
      [
        "they cannot be computed",
        "13.6",
        (number, compute) =>
          number === joined
            ? () => {
                throw new Error("no code");
              }
            : compute,
        /^joined, they cannot be compiled: no code$/,
      ],
    ],
  )("are not used if %s, and the flag is taken back", async (_, version, change, reason) => {
    const { flags, set } = recordFlags(version);
    const { isWide, choices } = await openWide({ api: replaceFunctions(change) }, flags);
    expect({ isWide, choices }).toEqual({
      isWide: false,
      choices: [{ subject: "vectors", chosen: "128 bits", reason: expect.stringMatching(reason) }],
    });
    expect(set).toEqual([flag, ...optimisedOnce, "--no-experimental-wasm-revectorize"]);
  });

  it("leave a flag of the command line as it is, and those of the baseline compiler", async () => {
    const { flags, set } = recordFlags("13.6", ["--experimental_wasm_revectorize", "--no-liftoff"]);
    const api = replaceFunctions((number, compute) => (number === joined ? () => {} : compute));
    expect((await openWide({ api }, flags)).isWide).toBe(false);
    expect(set).toEqual([flag]);
  });

  it("are not used if nothing can be compiled", async () => {
    const { flags, set } = recordFlags();
    const api = { ...realApi(), ...{ compile: () => Promise.reject(new Error("the compiler has no memory")) } };
    const reason = expect.stringMatching(
      /^even apart, they cannot be compiled: compiling the module of \d+ bytes: the compiler has no memory$/,
    );
    expect((await openWide({ api }, flags)).choices).toEqual([{ subject: "vectors", chosen: "128 bits", reason }]);
    expect(set).toEqual([]);
  });

  it.each([
    ["12.9.1", "V8 12.9.1 cannot join them; Node.js 24 or newer can"],
    ["unknown", "V8 unknown cannot join them; Node.js 24 or newer can"],
  ])("need a newer V8 than %s", async (version, reason) => {
    const { flags, set } = recordFlags(version);
    const { isWide, choices } = await openWide({ api: realApi() }, flags);
    expect({ isWide, choices, set }).toEqual({
      isWide: false,
      choices: [{ subject: "vectors", chosen: "128 bits", reason }],
      set: [],
    });
  });

  it("need Node.js", async () => {
    vi.stubGlobal("process", undefined);
    try {
      const { choices, optimise } = await openWide({ api: realApi() });
      expect(choices).toEqual([{ subject: "vectors", chosen: "128 bits", reason: "only Node.js can join them" }]);
      expect(await optimise(async () => 7)).toBe(7);
    } finally {
      vi.unstubAllGlobals();
    }
  });

  it("are asked for by an option or a variable, of which the option counts", async () => {
    const opened = async (option?: boolean) => {
      const session = await (option === undefined ? backend : wasmBackend({ revectorize: option })).open();
      return "unavailable" in session ? session : session.choices?.filter(({ subject }) => subject === "vectors");
    };
    vi.stubEnv("NNHAL_WASM_REVECTORIZE", "");
    vi.spyOn(process, "execArgv", "get").mockReturnValue([]);
    expect(await opened()).toEqual([]);
    vi.spyOn(process, "execArgv", "get").mockReturnValue([flag]);
    expect(await opened()).toHaveLength(1);
    vi.stubEnv("NNHAL_WASM_REVECTORIZE", "1");
    expect(await opened()).toHaveLength(1);
    expect(await opened(false)).toEqual([]);
    vi.stubEnv("NNHAL_WASM_REVECTORIZE", "0");
    expect(await opened()).toEqual([]);
    expect(await opened(true)).toHaveLength(1);
    vi.stubEnv("NNHAL_WASM_REVECTORIZE", "yes");
    expect(await opened()).toEqual({
      unavailable: 'NNHAL_WASM_REVECTORIZE is "yes"',
      remedy: "set it to 1, to 0, or not at all",
    });
  });
});

describe("plans for joined vectors", () => {
  const extent = (most: number) => fc.integer({ min: 1, max: most });
  const cases = fc.oneof(
    fc
      .record({
        isFloat: fc.boolean(),
        rows: extent(13),
        depth: extent(40),
        columns: extent(70),
        activation: fc.nat(3),
      })
      .map(({ isFloat, rows, depth, columns, activation }) => connectCase(isFloat, rows, depth, columns, activation)),
    fc
      .record({ isFloat: fc.boolean(), side: extent(6), channels: extent(35), activation: fc.nat(3) })
      .map(({ isFloat, side, channels, activation }) => depthwiseCase(isFloat, side, channels, activation)),
  );

  it("compute the same, to the bit", async () => {
    await fc.assert(
      fc.asyncProperty(cases, async (each) => {
        const [wide, narrow] = await Promise.all(
          [true, false].map(async (isWide) => {
            const prepared = await prepareCases({ api: realApi(), isWide }, [each]);
            prepared.compute();
            prepared.close();
            return prepared.results().get(each);
          }),
        );
        expect(wide).toEqual(narrow);
      }),
      { numRuns: 60 },
    );
  });
});
