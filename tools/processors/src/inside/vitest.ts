/**
 * The module that test files import as "vitest" in the bundle: vitest's own collector and assertions, without Vite, whose
 * native parts are for the processor of the host. Times are not limited: emulated JavaScript is 30 to 60 times slower.
 */
import {
  ASYMMETRIC_MATCHERS_OBJECT,
  chai,
  customMatchers,
  JestAsymmetricMatchers,
  JestChaiExpect,
  JestExtend,
  setState,
} from "@vitest/expect";
import * as collector from "@vitest/runner";

export { afterAll, afterEach, beforeAll, beforeEach } from "@vitest/runner";

export const it = liftLimits(collector.it);
export const describe = liftLimits(collector.describe);
export const expect = createExpect();

/** A function of the collector that ignores the limits that tests have. */
function liftLimits<T extends object>(api: T): T {
  return new Proxy(api, {
    apply(target, self, args: readonly unknown[]) {
      // A proxy has this trap only where its target can be called.
      const result: unknown = Reflect.apply(target as unknown as () => unknown, self, args.map(withoutLimit));
      return typeof result === "function" ? liftLimits(result) : result;
    },
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      return typeof value === "function" ? liftLimits(value) : value;
    },
  });
}

function withoutLimit(arg: unknown): unknown {
  const isOptions = typeof arg === "object" && arg !== null && "timeout" in arg;
  return isOptions ? { ...arg, timeout: Number.POSITIVE_INFINITY } : arg;
}

function createExpect(): (value: unknown, message?: string) => unknown {
  for (const plugin of [JestExtend, JestChaiExpect, JestAsymmetricMatchers]) chai.use(plugin);
  const make = (value: unknown, message?: string): unknown => chai.expect(value, message);
  Object.assign(make, chai.expect, Reflect.get(globalThis, ASYMMETRIC_MATCHERS_OBJECT));
  Reflect.apply(setState, undefined, [{ assertionCalls: 0 }, make]);
  Reflect.apply(Reflect.get(chai.expect, "extend"), chai.expect, [make, customMatchers]);
  return make;
}
