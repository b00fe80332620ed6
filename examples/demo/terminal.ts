import type { AgentEvent } from 'keelson';

const colours = process.stdout.isTTY === true && !process.env.NO_COLOR;

/** Grey where the terminal has colours. */
export function dim(text: string): string {
  return colours ? `\u001b[2m${text}\u001b[0m` : text;
}

/** Bold where the terminal has colours. */
export function bold(text: string): string {
  return colours ? `\u001b[1m${text}\u001b[0m` : text;
}

/** Text from a model or a file without what would steer the terminal. */
export function plain(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]/gu, '');
}

/** Prints a run as it goes: tool calls as they end, text as it comes. */
export class ProgressPrinter {
  private readonly inputs = new Map<string, string>();
  private speaking = false;

  print(event: AgentEvent): void {
    if (event.type === 'tool-start') this.inputs.set(event.callId, plain(JSON.stringify(event.input)));
    else if (event.type === 'tool-delta') console.log(dim(`  … ${plain(String(event.data))}`));
    else if (event.type === 'tool-end') this.printTool(event);
    else if (event.type === 'text-delta') this.printText(event.text);
    else if (event.type === 'model-end' && this.speaking) this.endText();
  }

  private printTool({ callId, name, result }: Extract<AgentEvent, { readonly type: 'tool-end' }>): void {
    const content = typeof result?.content === 'string' ? result.content : 'parts';
    const shown = plain(content).replace(/\s+/g, ' ').slice(0, 70);
    console.log(`  ${result?.isError ? '✗' : '✓'} ${name} ${this.inputs.get(callId) ?? ''} ${dim(shown)}`);
  }

  private printText(text: string): void {
    process.stdout.write(`${this.speaking ? '' : '» '}${plain(text)}`);
    this.speaking = true;
  }

  private endText(): void {
    process.stdout.write('\n');
    this.speaking = false;
  }
}
