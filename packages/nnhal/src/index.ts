/**
 * nnhal: all that an application needs, which is @nnhal/network.
 */
// One list of names, in that package: a second one here would fall behind it.
export * from "@nnhal/network";
