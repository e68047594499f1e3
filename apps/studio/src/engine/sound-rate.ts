/**
 * Sound as models take it. The page knows it without what runs models.
 */

/** Samples of a second. */
export const SOUND_RATE = 16_000;
