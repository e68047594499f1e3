/**
 * nnhal: all that an application needs, which is @nnhal/network.
 */
export * from "@nnhal/network";
