/** Returns the defaults with the given values in place. A value of undefined keeps the default. */
export function withDefaults<T extends object>(
  defaults: T,
  given: { readonly [Name in keyof T]?: T[Name] | undefined } = {},
): T {
  return { ...defaults, ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) };
}
