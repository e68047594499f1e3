/** Loads the modules that few models need. */

/** One import, since each has a cost in a page. */
export const apart = () => import("./apart.ts");
