/** The version of this package, as servers and telemetry get it. A test compares it with package.json. */
export const VERSION = '1.0.0';
