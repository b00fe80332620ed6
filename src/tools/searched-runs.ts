/** The runs with the lifecycle `toolSearch`. They get no warning about too many tools. */
export const searchedRuns = new WeakSet<object>();
