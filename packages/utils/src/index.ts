/**
 * @nnhal/utils: what drivers and frameworks share beside validation.
 */
export {};
