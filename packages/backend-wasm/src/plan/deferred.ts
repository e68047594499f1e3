/**
 * Operations that few networks have. Whether they can be compiled is known at once; the code that plans them is loaded when a network with them is compiled, so
 * that a page without one does not load it.
 */
import type { GraphView, KernelTensor } from "@nnhal/backend";
import type { AnyArgs, OperationArgs, TensorInfo } from "@nnhal/operations";
import { outputOf, type Value } from "./builder.ts";
import { expectFloat, type Lowering, type LoweringTable } from "./lowering.ts";
import { refuse } from "./refusal.ts";

let loaded: LoweringTable | undefined;

type Name = keyof typeof checks;

/** Pairs of boxes that may be compared: more of them take too long for one unit of work. */
const mostPairs = 2 ** 25;

/** Refuses what detections do not have. */
function checkDetections(args: OperationArgs<"DETECTION_POSTPROCESSING", KernelTensor>): void {
  const { scores, useRegularNms, most, mostPerClass } = args;
  for (const tensor of [scores, args.deltas, args.anchors]) expectFloat(tensor);
  const [, count = 1, classes = 1] = scores.dimensions;
  const pairs = count * (useRegularNms ? Math.min(count, mostPerClass) * classes : Math.min(count, most));
  if (pairs > mostPairs) refuse(`${count} boxes may have ${pairs} pairs, more than ${mostPairs}`);
}

/** Of operations on regions all is available. */
const noCheck = () => {};

const checks = {
  DETECTION_POSTPROCESSING: checkDetections,
  ROI_ALIGN: noCheck,
  ROI_POOLING: noCheck,
  HEATMAP_MAX_KEYPOINT: noCheck,
  AXIS_ALIGNED_BBOX_TRANSFORM: noCheck,
} as const;

/** The lowering if it is loaded; else, in a trial, results without steps. */
function defer(name: Name): Lowering<AnyArgs, AnyArgs> {
  return (args, outputs, builder): Value | readonly Value[] => {
    // The arguments are those of the operation of this name.
    (checks[name] as (args: AnyArgs) => void)(args);
    const lowering = loaded?.[name] as Lowering<AnyArgs, AnyArgs> | undefined;
    if (lowering !== undefined) return lowering(args, outputs, builder);
    if (!builder.isTrial) throw new TypeError(`${name} is planned before its code is loaded`);
    for (const value of Object.values(args)) if (isTensor(value)) builder.read(value);
    return Object.values(outputs).map((info) => outputOf(builder, info as TensorInfo));
  };
}

function isTensor(value: AnyArgs[string]): value is KernelTensor {
  return typeof value === "object" && "index" in value;
}

/** The lowerings. */
export const deferredLowerings: LoweringTable = Object.fromEntries(
  Object.keys(checks).map((name) => [name, defer(name as Name)]),
);

/** Loads the code for the operations of a network. */
export async function loadFor(graph: GraphView): Promise<void> {
  if (loaded !== undefined) return;
  const isRare = ({ operations }: GraphView) =>
    operations.some(({ definition }) => definition.extension === undefined && definition.name in checks);
  if ([graph, ...graph.referenced].some(isRare)) loaded = (await import("./rare.ts")).rare;
}
