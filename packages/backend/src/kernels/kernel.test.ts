import { elementAt, type TensorInfo } from "@nnhal/operations";
import { describe, expect, expectTypeOf, it } from "vitest";
import { type Kernel, type KernelFor, type KernelTable, type KernelTensor, kernelsByName } from "./kernel.ts";

type Handle = readonly number[];

/** Accepts the arguments of any operation. */
const any: Kernel<Handle> = { prepare: () => () => [] };

// The compiler checks the assertions on types, as a step of the gate.

describe("a table of kernels", () => {
  it("has the arguments and outputs of each operation", () => {
    const table: KernelTable<Handle> = {
      ADD: {
        refuse({ left, activation }) {
          expectTypeOf(left).toExtend<TensorInfo>();
          expectTypeOf(activation).toEqualTypeOf<number | undefined>();
          return undefined;
        },
        prepare({ left, right, activation }, { output }) {
          expectTypeOf(left).toEqualTypeOf<KernelTensor>();
          expectTypeOf(activation).toEqualTypeOf<number>();
          expectTypeOf(output).toEqualTypeOf<TensorInfo>();
          return (read) => [read(left).map((x, index) => x + elementAt(read(right), index))];
        },
      },
      CONV_2D: { refuse: ({ paddingScheme }) => (paddingScheme === 1 ? "SAME" : undefined), prepare: any.prepare },
      CONCATENATION: {
        prepare:
          ({ inputs }) =>
          (read) => [inputs.flatMap((input) => read(input))],
      },
      MUL: any,
    };
    expect(Object.keys(table)).toHaveLength(4);
  });

  it("rejects an unknown operation", () => {
    // @ts-expect-error It is called ADD.
    const table: KernelTable<Handle> = { ADDD: any };
    expect(kernelsByName(table)).toEqual({ ADDD: any });
  });

  it("rejects a kernel that needs an argument which its operation lacks", () => {
    const adds: KernelFor<"ADD", Handle> = {
      refuse(args) {
        // @ts-expect-error It may be unknown in `refuse`.
        const activation: number = args.activation;
        return String(activation);
      },
      prepare(args, outputs) {
        // @ts-expect-error It is called left.
        const { lef } = args;
        // @ts-expect-error The output is called output.
        const { sum } = outputs;
        // @ts-expect-error The activation is not a tensor.
        const tensor: KernelTensor = args.activation;
        return (read) => [read(lef), read(sum), read(tensor)];
      },
    };
    const needsMore = { prepare: (_: { readonly left: KernelTensor; readonly scale: number }) => () => [] };
    // @ts-expect-error ADD has no scale.
    const more: KernelTable<Handle> = { ADD: needsMore };
    expect([adds, more]).toHaveLength(2);
  });

  it("accepts one kernel for several operations if all of them have its arguments", () => {
    const binary: KernelFor<"ADD" | "MAXIMUM", Handle> = {
      prepare:
        ({ left, right }) =>
        (read) => [read(left).map((x, index) => Math.max(x, elementAt(read(right), index)))],
    };
    const table: KernelTable<Handle> = { ADD: binary, MAXIMUM: binary };
    // @ts-expect-error FLOOR has one input.
    const wrong: KernelTable<Handle> = { FLOOR: binary };
    const one: KernelFor<"ADD" | "MAXIMUM", Handle>["prepare"] = (args) => {
      // @ts-expect-error MAXIMUM has no activation.
      const { activation } = args;
      return () => [[activation]];
    };
    expect([table, wrong, one]).toHaveLength(3);
  });
});
