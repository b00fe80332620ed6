import { cpus, loadavg } from 'node:os';
import { digits, type Figure, isRight } from './figure.js';

/** Describes the machine of the measurement. */
export function machine(): string {
  const [{ model } = { model: 'unknown' }] = cpus();
  return `Node ${process.versions.node}, ${cpus().length} × ${model.trim()}, load ${loadavg()[0]?.toFixed(1)}`;
}

/** Prints the figures as a Markdown table, to paste into the README. */
export function printTable(figures: readonly Figure[]): void {
  const rows = [['measurement', 'figure', 'bound', 'least–most', '', ''], ...figures.map(rowOf)];
  const widths = [0, 1, 2, 3, 4, 5].map((column) => Math.max(...rows.map((row) => (row[column] as string).length)));
  const line = (row: readonly string[]) => `| ${row.map((cell, i) => cell.padEnd(widths[i] as number)).join(' | ')} |`;
  const rule = widths.map((width) => '-'.repeat(width));
  const [head = [], ...body] = rows;
  for (const row of [head, rule, ...body]) console.log(line(row));
}

function rowOf(figure: Figure): string[] {
  const { name, value, unit, bound, control, rounds, note = '' } = figure;
  const withUnit = (number: number) => `${digits(number)} ${unit}`.trim();
  return [
    control ? `control: ${name}` : name,
    withUnit(value),
    boundOf(bound, control),
    rounds === undefined ? '' : `${digits(Math.min(...rounds))}–${digits(Math.max(...rounds))}`,
    mark(figure),
    note,
  ];
}

function boundOf(bound: number | undefined, control = false): string {
  if (bound === undefined) return '';
  return `${control ? '>' : '≤'} ${bound >= 1000 ? digits(bound) : Number(bound.toFixed(3))}`;
}

function mark(figure: Figure): string {
  if (figure.bound === undefined) return '';
  if (figure.control) return isRight(figure) ? 'caught' : 'NOT CAUGHT';
  return isRight(figure) ? 'ok' : 'MISSED';
}
