import { dirname, join } from 'node:path';
import { exactText, readBytes } from '../../process/files/file-bytes.js';
import type { ApprovalPart, ApprovalRequest, Approver, PartialApproval } from '../decision.js';
import { type BoundFile, sha256Of } from '../fingerprint/bound-file.js';
import { describeItem, describeParts } from './describe-request.js';
import { askOnTerminal, checkTerminalOptions, isTerminal, type TerminalOptions } from './prompt.js';
import { shown, shownLines } from './shown-text.js';

/**
 * Asks for approvals on the terminal, one at a time. Only `y` and `yes` approve. `s` shows the covered files and asks
 * again. For an extension package, `p` asks about each part. Any other line denies, as does a missing terminal. Ignores
 * characters that were typed before the prompt. Shows the whole command line, with control characters escaped.
 *
 * @example
 * const agent = new Agent({ model, loaders: [shellHooks({ approve: terminalApprover() })] });
 */
export function terminalApprover(options: TerminalOptions = {}): Approver {
  checkTerminalOptions(options);
  return async (request, { signal }) => {
    if (!isTerminal(options)) return false;
    const isPackage = request.parts.length > 0;
    const hint = coveredFiles(request).length > 0 ? '\nType s to read the covered files.' : '';
    const answer = await askOnTerminal<boolean | 'parts'>(
      options,
      {
        text: (isPackage ? describeParts(request) : describeItem(request)) + hint,
        prompt: isPackage ? 'Allow exactly this? [y/N, p to decide on each part] ' : 'Allow exactly this? [y/N] ',
        read: async (line) => {
          if (/^s(how)?$/i.test(line)) return { show: await fileTexts(request) };
          return isPackage && /^p(arts)?$/i.test(line) ? 'parts' : isYes(line);
        },
        refusal: false,
      },
      signal,
    );
    return answer === 'parts' ? askAboutParts(request.parts, options, signal) : answer;
  };
}

async function askAboutParts(
  parts: readonly ApprovalPart[],
  options: TerminalOptions,
  signal: AbortSignal,
): Promise<PartialApproval> {
  const declined: string[] = [];
  for (const [at, part] of parts.entries()) {
    const question = {
      text: describeItem(part),
      prompt: `Allow part ${at + 1} of ${parts.length}? [y/N] `,
      read: isYes,
      refusal: false,
    };
    if (!(await askOnTerminal<boolean>(options, question, signal))) declined.push(part.digest);
  }
  return { declined };
}

function isYes(line: string): boolean {
  return /^y(es)?$/i.test(line);
}

const MOST_BYTES = 1024 * 1024;
const LONGEST_FILE = 20_000;
const LONGEST = 60_000;

/** Returns the files whose content is part of the fingerprint. The files that the command line names come first. */
function coveredFiles({ files, scripts }: ApprovalRequest): readonly BoundFile[] {
  const bound = files.filter(({ sha256 }) => sha256 !== undefined);
  const isNamed = ({ path }: BoundFile) => Object.hasOwn(scripts, path);
  return [...bound.filter(isNamed), ...bound.filter((file) => !isNamed(file))];
}

/**
 * Returns the content of the covered files, limited in length and with control characters escaped. Omits a file that
 * has changed since the request, because the approval would not cover its new content.
 */
async function fileTexts(request: ApprovalRequest): Promise<string> {
  const files = coveredFiles(request);
  const texts: string[] = [];
  let left = LONGEST;
  for (const [index, file] of files.entries()) {
    if (left <= 0) {
      const others = files.slice(index).map(({ path }) => path);
      texts.push(`\n${others.length} more files are not shown: ${shown(others.join(', '), LONGEST_FILE)}`);
      break;
    }
    const lines = await linesOf(file, request, Math.min(LONGEST_FILE, left));
    left -= `${lines.join('\n')}\n`.length;
    texts.push([`\n${shown(JSON.stringify(file.path))}:`, ...lines].join('\n'));
  }
  return texts.join('\n');
}

async function linesOf(file: BoundFile, request: ApprovalRequest, maxLength: number): Promise<readonly string[]> {
  const read = await readBytes(join(folderOf(file, request), file.path), MOST_BYTES);
  if ('problem' in read) return [`  not shown: ${shown(read.problem)}`];
  const { bytes } = read;
  if (sha256Of(bytes) !== file.sha256) {
    return ['  not shown: the file has changed since this prompt was created. Answer n.'];
  }
  const text = bytes.includes(0) ? undefined : exactText(bytes);
  return text === undefined ? [`  not shown: ${bytes.length} bytes that are not text.`] : shownLines(text, maxLength);
}

function folderOf({ in: place }: BoundFile, { item, workspace }: ApprovalRequest): string {
  if (place === 'extension') return item.root ?? workspace;
  return place === 'definition' && item.source !== undefined ? dirname(item.source) : workspace;
}
