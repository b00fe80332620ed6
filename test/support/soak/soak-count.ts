/** How often a soak test repeats: `full` times under `npm run soak`, a twentieth of it in an ordinary test run. */
export function soakCount(full: number): number {
  return process.env.KEELSON_SOAK === '1' ? full : Math.ceil(full / 20);
}
