/**
 * Mends declarations that were joined: a name of a namespace that is both a constant and a type, as the enums of a HAL version are, stays
 * both. The joiner only keeps the type of it.
 */

/** Declarations in which namespaces export constants that are types too, not only the types. */
export function withNamespaceConstants(declarations: string): string {
  const constants = new Set([...declarations.matchAll(/^declare const (\w+):/gm)].map(([, name]) => name));
  return declarations.replace(/^declare namespace \w+ \{\n {2}export \{.*\};\n\}$/gm, (namespace) =>
    namespace.replace(/\btype \w+_d_(\w+) as (\w+)/g, (whole, local: string, exported: string) =>
      local === exported && constants.has(local) ? local : whole,
    ),
  );
}
