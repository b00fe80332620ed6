import type { ApprovalRequest, Approver } from '../decision.js';
import { coveredFiles, fileTexts } from './file-texts.js';
import { askOnTerminal, isTerminal, type TerminalOptions } from './prompt.js';
import { shown } from './shown-text.js';

/**
 * Asks for approvals on the terminal, one at a time. Only `y` and `yes` approve. `s` shows the covered files and asks
 * again. Any other line denies, as does a missing terminal. Ignores characters that were typed before the prompt. Shows
 * the whole command line, with control characters escaped.
 *
 * @example
 * const agent = new Agent({ model, loaders: [shellHooks({ approve: terminalApprover() })] });
 */
export function terminalApprover(options: TerminalOptions = {}): Approver {
  return (request, { signal }) => {
    if (!isTerminal(options)) return false;
    const hint = coveredFiles(request).length > 0 ? '\nType s to read the covered files.' : '';
    return askOnTerminal<boolean>(
      options,
      {
        text: describe(request) + hint,
        prompt: 'Allow exactly this? [y/N] ',
        read: async (line) => (/^s(how)?$/i.test(line) ? { show: await fileTexts(request) } : /^y(es)?$/i.test(line)),
        refusal: false,
      },
      signal,
    );
  };
}

function describe(request: ApprovalRequest): string {
  const { item, why, files, unbound, previousScripts, digest } = request;
  const title = why === 'new' ? 'is new' : 'has CHANGED since you approved it';
  const rows: (readonly [string, string | undefined])[] = [
    ['defined in', item.source],
    ['extension', item.extension],
    ['lies in', item.root],
    ['event', item.event],
    ...request.argv.map((text, at) => [at === 0 ? 'runs' : `  argument ${at}`, JSON.stringify(text)] as const),
    ['through', item.shell ? 'a shell' : undefined],
    ['program', request.executable],
    ['in folder', item.command === undefined ? undefined : request.cwd],
    ...Object.entries(item.env ?? {}).map(([name, value]) => ['sets', `${name}=${JSON.stringify(value)}`] as const),
    ['reads', item.reads?.join(', ')],
    // A plugin chooses these names, so the label `detail` keeps them apart from the other rows.
    ...Object.entries(item.details ?? {}).map(([name, value]) => [`detail ${name}`, JSON.stringify(value)] as const),
    ...Object.entries(request.scripts).map(([path, hash]) => ['script', `${path} ${hash} ${news(path)}`] as const),
    ['with files', item.files?.join(', ')],
    ['files covered', String(files.filter(({ type }) => type !== 'directory').length)],
    [
      'NOT covered',
      unbound.length > 0 ? `the files in ${unbound.map((path) => JSON.stringify(path)).join(', ')}` : undefined,
    ],
    ['NOTE', request.note],
    ['digest', digest],
  ];
  function news(path: string): string {
    if (previousScripts === undefined) return '';
    return previousScripts[path] === request.scripts[path] ? '(unchanged)' : '(changed)';
  }
  const told = rows.filter(([, text]) => text !== undefined && text !== '');
  const lines = told.map(([name, text]) => `  ${shown(name)}: ${shown(text ?? '')}`);
  return [`\nThe ${item.kind} ${shown(JSON.stringify(item.name))} of this workspace ${title}.`, ...lines].join('\n');
}
