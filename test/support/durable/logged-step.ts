import { appendFileSync } from 'node:fs';
import type { Step } from '../../../src/durable/durable.js';

/** Makes a step that writes to a file when the work of a step starts, and when the engine has stored its result. */
export function loggedStep<S extends Step>(step: S, path: string): S {
  const add = (event: 'start' | 'stored', key: string) => appendFileSync(path, `${event} ${key}\n`);
  const logged = async (...[name, run, info]: Parameters<Step>) => {
    const work = () => {
      add('start', info.key);
      return run();
    };
    const value = await step(name, work, info);
    add('stored', info.key);
    return value;
  };
  return Object.assign(logged, step);
}

/** Returns the faults in the lines of such a file: steps that started after they were stored, and steps never stored. */
export function stepFaults(lines: readonly string[]): readonly string[] {
  const stored = new Set<string>();
  const faults: string[] = [];
  for (const line of lines) {
    const [event, key = ''] = line.split(/ (.*)/);
    if (event === 'stored') stored.add(key);
    else if (stored.has(key)) faults.push(`${key} started after it was stored`);
  }
  const lost = lines.filter((line) => line.startsWith('start ') && !stored.has(line.slice('start '.length)));
  return [...faults, ...lost.map((line) => `${line}, but was not stored`)];
}
