import { drawn } from '../element.js';

/** A point on the timeline, in pixels. */
export interface Spot {
  readonly x: number;
  readonly y: number;
}

/** Draws a red line along the points from the effect of a finding to its cause, with a number at each point. */
export function redLine(points: readonly Spot[]): readonly SVGElement[] {
  const [first, ...rest] = points;
  if (first === undefined) return [];
  let path = `M${first.x} ${first.y}`;
  let last = first;
  for (const next of rest) {
    const middle = (last.y + next.y) / 2;
    path += ` C${last.x} ${middle} ${next.x} ${middle} ${next.x} ${next.y}`;
    last = next;
  }
  const numbers = points.map(({ x, y }, index) => {
    const isCause = index === points.length - 1;
    const step = drawn('g', { class: isCause ? 'stop is-cause' : 'stop' });
    if (isCause) step.append(drawn('circle', { class: 'ring', cx: x, cy: y, r: 15 }));
    step.append(drawn('circle', { cx: x, cy: y, r: 9 }), drawn('text', { x, y: y + 3.5 }, String(index + 1)));
    return step;
  });
  return [drawn('path', { class: 'halo', d: path }), drawn('path', { d: path }), ...numbers];
}
