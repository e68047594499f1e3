/**
 * Modules of Node.js, looked up when they are needed: a package that imports one cannot be bundled for a browser.
 */

/** The modules that are used. */
interface NodeModules {
  readonly "node:crypto": typeof import("node:crypto");
  readonly "node:fs": typeof import("node:fs");
  readonly "node:module": typeof import("node:module");
  readonly "node:os": typeof import("node:os");
  readonly "node:path": typeof import("node:path");
  readonly "node:zlib": typeof import("node:zlib");
}

/**
 * A module of Node.js. `purpose`: what needs it, such as "a memory in a file". Throws an Error that names the purpose if there is no
 * such module, as in a browser.
 */
export function nodeModule<Name extends keyof NodeModules>(name: Name, purpose: string): NodeModules[Name] {
  const found = optionalNodeModule(name);
  if (found === undefined) throw new Error(`${purpose} needs the module ${name} of Node.js, which does not exist here`);
  return found;
}

/** A module of Node.js; undefined if there is none, as in a browser. */
export function optionalNodeModule<Name extends keyof NodeModules>(name: Name): NodeModules[Name] | undefined {
  return globalThis.process?.getBuiltinModule?.(name);
}
