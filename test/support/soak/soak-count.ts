/** Returns the number of repetitions of a soak test: `full` with `npm run soak`, otherwise one twentieth of it. */
export function soakCount(full: number): number {
  return process.env.KEELSON_SOAK === '1' ? full : Math.ceil(full / 20);
}
