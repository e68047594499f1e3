/**
 * Copying to and from buffers, of every type.
 */
import { allocateBlob, mmapFdMemory, Protection } from "@nnhal/driver-core/memory";
import { ErrorStatus, type Memory } from "@nnhal/types";
import { type ElementType, elementTypes } from "../../needs.ts";
import type { Bench } from "../bench.ts";
import { expectSame, expectStatus } from "../check.ts";
import { sampleValues } from "../small-models.ts";
import { casesOf, group, type SuiteCase } from "../suite-case.ts";
import { temporaryFile } from "../temporary-files.ts";
import { bytesIn, bytesOf, emptyMemory, memoryWith, sizeOf, valuesIn } from "../values.ts";
import { allocate, expectCopy, fill, preparedSmall, role } from "./buffers.ts";

const { NONE, INVALID_ARGUMENT, GENERAL_FAILURE } = ErrorStatus;

/** A buffer for an input and output [2, 3], or [0, 3]. */
async function ready(bench: Bench, type: ElementType | undefined, isOpen = false) {
  const open = { dimensions: [0, 3], outputDimensions: [0, 3] };
  const { preparedModel, small } = await preparedSmall(bench, { ...(type && { type }), ...(isOpen && open) });
  const { buffer } = await allocate(bench, { models: [preparedModel], inputs: [role(0)], outputs: [role(0)] });
  const size = sizeOf(small.type, [6]);
  return { buffer, type: small.type, size, values: sampleValues(small.type, 6) };
}

type Ready = Awaited<ReturnType<typeof ready>>;

interface CopyTest {
  readonly what: string;
  readonly isOpen?: boolean;
  run(ready: Ready): Promise<void>;
}

/** Cases of copyFrom with dimensions of some kinds, and the status of each. */
function copiesDimensions(rows: readonly (readonly [dimensions: readonly number[], status: ErrorStatus])[]) {
  return async ({ buffer, type, values }: Ready) => {
    for (const [dimensions, status] of rows) {
      const copy = buffer.copyFrom(memoryWith(type, values), dimensions);
      await expectCopy(`copyFrom with dimensions [${dimensions}]`, copy, status);
    }
  };
}

const tests: readonly CopyTest[] = [
  {
    what: "copyFrom of half the size, and of twice the size",
    async run({ buffer, size, type, values }) {
      for (const wrong of [size / 2, 2 * size]) {
        await expectCopy(`copyFrom of ${wrong} bytes`, buffer.copyFrom(emptyMemory(wrong), []), INVALID_ARGUMENT);
      }
      await fill(buffer, memoryWith(type, values));
    },
  },
  {
    what: "copyFrom of sizes that the dimensions contradict, where an extent is open",
    isOpen: true,
    async run({ buffer, size, type, values }) {
      for (const wrong of [size / 2, 2 * size]) {
        await expectCopy(
          `copyFrom of ${wrong} bytes as [2, 3]`,
          buffer.copyFrom(emptyMemory(wrong), [2, 3]),
          INVALID_ARGUMENT,
        );
      }
      await fill(buffer, memoryWith(type, values), [2, 3]);
      await expectCopy(
        `copyFrom of ${size} bytes as [4, 3]`,
        buffer.copyFrom(memoryWith(type, values), [4, 3]),
        INVALID_ARGUMENT,
      );
    },
  },
  {
    what: "copyFrom with wrong dimensions",
    run: copiesDimensions([
      [[6], INVALID_ARGUMENT],
      [[3, 2], INVALID_ARGUMENT],
      [[0, 3], INVALID_ARGUMENT],
      [[], NONE],
      [[2, 3], NONE],
    ]),
  },
  {
    what: "copyFrom with wrong dimensions, where an extent is open",
    isOpen: true,
    run: copiesDimensions([
      [[6], INVALID_ARGUMENT],
      [[3, 2], INVALID_ARGUMENT],
      [[0, 3], INVALID_ARGUMENT],
      [[], INVALID_ARGUMENT],
      [[2, 3], NONE],
    ]),
  },
  {
    what: "copyTo before there is a value",
    run: ({ buffer, size }) => expectCopy("copyTo of nothing", buffer.copyTo(emptyMemory(size)), GENERAL_FAILURE),
  },
  { what: "copyTo of half the size, and of twice the size", run: copiesOut },
  { what: "copyTo of half the size, and of twice the size, where an extent is open", isOpen: true, run: copiesOut },
];

async function copiesOut({ buffer, type, values, size }: Ready): Promise<void> {
  await fill(buffer, memoryWith(type, values), [2, 3]);
  for (const wrong of [size / 2, 2 * size]) {
    await expectCopy(`copyTo of ${wrong} bytes`, buffer.copyTo(emptyMemory(wrong)), INVALID_ARGUMENT);
  }
  const memory = emptyMemory(size);
  await expectCopy("copyTo", buffer.copyTo(memory), NONE);
  expectSame("what was copied in and out", valuesIn(type, memory), values);
}

/** Copies in from one memory and out to another, of every kind. */
async function copiesThrough(
  bench: Bench,
  make: (bytes: Uint8Array) => { readonly memory: Memory; bytes(): Uint8Array },
) {
  const { buffer, type, values, size } = await ready(bench, undefined);
  await fill(buffer, make(bytesOf(type, values)).memory);
  const target = make(new Uint8Array(size));
  await expectCopy("copyTo", buffer.copyTo(target.memory), NONE);
  expectSame("what was copied in and out", [...target.bytes()], [...bytesOf(type, values)]);
}

function blob(bytes: Uint8Array) {
  const memory = allocateBlob(bytes.length);
  bytesIn(memory).set(bytes);
  return { memory, bytes: () => bytesIn(memory) };
}

export const copyCases: readonly SuiteCase[] = [
  ...elementTypes.flatMap((type) =>
    casesOf(
      "copy",
      "1.3",
      tests,
      ({ what }) => `${what} (${type})`,
      async (bench, { isOpen, run }) => run(await ready(bench, type, isOpen)),
    ),
  ),
  ...group("copy", "1.3", {
    "memory of kind hardware_buffer_blob": (bench) => copiesThrough(bench, blob),
    "memory of kind mmap_fd": (bench) =>
      copiesThrough(bench, (bytes) => {
        const memory = mmapFdMemory(bytes.length, temporaryFile(bench, bytes).open("r+"), [
          Protection.READ | Protection.WRITE,
          0,
          0,
        ]);
        return { memory, bytes: () => bytesIn(memory) };
      }),
    async "memory without a handle, of an unknown kind, or that cannot be mapped"(bench) {
      const { buffer, size, type, values } = await ready(bench, undefined);
      const memory = emptyMemory(size);
      const wrong: readonly Memory[] = [
        { ...memory, handle: null },
        { ...memory, name: "paper" },
        mmapFdMemory(size, 0x7fff_fff0, [Protection.READ | Protection.WRITE, 0, 0]),
      ];
      for (const one of wrong) {
        const { name } = one;
        expectStatus(`copyFrom of ${name}`, await buffer.copyFrom(one, []), INVALID_ARGUMENT, GENERAL_FAILURE);
        await fill(buffer, memoryWith(type, values));
        expectStatus(`copyTo ${name}`, await buffer.copyTo(one), INVALID_ARGUMENT, GENERAL_FAILURE);
      }
    },
  }),
];
