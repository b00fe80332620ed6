/** The runs that find their tools by a search. They need no warning about many tools. */
export const searchedRuns = new WeakSet<object>();
