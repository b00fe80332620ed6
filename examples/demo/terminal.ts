import type { AgentEvent } from 'keelson';
import { previewOf } from './preview.js';

const colours = process.stdout.isTTY === true && !process.env.NO_COLOR;

/** True if a person can read a question and answer it. */
export const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;

/** Makes the string grey if the terminal has colours. */
export function dim(text: string): string {
  return colours ? `\u001b[2m${text}\u001b[0m` : text;
}

/** Makes the string bold if the terminal has colours. */
export function bold(text: string): string {
  return colours ? `\u001b[1m${text}\u001b[0m` : text;
}

/** Removes control characters that could change the terminal's state. */
export function plain(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]/gu, '');
}

/** Prints the events of a run: each tool call when it ends, and the answer while it streams. */
export class ProgressPrinter {
  private readonly inputs = new Map<string, string>();
  private held: AgentEvent[] | undefined;
  private isSpeaking = false;

  /** Delays events while a question is open, because other calls of the turn continue. */
  hold(): void {
    this.held = [];
  }

  /** Prints the delayed events. */
  release(): void {
    const { held } = this;
    this.held = undefined;
    for (const event of held ?? []) this.print(event);
  }

  print(event: AgentEvent): void {
    if (this.held !== undefined) this.held.push(event);
    else if (event.type === 'tool-start') this.inputs.set(event.callId, plain(JSON.stringify(event.input)));
    else if (event.type === 'tool-delta') console.log(dim(`  … ${plain(String(event.data))}`));
    else if (event.type === 'tool-end') this.printTool(event);
    else if (event.type === 'text-delta') this.printText(event.text);
    else if (event.type === 'model-end' && this.isSpeaking) this.endText();
  }

  private printTool({ callId, name, result }: Extract<AgentEvent, { readonly type: 'tool-end' }>): void {
    const shown = result === undefined ? '' : previewOf(result);
    console.log(`  ${result?.isError ? '✗' : '✓'} ${name} ${this.inputs.get(callId) ?? ''}  ${dim(shown)}`);
  }

  private printText(text: string): void {
    process.stdout.write(`${this.isSpeaking ? '' : '» '}${plain(text)}`);
    this.isSpeaking = true;
  }

  private endText(): void {
    process.stdout.write('\n');
    this.isSpeaking = false;
  }
}
