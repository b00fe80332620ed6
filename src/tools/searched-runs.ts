/** The runs whose tools are found by a search. A warning about many tools does not concern them. */
export const searchedRuns = new WeakSet<object>();
