/**
 * The ways in which the public vectors run on the reference device: by each execution path, and through the face of each HAL version.
 * Every case, which is a vector in one of its forms, goes one way, the cases of an operation in turn; with NNHAL_VECTOR_WAYS=all each
 * goes every way, and every execution path of each version of AIDL.
 */
import { elementAt } from "@nnhal/operations";
import { everyWay } from "@nnhal/test-kit/samples";
import { type AidlVersion, aidlVersions, type HalVersion, isAidl, operandTypes } from "@nnhal/types";
import { isForFrameworks, oldestVersion } from "../versions.ts";
import { allVectors } from "./all.test-helper.ts";
import type { Example } from "./example.ts";
import { type ExecutionPath, executionPaths } from "./path.ts";
import { subjectOf } from "./subject.ts";
import { casesOf, type VectorCase } from "./variant.ts";

/** An execution path of the device itself. */
export interface PathWay {
  readonly path: ExecutionPath;
  readonly version?: never;
}

/** Executions through the face of a version: launched with a callback, or synchronous. */
export interface FaceWay {
  readonly version: HalVersion;
  readonly kind: "launched" | "synchronous";
  /** An execution path of AIDL. Default: plain executions. */
  readonly path?: ExecutionPath;
}

/** The cases that go a way. */
export interface Share {
  readonly examples: readonly Example[];
  readonly names: ReadonlySet<string>;
}

export const paths: readonly PathWay[] = executionPaths.map((path) => ({ path }));

/** The execution paths of a version of AIDL besides the plain call. */
export function aidlPaths(version: AidlVersion): readonly ExecutionPath[] {
  return executionPaths.filter(
    (path) => path !== "sync" && path !== "async" && (path !== "reusable" || version >= "aidl4"),
  );
}

export const faces: readonly FaceWay[] = [
  { version: "1.0", kind: "launched" },
  { version: "1.1", kind: "launched" },
  { version: "1.2", kind: "launched" },
  { version: "1.2", kind: "synchronous" },
  { version: "1.3", kind: "launched" },
  { version: "1.3", kind: "synchronous" },
  ...aidlVersions.map((version) => ({ version, kind: "synchronous" }) as const),
  ...(everyWay ? aidlVersions : []).flatMap((version) =>
    aidlPaths(version).map((path) => ({ version, kind: "synchronous", path }) as const),
  ),
];

/** The ways, in the order in which they get cases. A way that suits few cases comes early, so that the others leave it enough. */
const ways: readonly (PathWay | FaceWay)[] = [
  ...faces.filter(({ version }) => version < "1.2"),
  ...paths.filter(({ path }) => path === "fenced"),
  ...faces.filter(({ version }) => version >= "1.2"),
  ...paths.filter(({ path }) => path !== "fenced"),
];

let known: Promise<ReadonlyMap<PathWay | FaceWay, Share>> | undefined;

/** The shares of all ways. */
export function shares(): Promise<ReadonlyMap<PathWay | FaceWay, Share>> {
  known ??= divide();
  return known;
}

async function divide(): Promise<ReadonlyMap<PathWay | FaceWay, Share>> {
  const drafts = new Map(ways.map((way) => [way, { examples: new Set<Example>(), names: new Set<string>() }]));
  const turns = new Map<string, number>();
  for (const example of await allVectors()) {
    for (const vectorCase of casesOf(example, true)) {
      const subject = subjectOf(example);
      const turn = turns.get(subject) ?? 0;
      turns.set(subject, turn + 1);
      for (const way of waysOf(vectorCase, turn)) {
        const draft = drafts.get(way);
        draft?.examples.add(example);
        draft?.names.add(vectorCase.name);
      }
    }
  }
  return new Map([...drafts].map(([way, { examples, names }]) => [way, { examples: [...examples], names }]));
}

/** The ways that a case goes: the first that it can go from its turn on. */
function waysOf(vectorCase: VectorCase, turn: number): readonly (PathWay | FaceWay)[] {
  const inTurn = ways.map((_, index) => elementAt(ways, (turn + index) % ways.length));
  if (everyWay) return inTurn.filter((way) => canGo(vectorCase, way));
  const first = inTurn.find((way) => canGo(vectorCase, way));
  return first === undefined ? [] : [first];
}

function canGo(vectorCase: VectorCase, way: PathWay | FaceWay): boolean {
  if (way.path === "fenced" && !knowsOutputs(vectorCase)) return false;
  if (way.version === undefined) return true;
  if (way.version < "1.2" && vectorCase.unspecifiedOutputs) return false;
  return hasModel(vectorCase, way.version);
}

/** Returns true if a version can express the model of a case. */
export function hasModel(vectorCase: VectorCase, version: HalVersion): boolean {
  if (isAidl(version) && isForFrameworks(vectorCase)) return false;
  return version === "1.3" || version >= oldestVersion(vectorCase);
}

/** Returns true if the model states all extents of its outputs. */
export function knowsOutputs({ example: { main }, unspecifiedOutputs }: VectorCase): boolean {
  return main.outputIndexes
    .map((index) => elementAt(main.operands, index))
    .every(
      ({ type, dimensions }) =>
        operandTypes[type].kind !== "tensor" ||
        (!unspecifiedOutputs && dimensions.length > 0 && !dimensions.includes(0)),
    );
}
