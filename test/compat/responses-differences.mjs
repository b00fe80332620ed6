export function explanationOf() { return undefined; }
