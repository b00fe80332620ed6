import { type Cell, known } from '../../../src/programs/cell.js';
import { HOOK_EVENTS } from '../../../src/programs/hook-event.js';
import type { AnswerTable, EventTable } from '../../../src/programs/hook-table.js';
import type { Program } from '../../../src/programs/program.js';

const PARTS = { hooks: 'hooks', servers: 'MCP servers', packages: 'packages' } as const;

/** One fact of a table: its part, its name, and its cell. */
export interface Fact {
  readonly program: string;
  readonly part: keyof typeof PARTS;
  readonly name: string;
  readonly cell: Cell<unknown> | undefined;
}

/** Returns all facts of a program, also those that its table lacks but another table has. */
export function factsOf(program: Program, all: readonly Program[]): readonly Fact[] {
  return (Object.keys(PARTS) as Fact['part'][]).flatMap((part) => {
    const table = program[part];
    if (table === undefined) return [];
    const names = new Set(all.flatMap((one) => Object.keys(one[part] ?? {})));
    const cells = table as unknown as Readonly<Record<string, Cell<unknown>>>;
    return [...names].map((name) => ({ program: program.id, part, name, cell: cells[name] }));
  });
}

/** Returns the facts that are holes: missing, or without a source that can be opened. */
export function holesIn(facts: readonly Fact[]): readonly string[] {
  const isWhole = ({ cell }: Fact) =>
    cell === 'unknown' ||
    (cell !== undefined &&
      cell.sources.length > 0 &&
      cell.sources.every((source) => /^(?:https:\/\/\S+\.\S+|docs\/\S+\.md)$/.test(source)));
  return facts.filter((fact) => !isWhole(fact)).map(({ program, part, name }) => `${program}.${part}.${name}`);
}

/** Returns the page `docs/programs.md`. */
export function programsPage(programs: readonly Program[]): string {
  const sections = [
    '# Other programs',
    'Keelson reads files of other programs. This page lists the facts that it relies on, each with its source. It is made from the tables in `src/programs`, and a test holds it against them. A fact without a source is *unknown*: Keelson then takes the safe side. [Shell hooks](shell-hooks.md#files-of-other-programs), [MCP servers](mcp.md) and [manifests](manifest.md#extensions-of-other-programs) tell how to use the files.',
    ...programs.map((program) => sectionOf(program, programs)),
  ];
  return `${sections.join('\n\n').trimEnd()}\n`;
}

const BLOCK = /(<!-- from src\/programs: (\w+) -->\n)[\s\S]*?(<!-- end -->)/g;

/** Returns a page with its marked tables made anew. */
export function withTables(page: string, programs: readonly Program[]): string {
  const tables: Readonly<Record<string, string>> = { files: filesTable(programs), events: eventsTable(programs) };
  return page.replace(BLOCK, (...[, start, name = '', end]: string[]) => `${start}\n${tables[name]}\n\n${end}`);
}

/** Returns the usual hook files of each format. */
function filesTable(programs: readonly Program[]): string {
  const rows = programs.flatMap(({ id, hooks }) => {
    if (hooks === undefined || hooks.files === 'unknown') return [];
    const { user, workspace } = hooks.files.value;
    return [`| \`${id}\` | ${valueText(user)} | ${valueText(workspace)} |`];
  });
  return ['| format | in the home folder | in the workspace |', '|---|---|---|', ...rows].join('\n');
}

/** Returns, for each event here, the events of other programs whose hooks run at it. */
function eventsTable(programs: readonly Program[]): string {
  const others = programs.filter(({ id, hooks }) => hooks !== undefined && id !== 'native');
  const namesAt = (here: string, { hooks }: Program) =>
    Object.entries(known(hooks?.events, {}))
      .filter(([, { event }]) => event === here)
      .map(([name]) => `\`${name}\``)
      .join(', ') || '–';
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [
    row(['shell hook', ...others.map(({ name }) => name)]),
    `|${'---|'.repeat(others.length + 1)}`,
    ...HOOK_EVENTS.map((event) => row([`\`${event}\``, ...others.map((program) => namesAt(event, program))])),
  ].join('\n');
}

function sectionOf(program: Program, all: readonly Program[]): string {
  const facts = factsOf(program, all).filter(
    ({ part, name }) => part !== 'hooks' || !['events', 'answer'].includes(name),
  );
  const rows = facts.map(
    ({ part, name, cell }) => `| ${PARTS[part]} | ${wordsOf(name)} | ${shown(cell)} | ${sourceOf(cell)} |`,
  );
  const events = program.hooks === undefined || program.id === 'native' ? [] : eventsOf(program.hooks.events);
  const answers = program.hooks === undefined || program.id === 'native' ? [] : answersOf(program.hooks.answer);
  return [
    `## ${program.name}`,
    `Version ${program.version}, read in ${program.read}.`,
    ['| part | fact | value | source |', '|---|---|---|---|', ...rows].join('\n'),
    ...events,
    ...answers,
  ].join('\n\n');
}

function eventsOf(cell: Cell<Readonly<Record<string, EventTable>>>): readonly string[] {
  if (cell === 'unknown') return [];
  const rows = Object.entries(cell.value).map(([name, { event, absent, notifies, differs, tools, after }]) => {
    const notes = [
      absent,
      notifies && 'its answer decides nothing',
      tools && `only for the tool \`${tools}\``,
      after && `only after ${after}`,
      differs,
    ].filter(Boolean);
    return `| \`${name}\` | ${event === undefined ? 'does not run' : `\`${event}\``} | ${notes.join('. ')} |`;
  });
  return [`Events, from ${links(cell.sources)}:`, ['| event | here | note |', '|---|---|---|', ...rows].join('\n')];
}

function answersOf(cell: Cell<AnswerTable>): readonly string[] {
  if (cell === 'unknown') return [];
  const { fields, refusal, exit2, text = {} } = cell.value;
  const rows = Object.entries(fields).flatMap(([name, given]) =>
    [given].flat().map(({ means, words, at, notAt }) => {
      const where = at === undefined ? (notAt ?? []).map((event) => `not ${event}`) : at;
      return `| \`${name}\` | ${words === undefined ? means : effectsText(words)} | ${where.join(', ')} |`;
    }),
  );
  const effects = [
    `A refusal: ${effectsText(refusal)}.`,
    ...(exit2 === undefined ? [] : [`Exit code 2: ${effectsText(exit2)}.`]),
    ...(Object.keys(text).length === 0 ? [] : [`Text that is not JSON: ${effectsText(text)}.`]),
  ];
  return [
    `Answers, from ${links(cell.sources)}:`,
    ['| field | meaning | events |', '|---|---|---|', ...rows].join('\n'),
    effects.map((effect) => `- ${effect}`).join('\n'),
  ];
}

function effectsText(record: Readonly<Record<string, string>>): string {
  return Object.entries(record)
    .map(([name, effect]) => `${name === '*' ? 'else' : `\`${name}\``} ${effect}`)
    .join(', ');
}

function shown(cell: Cell<unknown> | undefined): string {
  if (cell === undefined || cell === 'unknown') return '*unknown*';
  return valueText(cell.value);
}

function valueText(value: unknown): string {
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value))
    return value.map((item) => (Array.isArray(item) ? `\`${item.join('.')}\`` : valueText(item))).join(', ');
  if (typeof value !== 'object' || value === null) return `\`${String(value).replaceAll('|', '\\|')}\``;
  const members = Object.entries(value).map(([name, item]) => `${name}: ${valueText(item)}`);
  return members.length === 0 ? 'none' : members.join('<br>');
}

function sourceOf(cell: Cell<unknown> | undefined): string {
  return cell === undefined || cell === 'unknown' ? '' : links(cell.sources);
}

function links(sources: readonly string[]): string {
  return sources.map(link).join(', ');
}

function link(source: string): string {
  return source.startsWith('docs/')
    ? `[${source.slice(5)}](${source.slice(5)})`
    : `[${new URL(source).host}](${source})`;
}

function wordsOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
