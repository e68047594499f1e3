import { describe, expect, it } from "vitest";
import { expectKnownOptions, type OptionNames, unknownOption } from "./options.ts";

const known: OptionNames<{ devices?: string; inputShapes?: object; signal: object }> = {
  devices: true,
  inputShapes: true,
  signal: true,
};

describe("unknownOption", () => {
  it.each([{}, { devices: 1 }, { devices: undefined, inputShapes: {}, signal: 0 }])("knows %j", (options) => {
    expect(unknownOption(options, known)).toBeUndefined();
  });

  it.each([
    [{ device: 1 }, 'unknown option "device": did you mean "devices"?'],
    [{ devices: 1, inputshape: 1 }, 'unknown option "inputshape": did you mean "inputShapes"?'],
    [{ Signal: undefined }, 'unknown option "Signal": did you mean "signal"?'],
    [{ cpu: 1 }, 'unknown option "cpu"; there are: devices, inputShapes, signal'],
    [{ constructor: 1 }, 'unknown option "constructor"; there are: devices, inputShapes, signal'],
    [{ ["__proto__"]: 1 }, 'unknown option "__proto__"; there are: devices, inputShapes, signal'],
    [{ ["x".repeat(41)]: 1 }, `unknown option "${"x".repeat(40)}…"; there are: devices, inputShapes, signal`],
  ])("does not know one of %j", (options, message) => {
    expect(unknownOption(options, known)).toBe(message);
  });

  it("says that there are none", () => {
    expect(unknownOption({ a: 1 }, {})).toBe('unknown option "a"; there are none');
  });
});

it("expectKnownOptions throws what unknownOption describes", () => {
  expect(() => expectKnownOptions("f", { signal: {} }, known)).not.toThrow();
  // A name that the type does not have.
  const given: { readonly signal: object } = { signal: {}, ...{ sginal: 1 } };
  expect(() => expectKnownOptions("f", given, known)).toThrow(
    new RangeError('f: unknown option "sginal": did you mean "signal"?'),
  );
});

// A name that is missing, and one too many, do not compile.
// @ts-expect-error `signal` is missing
({ devices: true, inputShapes: true }) satisfies typeof known;
// @ts-expect-error `other` is not an option
({ devices: true, inputShapes: true, signal: true, other: true }) satisfies typeof known;
