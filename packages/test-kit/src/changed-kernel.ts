/** Operations that are wrong on purpose: the reference kernel with other arguments or other results, for `definitionFor` of the reference. */
import { type AnyArgs, type Operation, type OutputTensor, phasesOf } from "@nnhal/operations";

/** Changes arguments before, or results after the kernel has run. */
export interface KernelChange {
  readonly before?: (args: AnyArgs) => AnyArgs;
  readonly after?: (outputs: readonly OutputTensor[], args: AnyArgs) => void;
}

/** Returns what makes an operation wrong: its definition with the change, and any other operation as it is. `name`: the HAL's or the vendor's. */
export function changeKernel(name: string, change: KernelChange): (definition: Operation) => Operation {
  const { before = (args) => args, after } = change;
  return (definition) => {
    const { reference } = definition;
    if (definition.name !== name || reference === undefined) return definition;
    return {
      ...definition,
      reference(args, outputs, context) {
        const work = reference.call(definition, { ...args, ...before(args) }, outputs, context);
        const spoil = () =>
          after?.(
            Object.values(outputs)
              .flat()
              .filter((output) => output !== undefined),
            args,
          );
        return [...phasesOf(work), { units: 1, compute: spoil }];
      },
    };
  };
}

/** The same with other elements in all outputs of the operation. */
export function changeElements(
  name: string,
  change: (element: number, index: number, output: OutputTensor) => number,
): (definition: Operation) => Operation {
  return changeKernel(name, {
    after(outputs) {
      for (const output of outputs)
        for (let index = 0; index < output.data.length; index++)
          output.data[index] = change(output.data[index] ?? 0, index, output);
    },
  });
}
