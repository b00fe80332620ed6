import { namesText } from '../../internal/names-text.js';
import type { ApprovalPart, ApprovalRequest } from '../decision.js';
import { shown } from './shown-text.js';

const SHOWN_FILES = 50;

type Row = readonly [name: string, text: string | undefined];

/** Describes one item. Control characters are escaped, and nothing is shortened. */
export function describeItem(part: ApprovalPart): string {
  const { item, digest } = part;
  const rows: readonly Row[] = [
    ['defined in', item.source],
    ['extension', item.extension],
    ['lies in', item.root],
    ...ownRows(part),
    ['files covered', String(fileNames(part).length)],
    ...limitRows(part),
    ['digest', digest],
  ];
  return [
    `\nThe ${item.kind} ${shown(JSON.stringify(item.name))} of this workspace ${newsOf(part)}.`,
    ...linesOf(rows),
  ].join('\n');
}

/** Describes an extension package: each of its parts, and the names of its files. */
export function describeParts(request: ApprovalRequest): string {
  const { item, parts, digest } = request;
  const files = fileNames(request);
  const rows: readonly Row[] = [
    ['defined in', item.source],
    ['lies in', item.root],
    ['files covered', String(files.length)],
    ['files', namesText(files, SHOWN_FILES)],
    ['digest', digest],
  ];
  return [
    `\nThe extension ${shown(JSON.stringify(item.name))} of this workspace ${newsOf(request)}. It has ${parts.length} parts to approve:`,
    ...linesOf(rows),
    ...parts.flatMap((part, at) => [
      `  ${at + 1}. ${part.item.kind} ${shown(JSON.stringify(part.item.name))}`,
      ...linesOf([...ownRows(part), ...limitRows(part)], '     '),
    ]),
  ].join('\n');
}

function newsOf({ why }: ApprovalPart): string {
  return why === 'new' ? 'is new' : 'has CHANGED since you approved it';
}

/** Returns the rows that differ between the parts of an extension package. */
function ownRows({ item, argv, executable, cwd, scripts, previousScripts }: ApprovalPart): readonly Row[] {
  const news = (path: string) => {
    if (previousScripts === undefined) return '';
    return previousScripts[path] === scripts[path] ? ' (unchanged)' : ' (changed)';
  };
  return [
    ['event', item.event],
    ...argv.map((text, at): Row => [at === 0 ? 'runs' : `  argument ${at}`, JSON.stringify(text)]),
    ['through', item.shell ? 'a shell' : undefined],
    ['program', executable],
    ['in folder', item.command === undefined ? undefined : cwd],
    ...Object.entries(item.env ?? {}).map(([name, value]): Row => ['sets', `${name}=${JSON.stringify(value)}`]),
    ['reads', item.reads?.join(', ')],
    // A plugin chooses these names, so the label `detail` keeps them apart from the other rows.
    ...Object.entries(item.details ?? {}).map(([name, value]): Row => [`detail ${name}`, JSON.stringify(value)]),
    ...Object.entries(scripts).map(([path, hash]): Row => ['script', `${path} ${hash}${news(path)}`]),
    ['with files', item.files?.join(', ')],
  ];
}

function limitRows({ unbound, note }: ApprovalPart): readonly Row[] {
  const folders = unbound.map((path) => JSON.stringify(path)).join(', ');
  return [
    ['NOT covered', folders === '' ? undefined : `the files in ${folders}`],
    ['NOTE', note],
  ];
}

function fileNames({ files }: ApprovalPart): readonly string[] {
  return files.filter(({ type }) => type !== 'directory').map(({ path }) => path);
}

function linesOf(rows: readonly Row[], indent = '  '): readonly string[] {
  return rows.flatMap(([name, text]) => (text ? [`${indent}${shown(name)}: ${shown(text)}`] : []));
}
