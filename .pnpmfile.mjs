/**
 * What differs between the manifest of a package here and its published form: here, the condition `@nnhal/source` and the field
 * `browser` lead to sources, which are not published; and dependencies that the build contains are needed by the sources only.
 */

/** A target of `exports` or `imports` without the conditions that lead to sources. */
function published(target) {
  if (typeof target !== "object" || target === null) return target;
  const conditions = Object.entries(target).filter(([condition]) => condition !== "@nnhal/source");
  return Object.fromEntries(conditions.map(([condition, value]) => [condition, published(value)]));
}

export const hooks = {
  beforePacking({ browser: _, ...manifest }) {
    for (const field of ["exports", "imports"])
      if (manifest[field] !== undefined) manifest[field] = published(manifest[field]);
    for (const name of manifest.bundledIntoBuild ?? []) delete manifest.dependencies?.[name];
    return manifest;
  },
};
