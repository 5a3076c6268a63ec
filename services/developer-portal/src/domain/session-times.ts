/** The lifetime in seconds of the one-time address that opens a session. */
export const addressSeconds = 60;
/** The maximum lifetime in seconds of a session. */
export const sessionSeconds = 8 * 3600;
