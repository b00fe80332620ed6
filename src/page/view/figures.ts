/** Returns a duration for people to read: `12 ms`, `1.2 s`, `2 min 5 s`. */
export function timeText(ms: number): string {
  const whole = Math.round(ms);
  if (whole < 1_000) return `${whole} ms`;
  const tenths = Math.round(ms / 100);
  if (tenths < 600) return `${(tenths / 10).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  const minutes = `${Math.floor(seconds / 60)} min`;
  return seconds % 60 === 0 ? minutes : `${minutes} ${seconds % 60} s`;
}

/** Returns a rounded number for people to read: `999`, `1.2k`, `3.4M`. */
export function countText(count: number): string {
  if (count < 1_000) return String(count);
  return Math.round(count / 1_000) < 1_000 ? `${trimmed(count / 1_000)}k` : `${trimmed(count / 1_000_000)}M`;
}

function trimmed(value: number): string {
  return value < 10 ? value.toFixed(1).replace('.0', '') : String(Math.round(value));
}
