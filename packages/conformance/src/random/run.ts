/**
 * Runs a random operation on its reference kernel, the way an executor does, and judges what became of it: a result of
 * exactly the inferred shape, or a refusal. Anything else is a fault of the definition or its kernel.
 */
import {
  type AnyArgs,
  bindArguments,
  bindInputs,
  bindOutputs,
  createData,
  elementAt,
  elementCount,
  formatShape,
  inferOutputs,
  isTensorType,
  type Match,
  matchOperation,
  type OperandInfo,
  type Operation,
  OperationError,
  type OutputInfo,
  type OutputTensor,
  requiredVersion,
  roundAllToFloat16,
  runInSteps,
  type Tensor,
  type TensorInfo,
} from "@nnhal/operations";
import type { RandomOperation } from "./draw.ts";
import type { Random } from "./random.ts";
import { type Watch, watchData } from "./watched.ts";

/**
 * Outcome of a run. `large`: the outputs would have too many elements to try. `long`: the kernel paused so often that the run
 * was abandoned.
 */
export type RandomOutcome =
  | { readonly kind: "computed"; readonly outputs: readonly OutputTensor[] }
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "large" }
  | { readonly kind: "long" }
  | { readonly kind: "faulty"; readonly fault: string };

/** Most elements of one output. */
const MOST_ELEMENTS = 1 << 14;
/** Most pauses of a kernel. */
const MOST_PAUSES = 128;
/** Most bytes that a kernel may allocate in addition to its outputs. */
const MOST_SCRATCH = 1 << 26;

/** A fault, thrown. */
class Fault extends Error {}

/**
 * Runs a random operation. Does not throw. If `watched` is false, only the result counts: accesses outside a tensor and the
 * kernel's memory are not judged, which takes a third of the time.
 */
export function runRandomOperation(random: RandomOperation, source: Random, watched = true): RandomOutcome {
  try {
    return watched ? run(random, source) : compute(random, source);
  } catch (error) {
    if (error instanceof OperationError) return { kind: "refused", reason: error.message };
    if (error instanceof Fault) return { kind: "faulty", fault: error.message };
    return { kind: "faulty", fault: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

function matchOf({ signature, outputs }: RandomOperation): Match {
  const match = matchOperation(
    signature.operation,
    signature.inputs.map((param) => signature.types.get(param)),
    outputs.map(({ type }) => type),
  );
  if ("mismatch" in match) throw new Fault(`its own signature does not match: ${match.mismatch}`);
  return match;
}

/** The result alone, or the refusal. */
function compute(drawn: RandomOperation, random: Random): RandomOutcome {
  const { operation } = drawn.signature;
  const { form } = matchOf(drawn);
  const broken = form.check?.(bindInputs(form, drawn.inputs), bindOutputs(form, drawn.outputs));
  if (broken !== undefined) return { kind: "refused", reason: broken };
  const args = bindArguments(operation, form, drawn.inputs);
  const infos = inferOutputs(operation, form, args, drawn.outputs);
  if (infos.some(({ dimensions }) => elementCount(dimensions) > MOST_ELEMENTS)) return { kind: "large" };
  const outputs = drawn.outputs.map((declared, position): OutputTensor => {
    const { dimensions, scale = declared.scale, zeroPoint = declared.zeroPoint } = elementAt(infos, position);
    const shape = operation.dynamic ? [0] : dimensions;
    return { ...declared, dimensions: shape, scale, zeroPoint, data: createData(declared.type, elementCount(shape)) };
  });
  const running = runInSteps(operation.reference?.(args, bindOutputs(form, outputs), { random: () => random.next() }));
  let pauses = 0;
  while (!running.next().done) if (++pauses > MOST_PAUSES) return { kind: "long" };
  for (const { type, data } of outputs) {
    if (type === "TENSOR_FLOAT16" && data instanceof Float32Array) roundAllToFloat16(data);
  }
  return { kind: "computed", outputs };
}

function run(drawn: RandomOperation, random: Random): RandomOutcome {
  const { signature, inputs, outputs: declared } = drawn;
  const { operation } = signature;
  const match = matchOf(drawn);
  const { form } = match;
  // Validation asks while little is known.
  const unknown = inputs.map((input) => forget(input, random));
  form.check?.(bindInputs(form, unknown), bindOutputs(form, declared));
  requiredVersion(match, unknown, declared);
  const broken = form.check?.(bindInputs(form, inputs), bindOutputs(form, declared));
  requiredVersion(match, inputs, declared);
  if (broken !== undefined) throw new OperationError(broken);

  const before = inputs.map((input) => input?.data.slice());
  const watchedInputs = inputs.map((input) => input && watchTensor(input));
  const args = bindArguments(
    operation,
    form,
    watchedInputs.map((input) => input?.tensor),
  );
  judgeArguments(operation, args);
  const infos = inferOutputs(operation, form, args, declared);
  if (infos.some(({ dimensions }) => elementCount(dimensions) > MOST_ELEMENTS)) return { kind: "large" };
  if (operation.reference === undefined) throw new Fault("there is no kernel");
  const outputs = declared.map((output, position) => allocate(output, elementAt(infos, position), operation.dynamic));
  const tensors = outputs.map(({ tensor }) => tensor);
  const given = tensors.map(({ data }) => data);
  const { arrayBuffers } = process.memoryUsage();
  const running = runInSteps(operation.reference(args, bindOutputs(form, tensors), { random: () => random.next() }));
  let pauses = 0;
  while (!running.next().done) if (++pauses > MOST_PAUSES) return { kind: "long" };
  const scratch = process.memoryUsage().arrayBuffers - arrayBuffers;
  if (scratch > MOST_SCRATCH) throw new Fault(`it allocated ${scratch} bytes`);
  inputs.forEach((input, position) => {
    const original = before[position];
    if (input?.data.some((value, index) => !Object.is(value, original?.[index]))) {
      throw new Fault(`input ${position} was changed`);
    }
    judgeAccess(`input ${position}`, watchedInputs[position]?.watch);
  });
  outputs.forEach(({ tensor, watch }, position) => {
    const param = elementAt(signature.outputs, position);
    const name = `output ${position} (${param.name})`;
    judgeAccess(name, watch);
    if (operation.dynamic) judgeDynamic(name, tensor, elementAt(infos, position));
    else {
      judgeFixed(name, tensor, {
        ...tensor,
        dimensions: elementAt(infos, position).dimensions,
        data: elementAt(given, position),
      });
      if (!param.mayStayZero) judgeComplete(name, tensor, watch);
    }
  });
  for (const { type, data } of tensors) {
    if (type === "TENSOR_FLOAT16" && data instanceof Float32Array) roundAllToFloat16(data);
  }
  return { kind: "computed", outputs: tensors };
}

/** Whichever form was written, kernels get the arguments of the first. */
function judgeArguments({ forms: [first] }: Operation, args: AnyArgs): void {
  for (const { name, kind, omittable } of first.params) {
    const given = args[name];
    const isRight = kind === "tensor" ? typeof given === "object" || omittable === true : typeof given === kind;
    if (!isRight) throw new Fault(`argument ${name} is ${given === undefined ? "missing" : `a ${typeof given}`}`);
  }
}

/** An operand as validation may see it: often not a constant, sometimes of unknown extents or rank. */
function forget(input: Tensor | undefined, random: Random): OperandInfo | undefined {
  if (input === undefined) return undefined;
  const { data, ...info } = input;
  const dimensions = random.pick([info.dimensions, info.dimensions.map(() => 0), []]);
  return random.chance(0.3) ? { ...info, data } : { ...info, dimensions };
}

function watchTensor(input: Tensor): { readonly tensor: Tensor; readonly watch?: Watch } {
  if (!isTensorType(input.type)) return { tensor: input };
  const { data, watch } = watchData(input.data);
  return { tensor: { ...input, data }, watch };
}

function allocate(
  declared: TensorInfo,
  info: OutputInfo,
  dynamic: boolean,
): { readonly tensor: OutputTensor; readonly watch: Watch } {
  const { scale = declared.scale, zeroPoint = declared.zeroPoint } = info;
  if (![scale, zeroPoint].every(Number.isFinite)) throw new Fault(`inferred scale ${scale}, zero point ${zeroPoint}`);
  const dimensions = dynamic ? [0] : info.dimensions;
  if (info.dimensions.some((extent) => !Number.isInteger(extent) || extent < 0)) {
    throw new Fault(`inferred the shape ${formatShape(info.dimensions)}`);
  }
  const { data, watch } = watchData(createData(declared.type, elementCount(dimensions)));
  return { tensor: { ...declared, dimensions, scale, zeroPoint, data }, watch };
}

function judgeAccess(name: string, watch: Watch | undefined): void {
  if (watch?.outside !== undefined) throw new Fault(`${watch.outside} of ${name}, which has ${watch.written.length}`);
}

/** An output whose shape is final: the kernel must not replace its shape or its data. */
function judgeFixed(name: string, tensor: OutputTensor, given: Tensor): void {
  if (tensor.data === given.data && tensor.dimensions === given.dimensions) return;
  throw new Fault(`${name} was replaced, but the operation's shapes do not depend on data`);
}

function judgeComplete(name: string, { dimensions }: OutputTensor, { written }: Watch): void {
  const missing = written.indexOf(0);
  if (missing < 0) return;
  throw new Fault(`element ${missing} of ${name} ${formatShape(dimensions)} was not written`);
}

/** An output whose shape the kernel gave it: of the inferred rank and extents where those are known. */
function judgeDynamic(name: string, { type, dimensions, data }: OutputTensor, info: OutputInfo): void {
  const shape = formatShape(dimensions);
  if (data.length !== elementCount(dimensions)) throw new Fault(`${name} ${shape} has ${data.length} elements`);
  if (data.constructor !== createData(type, 0).constructor) {
    throw new Fault(`${name} is held as ${data.constructor.name}`);
  }
  const fits =
    dimensions.length === info.dimensions.length &&
    info.dimensions.every((extent, axis) => extent === 0 || extent === dimensions[axis]);
  if (!fits) throw new Fault(`${name} has shape ${shape} where ${formatShape(info.dimensions)} was inferred`);
}
