import type { ApprovalPart, ApprovalRequest, Approver, PartialApproval } from '../decision.js';
import { describeItem, describeParts } from './describe-request.js';
import { coveredFiles, fileTexts } from './file-texts.js';
import { askOnTerminal, isTerminal, type TerminalOptions } from './prompt.js';

/**
 * Asks for approvals on the terminal, one at a time. Only `y` and `yes` approve. `s` shows the covered files and asks
 * again. For an extension package, `p` asks about each part. Any other line denies, as does a missing terminal. Ignores
 * characters that were typed before the prompt. Shows the whole command line, with control characters escaped.
 *
 * @example
 * const agent = new Agent({ model, loaders: [shellHooks({ approve: terminalApprover() })] });
 */
export function terminalApprover(options: TerminalOptions = {}): Approver {
  return async (request, { signal }) => {
    if (!isTerminal(options)) return false;
    const isPackage = request.parts.length > 0;
    const answer = await askOnTerminal<boolean | 'parts'>(
      options,
      {
        text: (isPackage ? describeParts(request) : describeItem(request)) + hintOf(request),
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

function hintOf(request: ApprovalRequest): string {
  return coveredFiles(request).length > 0 ? '\nType s to read the covered files.' : '';
}
